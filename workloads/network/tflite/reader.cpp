// SPDX-License-Identifier: Apache-2.0
// Source: tensorflow/lite/schema/schema.fbs (the numbers of fields, operators and enumerators) and
// the reference kernels (paddings, fused activations, orders of dimensions).
#include "workloads/network/tflite/reader.h"

#include <algorithm>
#include <fstream>
#include <iterator>
#include <map>

#include "workloads/network/shapes/shape_inference.h"
#include "workloads/network/tflite/operators.h"

namespace lockstep::network {

namespace {

using namespace tflite;

constexpr std::uint32_t kSchemaVersion = 3;

// Of BuiltinOperator.
enum : std::int32_t {
    kAdd = 0,
    kAveragePool = 1,
    kConcatenation = 2,
    kConv = 3,
    kDepthwiseConv = 4,
    kDequantize = 6,
    kFullyConnected = 9,
    kLogistic = 14,
    kMaxPool = 17,
    kMul = 18,
    kRelu = 19,
    kRelu6 = 21,
    kReshape = 22,
    kResizeBilinear = 23,
    kSoftmax = 25,
    kTanh = 28,
    kPad = 34,
    kMean = 40,
    kSub = 41,
    kSqueeze = 43,
    kTransposeConv = 67,
    kResizeNearest = 97,
    kLeakyRelu = 98,
    kQuantize = 114,
    kHardSwish = 117,
};

class Reader {
  public:
    explicit Reader(const Bytes& bytes) : bytes_(bytes), m_(bytes) {}

    Graph read() {
        bytes_.check(0, 8);
        if (std::memcmp(bytes_.data.data() + 4, "TFL3", 4) != 0)
            bytes_.fail(4, "no TensorFlow Lite model (its identifier is not TFL3)");
        const Table model(bytes_, bytes_.follow(0));
        if (const auto version = model.scalar<std::uint32_t>(0, 0); version != kSchemaVersion)
            bytes_.fail(model.offset(), fmt::format("schema version {}, not 3", version));
        const Vector graphs = model.vector(2, 4);
        if (graphs.size() != 1)
            throw InputError(
                fmt::format("{}: {} subgraphs; one is read", bytes_.name, graphs.size()));
        codes_ = model.vector(1, 4);
        const Table graph = graphs.table(0);
        m_.read_tensors(graph.vector(0, 4), model.vector(4, 4));
        m_.graph().name = bytes_.name;
        const Vector operators = graph.vector(3, 4);
        std::string wrong;
        find_edges(graph, operators);
        for (std::size_t i = 0; i < operators.size(); ++i) {
            std::int32_t code = -1;
            try {
                read_operator(operators.table(i), i, code);
            } catch (const Unsupported& reason) {
                wrong += fmt::format("\n  operator {} (code {}): {}", i, code, reason.what());
            }
        }
        if (!wrong.empty())
            throw InputError(fmt::format("{} has what is not supported:{}", bytes_.name, wrong));
        for (const std::int32_t t : outputs_) {
            if (!m_.tensor(t).flat.empty())
                throw InputError(fmt::format("{}: output {} is a reshaped image", bytes_.name,
                                             m_.tensor(t).name));
            m_.graph().outputs.push_back(m_.value_of(t));
        }
        validate(m_.graph());
        return std::move(m_.graph());
    }

  private:
    /// Inputs, and floats at the edges that only go to int8 or come from it.
    void find_edges(const Table& graph, const Vector& operators) {
        const Vector inputs = graph.vector(1, 4), outputs = graph.vector(2, 4);
        for (std::size_t i = 0; i < outputs.size(); ++i)
            outputs_.push_back(outputs.scalar<std::int32_t>(i));
        std::map<std::int32_t, std::int32_t> quantised;
        for (std::size_t i = 0; i < operators.size(); ++i) {
            const Table op = operators.table(i);
            const Vector in = op.vector(1, 4), out = op.vector(2, 4);
            if (in.size() == 0 || out.size() == 0) continue;
            const std::int32_t from = in.scalar<std::int32_t>(0), to = out.scalar<std::int32_t>(0);
            const std::int32_t code = code_of(op);
            if (code == kQuantize && m_.tensor(from).type == kFloat32) quantised[from] = to;
            if (code == kDequantize)
                for (std::int32_t& result : outputs_)
                    if (result == to) result = from;
        }
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            std::int32_t t = inputs.scalar<std::int32_t>(i);
            if (const auto found = quantised.find(t); found != quantised.end()) t = found->second;
            m_.add_value(t, ValueKind::kInput);
            m_.graph().inputs.push_back(m_.tensor(t).value);
        }
    }

    std::int32_t code_of(const Table& op) {
        const auto index = op.scalar<std::uint32_t>(0, 0);
        if (index >= codes_.size())
            bytes_.fail(op.offset(), fmt::format("no operator code {}", index));
        const Table code = codes_.table(index);
        return std::max<std::int32_t>(code.scalar<std::int8_t>(0, 0),
                                      code.scalar<std::int32_t>(3, 0));
    }

    /// A table of no fields: its fields' places, then the way back to them.
    static Table no_options() {
        static const std::uint8_t kEmpty[] = {4, 0, 4, 0, 4, 0, 0, 0};
        static const Bytes kNoOptions{kEmpty, "no options"};
        return Table(kNoOptions, 4);
    }

