// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/stablehlo/lowering.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>
#include <numeric>
#include <set>

#include "sim/error/error.h"
#include "sim/numerics/random.h"
#include "workloads/network/graph/builder.h"
#include "workloads/network/reference/execute.h"
#include "workloads/network/shapes/shape_inference.h"

namespace lockstep::network::stablehlo {

namespace {

/// What is computed while a module is read: counters, indices, predicates.
constexpr std::int64_t kSmall = 4096;
/// Beyond, moving a weight is left to the passes that fold constants.
constexpr std::int64_t kLargestWeight = std::int64_t{1} << 28;
constexpr int kMaximumDepth = 64;
/// Of operations, those of loops counted each time: more are no network.
constexpr std::size_t kMaximumOperations = 200'000;

}  // namespace

Lowering::Lowering(const Module& module, const std::string& file, const StablehloOptions& options)
    : NodeWriter(made_), module_(module), file_(file), options_(options) {}

Graph Lowering::run() {
    const auto main = module_.functions.find("main");
    const Function& function =
        main != module_.functions.end() ? main->second : module_.functions.at(module_.first);
    made_.name = module_.name.empty() ? function.name : module_.name;
    const auto count = static_cast<std::int64_t>(function.body.arguments.size());
    if (options_.weights < 0 || options_.weights > count)
        throw InputError(fmt::format("{}: weights={}, but @{} has {} arguments", file_,
                                     options_.weights, function.name, count));
    std::vector<Wide> arguments;
    for (const Argument& argument : function.body.arguments) {
        const std::string name = argument.name.substr(1);
        const auto index = static_cast<std::int64_t>(arguments.size());
        Value value{name, ValueKind::kInput, argument.type.type, argument.type.shape};
        if (index < options_.weights) {
            if (!is_floating(argument.type.type))
                throw InputError(fmt::format("{}: weights={}, but {} is no floating tensor", file_,
                                             options_.weights, argument.name));
            value.kind = ValueKind::kParameter;
            if (options_.with_values) value.data = weight(argument.type, index);
        }
        const ValueId id = made_.add(std::move(value));
        if (index >= options_.weights) made_.inputs.push_back(id);
        arguments.push_back({id, argument.type.shape});
    }
    const std::vector<Wide> results = inline_region(function.body, arguments);
    if (!unsupported_.empty())
        throw InputError(
            fmt::format("{}: not supported:\n  {}", file_, fmt::join(unsupported_, "\n  ")));
    if (results.empty())
        throw InputError(fmt::format("{}: @{} returns nothing", file_, function.name));
    std::set<ValueId> written;
    for (const Wide& result : results) {
        ValueId id = whole(result);
        // An output is what a node writes, each once.
        if (made_.value(id).kind != ValueKind::kComputed || !written.insert(id).second)
            id = add(Operator::kIdentity, name_for("result"), {id});
        made_.outputs.push_back(id);
    }
    made_.nodes = take();
    validate(made_);
    return std::move(made_);
}

/// As wide as keeps values their size from layer to layer; the last dimension is the outputs'.
std::shared_ptr<const Tensor> Lowering::weight(const TensorType& wanted, std::int64_t index) const {
    std::int64_t fan_in = element_count(wanted.shape);
    if (wanted.shape.size() > 1) fan_in /= std::max<std::int64_t>(1, wanted.shape.back());
    const float spread = std::sqrt(3.0f / static_cast<float>(std::max<std::int64_t>(1, fan_in)));
    const std::uint64_t stream =
        numerics::mix(numerics::mix(options_.seed) + static_cast<std::uint64_t>(index));
    const Tensor values = seeded_tensor(wanted.shape, stream, spread, 0);
    return std::make_shared<const Tensor>(
        from_floats(wanted.type, wanted.shape, values.as<float>()));
}

std::string Lowering::name_for(const std::string& suffix) {
    std::string name = "value";
    if (current_ != nullptr) {
        const std::string& op = current_->name;
        name = op.substr(op.rfind('.') + 1);
        if (!current_->results.empty()) name += "_" + current_->results[0].substr(1);
    }
    std::ranges::replace(name, '#', '_');
    if (!suffix.empty()) name += "." + suffix;
    const int again = names_[name]++;
    return again == 0 ? name : fmt::format("{}.{}", name, again);
}

const Wide& Lowering::operand(const Operation& op, std::size_t i) const {
    if (i >= op.operands.size())
        throw Refusal{fmt::format("{} operands where {} are expected", op.operands.size(), i + 1)};
    for (std::size_t scope = scopes_.size(); scope-- > visible_;) {
        const auto found = scopes_[scope].find(op.operands[i]);
        if (found == scopes_[scope].end()) continue;
        if (found->second.id == kNoValue) throw Refusal{};  // said already
        return found->second;
    }
    throw InputError(
        fmt::format("{}:{}: {} is used before it is written", file_, op.line, op.operands[i]));
}

ValueId Lowering::whole(const Wide& wide) {
    if (shape(wide.id) == wide.shape) return wide.id;
    const auto [found, is_new] = expanded_.try_emplace({wide.id, wide.shape}, kNoValue);
    if (is_new) {
        const ValueId target =
            constant(name_for("shape"), make_tensor({static_cast<std::int64_t>(wide.shape.size())},
                                                    std::span<const std::int64_t>(wide.shape)));
        found->second = make(Operator::kExpand, "broadcast", {wide.id, target});
    }
    return found->second;
}

bool Lowering::is_foldable(Operator op, const std::vector<ValueId>& inputs) const {
    if (op == Operator::kConv || has_window(op)) return false;
    return std::ranges::all_of(inputs, [&](ValueId id) {
        const Value& value = made_.value(id);
        return value.kind == ValueKind::kConstant && value.is_known() &&
               value.data->size() <= kSmall;
    });
}

Lowering::Alone Lowering::alone(const std::string& name, Operator op,
                                const std::vector<ValueId>& inputs,
                                const NodeAttributes& attributes) const {
    Alone single;
    Graph& graph = single.graph;
    Node node{name, op, {}, {}, attributes};
    for (const ValueId id : inputs) node.inputs.push_back(graph.add(made_.value(id)));
    single.result = graph.add({name});
    node.outputs = {single.result};
    infer_node(graph, node);
    graph.outputs = node.outputs;
    graph.nodes.push_back(std::move(node));
    return single;
}

Tensor Lowering::computed(const Alone& single) {
    const ElementType type = single.graph.value(single.result).type;
    Tensor result = execute(single.graph, {}).front();
    return result.type == type ? result : from_doubles(type, result.shape, to_doubles(result));
}

ValueId Lowering::fold(const std::string& name, Operator op, const std::vector<ValueId>& inputs,
                       const NodeAttributes& attributes) {
    const Alone single = alone(name, op, inputs, attributes);
    if (element_count(single.graph.shape(single.result)) > kSmall) return kNoValue;
    return constant(name, computed(single));
}

ValueId Lowering::make(Operator op, const std::string& suffix, const std::vector<ValueId>& inputs,
                       NodeAttributes attributes) {
    if (const auto made = before_transposition(op, suffix, inputs, attributes)) return *made;
    const std::string name = name_for(suffix);
    if (is_foldable(op, inputs)) {
        const ValueId folded = fold(name, op, inputs, attributes);
        if (folded != kNoValue) return folded;
    }
    if (const auto weight = moved_weight(name, op, inputs, attributes)) return *weight;
    return add(op, name, inputs, std::move(attributes));
}

ValueId Lowering::number(ElementType element, double value) {
    return constant(name_for("number"), from_doubles(element, {}, std::span(&value, 1)));
}

/// A weight with its elements in other places is a weight.
std::optional<ValueId> Lowering::moved_weight(const std::string& name, Operator op,
                                              const std::vector<ValueId>& inputs,
                                              const NodeAttributes& attributes) {
    const bool moves =
        op == Operator::kReshape || op == Operator::kTranspose || op == Operator::kSlice;
    if (!moves || !is_given(inputs[0]) || element_count(shape(inputs[0])) > kLargestWeight)
        return std::nullopt;
    const Alone single = alone(name, op, inputs, attributes);
    Value value = single.graph.value(single.result);
    value.kind = made_.value(inputs[0]).kind;
    if (made_.value(inputs[0]).is_known())
        value.data = std::make_shared<const Tensor>(computed(single));
    return made_.add(std::move(value));
}

std::vector<ValueId> Lowering::make_several(Operator op, const std::vector<ValueId>& inputs,
                                            NodeAttributes attributes, std::int64_t outputs) {
    std::vector<ValueId> all(static_cast<std::size_t>(outputs));
    std::iota(all.begin(), all.end(),
              add(op, name_for(""), inputs, std::move(attributes), outputs));
    return all;
}

ValueId Lowering::given(Tensor tensor) {
    const bool is_trained = is_floating(tensor.type) && tensor.size() > 1;
    const ValueId id = constant(name_for(""), std::move(tensor));
    if (is_trained) made_.values[id].kind = ValueKind::kParameter;
    return id;
}

ValueId Lowering::shaped(ValueId id, const Shape& wanted) {
    // A reshape of a reshape is one of the first value.
    if (const auto from = reshaped_from_.find(id); from != reshaped_from_.end()) id = from->second;
    if (shape(id) == wanted) return id;
    const ValueId target = integers(name_for("shape"), wanted);
    const ValueId made =
        make(Operator::kReshape, "reshape", {id, target}, {{"allowzero", std::int64_t{1}}});
    if (made_.value(made).kind == ValueKind::kComputed) reshaped_from_[made] = id;
    return made;
}

ValueId Lowering::permuted(ValueId id, const Integers& perm) {
    if (std::ranges::is_sorted(perm)) return id;
    if (const auto [from, first] = permutation_of(id); from != kNoValue) {
        Integers both;
        for (const std::int64_t axis : perm) both.push_back(first[static_cast<std::size_t>(axis)]);
        return permuted(from, both);
    }
    // Where only dimensions of one element move, no element does.
    std::int64_t last = -1;
    bool is_in_order = true;
    Shape wanted;
    for (const std::int64_t axis : perm) {
        wanted.push_back(shape(id).at(static_cast<std::size_t>(axis)));
        if (wanted.back() == 1) continue;
        is_in_order &= axis > last;
        last = axis;
    }
    if (is_in_order) return shaped(id, wanted);
    const ValueId made = make(Operator::kTranspose, "transpose", {id}, {{"perm", perm}});
    if (made_.value(made).kind == ValueKind::kComputed && !is_given(id))
        permuted_from_[made] = {id, perm};
    return made;
}

Lowering::Permuted Lowering::permutation_of(ValueId id) const {
    const auto found = permuted_from_.find(id);
    return found == permuted_from_.end() ? Permuted{} : found->second;
}

ValueId Lowering::unshaped(ValueId id) const {
    const auto found = reshaped_from_.find(id);
    return found == reshaped_from_.end() ? id : found->second;
}

Integers inverse(const Integers& perm) {
    Integers result(perm.size());
    for (std::size_t i = 0; i < perm.size(); ++i)
        result.at(static_cast<std::size_t>(perm[i])) = static_cast<std::int64_t>(i);
    return result;
}

/// f(T(x), T(y), c) is T(f(x, y, T'(c))): c a constant, or a number.
std::optional<ValueId> Lowering::before_transposition(Operator op, const std::string& suffix,
                                                      const std::vector<ValueId>& inputs,
                                                      const NodeAttributes& attributes) {
    static const std::set<Operator> kElementwise{
        Operator::kAbs, Operator::kAdd,  Operator::kCast, Operator::kClip,       Operator::kDiv,
        Operator::kErf, Operator::kExp,  Operator::kLog,  Operator::kMax,        Operator::kMin,
        Operator::kMul, Operator::kNeg,  Operator::kPow,  Operator::kReciprocal, Operator::kRelu,
        Operator::kSub, Operator::kSqrt, Operator::kTanh, Operator::kSigmoid};
    if (!kElementwise.contains(op)) return std::nullopt;
    Integers perm;
    for (const ValueId id : inputs)
        if (const Permuted found = permutation_of(id); found.from != kNoValue) perm = found.perm;
    if (perm.empty()) return std::nullopt;
    std::vector<ValueId> sources;
    for (const ValueId id : inputs) {
        const Permuted found = permutation_of(id);
        const std::size_t rank = shape(id).size();
        if (found.from != kNoValue && found.perm == perm)
            sources.push_back(found.from);
        else if (rank == 0)
            sources.push_back(id);
        else if (is_given(id) && rank == perm.size())
            sources.push_back(permuted(id, inverse(perm)));
        else
            return std::nullopt;
    }
    return permuted(make(op, suffix, sources, attributes), perm);
}

ValueId Lowering::sliced(ValueId id, const Integers& starts, const Integers& limits,
                         const Integers& strides) {
    Integers axes(starts.size());
    std::iota(axes.begin(), axes.end(), 0);
    const Shape& from = shape(id);
    bool is_all = true;
    for (std::size_t i = 0; i < starts.size(); ++i)
        is_all &= starts[i] == 0 && limits[i] == from[i] && strides[i] == 1;
    if (is_all) return id;
    return make(Operator::kSlice, "slice",
                {id, integers(name_for("starts"), starts), integers(name_for("limits"), limits),
                 integers(name_for("axes"), axes), integers(name_for("strides"), strides)});
}

ValueId Lowering::padded(ValueId id, ValueId value, const Integers& low, const Integers& high,
                         const Integers& interior) {
    const std::size_t rank = shape(id).size();
    for (std::size_t axis = 0; axis < rank; ++axis) {
        const std::int64_t between = interior[axis], extent = shape(id)[axis];
        if (between < 0) throw Refusal{"a negative interior padding"};
        if (between == 0 || extent < 2) continue;
        // [.., n, ..] -> [.., n, 1, ..] -> [.., n, 1 + between, ..] -> [.., n (1 + between), ..]
        Shape split = shape(id);
        split.insert(split.begin() + static_cast<std::ptrdiff_t>(axis) + 1, 1);
        Integers pads(2 * split.size(), 0);
        pads[split.size() + axis + 1] = between;
        const ValueId spread = make(Operator::kPad, "spread",
                                    {shaped(id, split), integers(name_for("pads"), pads), value});
        Shape joined = shape(id);
        joined[axis] = extent * (1 + between);
        id = shaped(spread, joined);
        Integers starts(rank, 0), limits = joined, strides(rank, 1);
        limits[axis] -= between;
        id = sliced(id, starts, limits, strides);
    }
    Integers starts(rank, 0), limits = shape(id), strides(rank, 1), pads(2 * rank, 0);
    for (std::size_t axis = 0; axis < rank; ++axis) {
        starts[axis] = std::max<std::int64_t>(0, -low[axis]);
        limits[axis] -= std::max<std::int64_t>(0, -high[axis]);
        if (limits[axis] < starts[axis]) throw Refusal{"a padding that takes all elements away"};
        pads[axis] = std::max<std::int64_t>(0, low[axis]);
        pads[rank + axis] = std::max<std::int64_t>(0, high[axis]);
    }
    id = sliced(id, starts, limits, strides);
    if (std::ranges::all_of(pads, [](std::int64_t pad) { return pad == 0; })) return id;
    return make(Operator::kPad, "pad", {id, integers(name_for("pads"), pads), value});
}

std::optional<std::vector<double>> Lowering::known(ValueId id) const {
    const Value& value = made_.value(id);
    if (value.kind != ValueKind::kConstant || !value.is_known() || value.data->size() > kSmall)
        return std::nullopt;
    return to_doubles(*value.data);
}

std::optional<double> Lowering::splat(ValueId id) const {
    const std::optional<std::vector<double>> values = known(id);
    if (!values || values->empty()) return std::nullopt;
    const bool is_one =
        std::ranges::all_of(*values, [&](double v) { return v == values->front(); });
    return is_one ? std::optional(values->front()) : std::nullopt;
}

void Lowering::set(const Operation& op, std::size_t i, ValueId id) {
    const TensorType& wanted = op.result_types.at(i);
    const Shape& found = shape(id);
    bool fits = type(id) == wanted.type && found.size() == wanted.shape.size();
    for (std::size_t axis = 0; fits && axis < found.size(); ++axis)
        fits = found[axis] == wanted.shape[axis] || found[axis] == 1;
    if (!fits)
        throw Refusal{fmt::format("its result is {}{}, not {}{} as it says", name_of(type(id)),
                                  to_string(found), name_of(wanted.type), to_string(wanted.shape))};
    scopes_.back()[op.results.at(i)] = {id, wanted.shape};
}

void Lowering::set_all(const Operation& op, const std::vector<Wide>& values) {
    if (values.size() != op.results.size())
        throw Refusal{fmt::format("{} results of {}", op.results.size(), values.size())};
    for (std::size_t i = 0; i < values.size(); ++i) {
        if (values[i].id == kNoValue || values[i].shape != op.result_types[i].shape)
            throw Refusal{values[i].id == kNoValue ? "" : "results of another shape than it says"};
        set(op, i, values[i].id);
    }
}

std::vector<Wide> Lowering::inline_region(const Region& region,
                                          const std::vector<Wide>& arguments) {
    if (arguments.size() != region.arguments.size())
        throw Refusal{fmt::format("{} arguments where {} are expected", arguments.size(),
                                  region.arguments.size())};
    Scope scope;
    for (std::size_t i = 0; i < arguments.size(); ++i)
        scope[region.arguments[i].name] = arguments[i];
    scopes_.push_back(std::move(scope));
    const Operation* const outside = current_;
    lower_all(region);
    current_ = outside;
    scopes_.pop_back();
    return std::move(returned_);
}

std::vector<Wide> Lowering::inline_function(std::string_view name,
                                            const std::vector<Wide>& arguments) {
    const auto function = module_.functions.find(name);
    if (function == module_.functions.end()) throw Refusal{fmt::format("no function @{}", name)};
    if (++depth_ > kMaximumDepth) throw Refusal{"functions that call themselves"};
    const std::size_t outside = visible_;
    visible_ = scopes_.size();
    std::vector<Wide> results = inline_region(function->second.body, arguments);
    visible_ = outside;
    --depth_;
    return results;
}

void Lowering::lower_all(const Region& region) {
    returned_.clear();
    for (const Operation& op : region.operations) {
        current_ = &op;
        if (op.name == "stablehlo.return" || op.name == "return" || op.name == "func.return") {
            std::vector<Wide> values;
            for (std::size_t i = 0; i < op.operands.size(); ++i) {
                try {
                    values.push_back(operand(op, i));
                } catch (const Refusal&) {
                    values.push_back({});
                }
            }
            returned_ = std::move(values);
            return;
        }
        lower(op);
    }
}

void Lowering::lower(const Operation& op) {
    static const Family kAll = [] {
        Family all;
        for (const Family* family : {&elementwise_family(), &movement_family(), &product_family(),
                                     &reduction_family(), &control_family()})
            all.insert(family->begin(), family->end());
        return all;
    }();
    if (++operations_ > kMaximumOperations)
        throw InputError(
            fmt::format("{}:{}: more than {} operations, those of loops counted each "
                        "time",
                        file_, op.line, kMaximumOperations));
    const std::size_t scopes = scopes_.size();
    const std::size_t visible = visible_;
    const int depth = depth_;
    std::string reason;
    try {
        std::string_view name = op.name;
        if (name == "func.call") name = "call";
        const auto found = kAll.find(name);
        for (std::size_t i = 0; i < op.operands.size(); ++i) operand(op, i);
        if (found == kAll.end()) throw Refusal{"is not supported"};
        if (op.results.empty()) throw Refusal{"has no result"};
        found->second(*this, op);
        return;
    } catch (const Refusal& refusal) {
        reason = refusal.reason;
    } catch (const InputError& error) {
        const std::string_view what = error.what();
        if (what.starts_with(file_)) throw;
        reason = what;
    }
    scopes_.resize(scopes);
    visible_ = visible;
    depth_ = depth;
    current_ = &op;
    for (const std::string& result : op.results) scopes_.back()[result] = {};
    if (reason.empty()) return;
    const std::string line = fmt::format("line {}: {}: {}", op.line, op.name, reason);
    if (std::ranges::find(unsupported_, line) == unsupported_.end()) unsupported_.push_back(line);
}

}  // namespace lockstep::network::stablehlo

namespace lockstep::network {

Graph parse_stablehlo(std::string_view text, const std::string& name,
                      const StablehloOptions& options) {
    const stablehlo::Module module = stablehlo::parse_module(text, name);
    return stablehlo::Lowering(module, name, options).run();
}

Graph read_stablehlo(const std::filesystem::path& file, const StablehloOptions& options) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream || !std::filesystem::is_regular_file(file))
        throw InputError(fmt::format("{}: cannot be read", file.string()));
    const std::string text{std::istreambuf_iterator<char>(stream),
                           std::istreambuf_iterator<char>()};
    return parse_stablehlo(text, file.string(), options);
}

}  // namespace lockstep::network
