// SPDX-License-Identifier: Apache-2.0
// A model is one protobuf message: initialisers (weights), inputs, outputs and nodes that name
// their values. Everything unsupported is collected and reported at once. Constant nodes become
// constants, and what older opsets mean otherwise is said explicitly (Softmax before 13).
// Source: ONNX, docs/IR.md, docs/Operators.md and docs/Changelog.md.
#include "workloads/network/onnx/reader.h"

#include <fmt/ranges.h>
#include <google/protobuf/io/coded_stream.h>
#include <onnx.pb.h>

#include <fstream>

#include "sim/error/error.h"
#include "workloads/network/onnx/tensor_reader.h"
#include "workloads/network/reference/fold.h"

namespace lockstep::network {

namespace fs = std::filesystem;

namespace {

constexpr std::int64_t kOldestOpset = 11, kNewestOpset = 17;
constexpr int kMaximumDepth = 8;

class Reader {
  public:
    Reader(const lockstep_onnx::ModelProto& model, fs::path folder, const OnnxOptions& options)
        : model_(model), proto_(model.graph()), folder_(std::move(folder)), options_(options) {}

    Graph read() {
        read_opset();
        graph_.name = proto_.name();
        if (proto_.sparse_initializer_size() > 0) unsupported_.push_back("sparse initialisers");
        if (model_.functions_size() > 0) unsupported_.push_back("functions of the model's own");
        add_constants(proto_);
        for (const auto& input : proto_.input()) read_input(input);
        read_nodes(proto_);
        for (const auto& output : proto_.output()) graph_.outputs.push_back(find(output.name()));
        if (!unsupported_.empty())
            throw InputError(fmt::format("not supported:\n  {}", fmt::join(unsupported_, "\n  ")));
        if (graph_.outputs.empty()) throw InputError("the model has no output");
        mark_constants();
        validate(graph_);
        return std::move(graph_);
    }

  private:
    void read_opset() {
        for (const auto& import : model_.opset_import())
            if (import.domain().empty() || import.domain() == "ai.onnx") opset_ = import.version();
        if (opset_ < kOldestOpset || opset_ > kNewestOpset)
            throw InputError(fmt::format("opset {} is not supported ({} to {} are)", opset_,
                                         kOldestOpset, kNewestOpset));
    }

    void add_constants(const lockstep_onnx::GraphProto& proto) {
        for (const auto& tensor : proto.initializer())
            add_constant(tensor.name(), onnx::read_tensor(tensor, folder_), ValueKind::kParameter);
    }

    void read_nodes(const lockstep_onnx::GraphProto& proto) {
        for (const auto& node : proto.node())
            for (const std::string& output : node.output())
                if (!output.empty()) declare(output, {output});
        for (int i = 0; i < proto.node_size(); ++i) read_node(proto.node(i), i);
    }

    /// What a condition is, where it follows from constants and the inputs' shapes.
    std::optional<bool> known_condition(ValueId id) const {
        Graph graph = graph_;
        graph.outputs = {id};
        remove_unused(graph);
        std::vector<bool> is_made(graph.values.size(), false);
        for (const Node& node : graph.nodes)
            for (const ValueId output : node.outputs)
                if (output != kNoValue) is_made[output] = true;
        for (const Node& node : graph.nodes)
            for (const ValueId input : node.inputs)
                if (input != kNoValue && !is_made[input] &&
                    graph.value(input).kind == ValueKind::kComputed)
                    return std::nullopt;
        validate(graph);
        infer_and_fold(graph, 1 << 12);
        const Value& value = graph.value(graph.outputs[0]);
        if (!value.is_known() || value.data->size() != 1) return std::nullopt;
        return to_doubles(*value.data)[0] != 0;
    }