    void read_operator(const Table& op, std::size_t number, std::int32_t& code) {
        m_.begin_operator(number);
        code = code_of(op);
        const Vector in = op.vector(1, 4), out = op.vector(2, 4);
        if (in.size() == 0 || out.size() != 1)
            refuse("another number of operands than it is read with");
        if (code == kTransposeConv)
            return read_transposed_convolution(m_, op, op.table(4).value_or(no_options()));
        const auto x = in.scalar<std::int32_t>(0), y = out.scalar<std::int32_t>(0);
        const auto second = [&] {
            if (in.size() < 2) refuse("a missing operand");
            return in.scalar<std::int32_t>(1);
        };
        if (code != kFullyConnected && code != kReshape && !m_.tensor(x).flat.empty())
            refuse("of a reshaped image");
        const Table options = op.table(4).value_or(no_options());
        const std::size_t rank = m_.tensor(x).shape.size();
        switch (code) {
            case kConv:
            case kDepthwiseConv:
                return read_convolution(m_, op, options, x, second(), y, code == kDepthwiseConv);
            case kFullyConnected:
                return read_fully_connected(m_, op, options, x, second(), y);
            case kAdd:
            case kSub:
            case kMul:
                return m_.add_fused(code == kAdd   ? Operator::kAdd
                                    : code == kSub ? Operator::kSub
                                                   : Operator::kMul,
                                    {m_.value_of(x), m_.value_of(second())}, y,
                                    options.scalar<std::int8_t>(0, 0));
            case kAveragePool:
            case kMaxPool: {
                if (rank != 4) refuse("pooling of no image");
                const std::vector<std::int64_t> stride = {options.scalar<std::int32_t>(2, 0),
                                                          options.scalar<std::int32_t>(1, 0)},
                                                kernel = {options.scalar<std::int32_t>(4, 0),
                                                          options.scalar<std::int32_t>(3, 0)};
                return m_.add_fused(code == kMaxPool ? Operator::kMaxPool : Operator::kAveragePool,
                                    {m_.value_of(x)}, y, options.scalar<std::int8_t>(5, 0),
                                    {{"kernel_shape", kernel},
                                     {"strides", stride},
                                     {"pads", pads(options.scalar<std::int8_t>(0, 0),
                                                   m_.tensor(x).shape, kernel, stride, {1, 1})}});
            }
            case kConcatenation: {
                std::vector<ValueId> parts;
                for (std::size_t i = 0; i < in.size(); ++i)
                    parts.push_back(m_.value_of(in.scalar<std::int32_t>(i)));
                return m_.add_fused(
                    Operator::kConcat, parts, y, options.scalar<std::int8_t>(1, 0),
                    {{"axis", axis_to_graph(options.scalar<std::int32_t>(0, 0), rank)}});
            }
            case kSoftmax:
                if (options.scalar<float>(0, 1) != 1) refuse("a softmax with a factor");
                return m_.add_node(Operator::kSoftmax, {m_.value_of(x)},
                                   m_.add_value(y, ValueKind::kComputed),
                                   {{"axis", axis_to_graph(-1, rank)}});
            case kLogistic:
                return m_.add_node(Operator::kSigmoid, {m_.value_of(x)},
                                   m_.add_value(y, ValueKind::kComputed));
            case kTanh:
                return m_.add_node(Operator::kTanh, {m_.value_of(x)},
                                   m_.add_value(y, ValueKind::kComputed));
            case kHardSwish:
                return m_.add_node(Operator::kHardSwish, {m_.value_of(x)},
                                   m_.add_value(y, ValueKind::kComputed));
            case kLeakyRelu:
                return m_.add_node(Operator::kLeakyRelu, {m_.value_of(x)},
                                   m_.add_value(y, ValueKind::kComputed),
                                   {{"alpha", options.scalar<float>(0, 0)}});
            case kRelu:
            case kRelu6: {
                const ValueId from = m_.value_of(x);
                return m_.add_clip(from, m_.add_value(y, ValueKind::kComputed),
                                   code == kRelu ? 1 : 3);
            }
            case kReshape:
            case kSqueeze:
                return read_reshape(m_, x, y);
            case kMean:
                return read_mean(m_, options, x, second(), y);
            case kPad:
                return read_pad(m_, x, second(), y);
            case kResizeNearest:
                return read_resize_nearest(m_, options, x, second(), y);
            case kResizeBilinear:
                return read_resize_bilinear(m_, options, x, second(), y);
            case kQuantize:
                if (m_.tensor(x).type == kFloat32 && m_.tensor(y).value != kNoValue) return;
                return m_.add_node(Operator::kClip, {m_.value_of(x)},
                                   m_.add_value(y, ValueKind::kComputed));
            case kDequantize:
                if (std::find(outputs_.begin(), outputs_.end(), x) != outputs_.end()) return;
                refuse("floats within the model");
            default:
                refuse("the reader does not know it");
        }
    }

    const Bytes& bytes_;
    Vector codes_;
    Model m_;
    std::vector<std::int32_t> outputs_;
};

}  // namespace

Graph parse_tflite(std::span<const std::uint8_t> bytes, const std::string& name) {
    const Bytes file{bytes, name};
    Graph graph = Reader(file).read();
    infer_shapes(graph);
    return graph;
}

Graph read_tflite(const std::filesystem::path& file) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream) throw InputError(fmt::format("{}: cannot be read", file.string()));
    const std::vector<char> bytes{std::istreambuf_iterator<char>(stream),
                                  std::istreambuf_iterator<char>()};
    return parse_tflite({reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()},
                        file.string());
}

}  // namespace lockstep::network