    /// PyTorch writes an If where a shape decides (squeeze of a dynamic dimension): the branch that
    /// is taken stands for it.
    void read_choice(const lockstep_onnx::NodeProto& proto, const std::string& name) {
        const bool has_condition = proto.input_size() == 1 && !proto.input(0).empty();
        const std::optional<bool> condition = has_condition && unsupported_.empty()
                                                  ? known_condition(find(proto.input(0)))
                                                  : std::nullopt;
        if (!condition) {
            unsupported_.push_back(
                fmt::format("node {}: If whose condition is not known before the run", name));
            return;
        }
        const lockstep_onnx::GraphProto* branch = nullptr;
        for (const auto& attribute : proto.attribute())
            if (attribute.name() == (*condition ? "then_branch" : "else_branch"))
                branch = &attribute.g();
        if (branch == nullptr || branch->output_size() != proto.output_size())
            throw InputError(fmt::format("node {} (If): a branch is missing or has {} outputs",
                                         name, branch == nullptr ? 0 : branch->output_size()));
        if (++depth_ > kMaximumDepth)
            throw InputError(
                fmt::format("node {} (If): more than {} within each other", name, kMaximumDepth));
        add_constants(*branch);
        read_nodes(*branch);
        --depth_;
        for (int i = 0; i < proto.output_size(); ++i)
            if (!proto.output(i).empty())
                graph_.nodes.push_back({fmt::format("{}.{}", name, i),
                                        Operator::kIdentity,
                                        {find(branch->output(i).name())},
                                        {find(proto.output(i))},
                                        {}});
    }

    ValueId declare(const std::string& name, Value value) {
        const ValueId id = graph_.add(std::move(value));
        if (name.empty()) throw InputError("a value without a name");
        if (!ids_.emplace(name, id).second)
            throw InputError(fmt::format("value {} is written twice", name));
        return id;
    }

    void add_constant(const std::string& name, Tensor tensor, ValueKind kind) {
        // Integers are shapes and indices, not trained.
        if (!is_floating(tensor.type)) kind = ValueKind::kConstant;
        Value value{name, kind, tensor.type, tensor.shape};
        value.data = std::make_shared<const Tensor>(std::move(tensor));
        declare(name, std::move(value));
    }

    void read_input(const lockstep_onnx::ValueInfoProto& input) {
        if (ids_.contains(input.name())) return;  // an initialiser's default value
        const auto& tensor = input.type().tensor_type();
        const std::optional<ElementType> type = onnx_element_type(tensor.elem_type());
        if (!type)
            throw InputError(fmt::format("input {}: element type {} is not supported", input.name(),
                                         tensor.elem_type()));
        if (!tensor.has_shape())
            throw InputError(fmt::format("input {} has no shape", input.name()));
        Shape shape;
        for (const auto& extent : tensor.shape().dim()) shape.push_back(read_extent(input, extent));
        element_count(shape);
        graph_.inputs.push_back(
            declare(input.name(), {input.name(), ValueKind::kInput, *type, shape}));
    }

    std::int64_t read_extent(const lockstep_onnx::ValueInfoProto& input,
                             const lockstep_onnx::TensorShapeProto::Dimension& extent) {
        if (extent.has_dim_value()) return extent.dim_value();
        const auto given = options_.dimensions.find(extent.dim_param());
        if (given != options_.dimensions.end()) return given->second;
        throw InputError(
            fmt::format("input {} has a dimension without an extent ({}): give one, as {}=1",
                        input.name(), extent.dim_param().empty() ? "unnamed" : extent.dim_param(),
                        extent.dim_param().empty() ? "batch" : extent.dim_param()));
    }

    ValueId find(const std::string& name) const {
        const auto found = ids_.find(name);
        if (found == ids_.end())
            throw InputError(fmt::format("value {} is used but never written", name));
        return found->second;
    }

    std::optional<Attribute> read_attribute(const lockstep_onnx::AttributeProto& a) {
        switch (a.type()) {
            case 1:
                return a.f();
            case 2:
                return a.i();
            case 3:
                return a.s();
            case 4:
                return std::make_shared<const Tensor>(onnx::read_tensor(a.t(), folder_));
            case 6:
                return std::vector<float>(a.floats().begin(), a.floats().end());
            case 7:
                return std::vector<std::int64_t>(a.ints().begin(), a.ints().end());
            case 8:
                return std::vector<std::string>(a.strings().begin(), a.strings().end());
            default:
                return std::nullopt;
        }
    }

    void read_node(const lockstep_onnx::NodeProto& proto, int index) {
        const std::string name =
            proto.name().empty() ? fmt::format("{}_{}", proto.op_type(), index) : proto.name();
        const std::optional<Operator> op = operator_named(proto.op_type());
        const bool standard = proto.domain().empty() || proto.domain() == "ai.onnx";
        if (standard && proto.op_type() == "If") return read_choice(proto, name);
        if (!op || !standard) {
            unsupported_.push_back(fmt::format("node {}: operator {}{}{}", name, proto.domain(),
                                               standard ? "" : ".", proto.op_type()));
            return;
        }
        Node node{name, *op};
        for (const auto& attribute : proto.attribute()) {
            std::optional<Attribute> value = read_attribute(attribute);
            const std::optional<char> kind = attribute_kind(*op, attribute.name());
            if (!value || !kind || *kind != "ifstIFS"[value->index()])
                unsupported_.push_back(fmt::format("node {}: attribute {} of {}", name,
                                                   attribute.name(), proto.op_type()));
            else
                node.attributes[attribute.name()] = std::move(*value);
        }
        const bool softmax = *op == Operator::kSoftmax || *op == Operator::kLogSoftmax;
        if (softmax && opset_ < 13) {
            node.attributes.try_emplace("axis", std::int64_t{1});
            node.attributes["flatten"] = std::int64_t{1};
        }
        for (const std::string& input : proto.input())
            node.inputs.push_back(input.empty() ? kNoValue : find(input));
        for (const std::string& output : proto.output())
            node.outputs.push_back(output.empty() ? kNoValue : find(output));
        while (!node.inputs.empty() && node.inputs.back() == kNoValue) node.inputs.pop_back();
        while (!node.outputs.empty() && node.outputs.back() == kNoValue) node.outputs.pop_back();
        check_values(node);
        check_arity(node);
        if (*op == Operator::kConstant)
            read_constant(node);
        else
            graph_.nodes.push_back(std::move(node));
    }

    /// Attributes that are known, with values that are not supported. A default that is written out
    /// is taken away.
    void check_values(Node& node) {
        const auto refuse = [&](std::string_view attribute, const std::string& value) {
            unsupported_.push_back(
                fmt::format("node {}: {}={} of {}", node.name, attribute, value, name_of(node.op)));
        };
        for (const char* attribute : {"training_mode", "storage_order", "input_forget", "layout"})
            if (node.has(attribute) && node.integer(attribute, 0) != 0) refuse(attribute, "1");
        const std::string pad = node.text("auto_pad", "NOTSET");
        if (pad != "NOTSET" && pad != "VALID" && pad != "SAME_UPPER" && pad != "SAME_LOWER")
            refuse("auto_pad", pad);
        if (node.op == Operator::kCast && !onnx_element_type(node.integer("to", 0)))
            refuse("to", std::to_string(node.integer("to", 0)));
        if (const std::string mode = node.text("mode", "constant");
            node.op == Operator::kPad && mode != "constant" && mode != "reflect" && mode != "edge")
            refuse("mode", mode);
        if (node.op == Operator::kLSTM && node.has("activations")) {
            std::vector<std::string> expected;
            const auto& given =
                std::get<std::vector<std::string>>(node.attributes.find("activations")->second);
            while (expected.size() < given.size())
                expected.insert(expected.end(), {"Sigmoid", "Tanh", "Tanh"});
            if (given != expected)
                refuse("activations", fmt::format("{}", fmt::join(given, ",")));
            else
                node.attributes.erase("activations");
        }
    }

    /// Optional inputs and outputs that are not supported (the indices of MaxPool, the sequence
    /// lengths of LSTM).
    void check_arity(const Node& node) {
        const OperatorInfo& info = info_of(node.op);
        const auto refuse = [&](const char* what, std::size_t i) {
            unsupported_.push_back(
                fmt::format("node {}: {} {} of {}", node.name, what, i, name_of(node.op)));
        };
        for (std::size_t i = info.maximum_inputs; i < node.inputs.size(); ++i)
            if (node.inputs[i] != kNoValue) refuse("input", i);
        for (std::size_t i = info.maximum_outputs; i < node.outputs.size(); ++i)
            if (node.outputs[i] != kNoValue) refuse("output", i);
        // A bias of our own.
        if (node.op == Operator::kMatMul && node.input(2) != kNoValue) refuse("input", 2);
        const bool recurrent =
            node.op == Operator::kLSTM || node.op == Operator::kGRU || node.op == Operator::kRNN;
        // What it drops is random.
        if (node.op == Operator::kDropout && node.input(2) != kNoValue)
            if (const Value& training = graph_.value(node.inputs[2]);
                training.is_known() && to_doubles(*training.data) != std::vector<double>{0})
                unsupported_.push_back(
                    fmt::format("node {}: training_mode=1 of Dropout", node.name));
        if (recurrent)
            for (const std::size_t i : {4, 7})
                if (node.input(i) != kNoValue) refuse("input", i);
    }

    void read_constant(const Node& node) {
        if (node.attributes.size() != 1 || node.outputs.size() != 1 || node.outputs[0] == kNoValue)
            throw InputError(fmt::format("node {} (Constant): needs one value", node.name));
        const Attribute& attribute = node.attributes.begin()->second;
        Tensor tensor;
        if (const auto* given = std::get_if<std::shared_ptr<const Tensor>>(&attribute))
            tensor = **given;
        else if (const auto* whole = std::get_if<std::int64_t>(&attribute))
            tensor = make_tensor({}, std::span(whole, 1));
        else if (const auto* real = std::get_if<float>(&attribute))
            tensor = make_tensor({}, std::span(real, 1));
        else if (const auto* wholes = std::get_if<std::vector<std::int64_t>>(&attribute))
            tensor = make_tensor({static_cast<std::int64_t>(wholes->size())},
                                 std::span<const std::int64_t>(*wholes));
        else if (const auto* reals = std::get_if<std::vector<float>>(&attribute))
            tensor = make_tensor({static_cast<std::int64_t>(reals->size())},
                                 std::span<const float>(*reals));
        Value& value = graph_.values.at(node.outputs[0]);
        if (value.is_known())
            throw InputError(fmt::format("node {} (Constant): written twice", node.name));
        value.kind = ValueKind::kConstant;
        value.type = tensor.type;
        value.shape = tensor.shape;
        value.data = std::make_shared<const Tensor>(std::move(tensor));
    }

    /// Running statistics are given with the weights but not trained.
    void mark_constants() {
        for (const Node& node : graph_.nodes)
            if (node.op == Operator::kBatchNormalization)
                for (std::size_t i = 3; i < node.inputs.size() && i < 5; ++i)
                    if (node.inputs[i] != kNoValue)
                        if (Value& v = graph_.values.at(node.inputs[i]); v.is_known())
                            v.kind = ValueKind::kConstant;
    }

    const lockstep_onnx::ModelProto& model_;
    const lockstep_onnx::GraphProto& proto_;
    fs::path folder_;
    const OnnxOptions& options_;
    std::int64_t opset_ = 0;
    int depth_ = 0;
    Graph graph_;
    std::map<std::string, ValueId> ids_;
    std::vector<std::string> unsupported_;
};

}  // namespace

Graph parse_onnx(std::span<const std::uint8_t> bytes, const std::string& name,
                 const fs::path& folder, const OnnxOptions& options) {
    if (bytes.size() > INT32_MAX)
        throw InputError(
            fmt::format("{}: {} bytes; protobuf holds less than 2 GiB, larger models "
                        "keep their weights in external files",
                        name, bytes.size()));
    google::protobuf::io::CodedInputStream stream(bytes.data(), static_cast<int>(bytes.size()));
    lockstep_onnx::ModelProto model;
    if (!model.ParseFromCodedStream(&stream) || !stream.ConsumedEntireMessage())
        throw InputError(
            fmt::format("{}: malformed ONNX file at offset {}", name, stream.CurrentPosition()));
    if (!model.has_graph()) throw InputError(fmt::format("{}: holds no ONNX graph", name));
    try {
        return Reader(model, folder, options).read();
    } catch (const InputError& error) {
        throw InputError(fmt::format("{}: {}", name, error.what()));
    }
}

Graph read_onnx(const fs::path& file, const OnnxOptions& options) {
    std::ifstream stream(file, std::ios::binary | std::ios::ate);
    if (!stream || !fs::is_regular_file(file))
        throw InputError(fmt::format("{}: cannot be read", file.string()));
    std::vector<std::uint8_t> bytes(static_cast<std::size_t>(stream.tellg()));
    stream.seekg(0);
    if (!stream.read(reinterpret_cast<char*>(bytes.data()),
                     static_cast<std::streamsize>(bytes.size())))
        throw InputError(fmt::format("{}: cannot be read", file.string()));
    const fs::path folder = file.has_parent_path() ? file.parent_path() : fs::path(".");
    return parse_onnx(bytes, file.string(), folder, options);
}

}  // namespace lockstep::network
