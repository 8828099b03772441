// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/stablehlo/folding_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>
#include <set>

#include "workloads/network/reference/execute.h"
#include "workloads/network/shapes/shape_inference.h"

namespace lockstep::network::stablehlo {

namespace {

/// What is computed while a module is read: counters, indices, predicates.
constexpr std::int64_t kSmall = 4096;
/// Beyond, moving a weight is left to the passes that fold constants.
constexpr std::int64_t kLargestWeight = std::int64_t{1} << 28;

}  // namespace

std::string FoldingWriter::name_for(const std::string& suffix) {
    std::string name = base_name();
    std::ranges::replace(name, '#', '_');
    if (!suffix.empty()) name += "." + suffix;
    const int again = names_[name]++;
    return again == 0 ? name : fmt::format("{}.{}", name, again);
}

bool FoldingWriter::is_foldable(Operator op, const std::vector<ValueId>& inputs) const {
    if (op == Operator::kConv || has_window(op)) return false;
    return std::ranges::all_of(inputs, [&](ValueId id) {
        const Value& value = graph_.value(id);
        return value.kind == ValueKind::kConstant && value.is_known() &&
               value.data->size() <= kSmall;
    });
}

FoldingWriter::Alone FoldingWriter::alone(const std::string& name, Operator op,
                                          const std::vector<ValueId>& inputs,
                                          const NodeAttributes& attributes) const {
    Alone single;
    Graph& graph = single.graph;
    Node node{name, op, {}, {}, attributes};
    for (const ValueId id : inputs) node.inputs.push_back(graph.add(graph_.value(id)));
    single.result = graph.add({name});
    node.outputs = {single.result};
    infer_node(graph, node);
    graph.outputs = node.outputs;
    graph.nodes.push_back(std::move(node));
    return single;
}

Tensor FoldingWriter::computed(const Alone& single) {
    const ElementType type = single.graph.value(single.result).type;
    Tensor result = execute(single.graph, {}).front();
    return result.type == type ? result : from_doubles(type, result.shape, to_doubles(result));
}

ValueId FoldingWriter::fold(const std::string& name, Operator op,
                            const std::vector<ValueId>& inputs, const NodeAttributes& attributes) {
    const Alone single = alone(name, op, inputs, attributes);
    if (element_count(single.graph.shape(single.result)) > kSmall) return kNoValue;
    return constant(name, computed(single));
}

ValueId FoldingWriter::make(Operator op, const std::string& suffix,
                            const std::vector<ValueId>& inputs, NodeAttributes attributes) {
    if (const auto made = before_transposition(op, suffix, inputs, attributes)) return *made;
    const std::string name = name_for(suffix);
    if (is_foldable(op, inputs)) {
        const ValueId folded = fold(name, op, inputs, attributes);
        if (folded != kNoValue) return folded;
    }
    if (const auto weight = moved_weight(name, op, inputs, attributes)) return *weight;
    return add(op, name, inputs, std::move(attributes));
}

ValueId FoldingWriter::number(ElementType element, double value) {
    return constant(name_for("number"), from_doubles(element, {}, std::span(&value, 1)));
}

/// A weight with its elements in other places is a weight.
std::optional<ValueId> FoldingWriter::moved_weight(const std::string& name, Operator op,
                                                   const std::vector<ValueId>& inputs,
                                                   const NodeAttributes& attributes) {
    const bool moves =
        op == Operator::kReshape || op == Operator::kTranspose || op == Operator::kSlice;
    if (!moves || !is_given(inputs[0]) || element_count(shape(inputs[0])) > kLargestWeight)
        return std::nullopt;
    const Alone single = alone(name, op, inputs, attributes);
    Value value = single.graph.value(single.result);
    value.kind = graph_.value(inputs[0]).kind;
    if (graph_.value(inputs[0]).is_known())
        value.data = std::make_shared<const Tensor>(computed(single));
    return graph_.add(std::move(value));
}

std::vector<ValueId> FoldingWriter::make_several(Operator op, const std::vector<ValueId>& inputs,
                                                 NodeAttributes attributes, std::int64_t outputs) {
    std::vector<ValueId> all(static_cast<std::size_t>(outputs));
    std::iota(all.begin(), all.end(),
              add(op, name_for(""), inputs, std::move(attributes), outputs));
    return all;
}

ValueId FoldingWriter::given(Tensor tensor) {
    const bool is_trained = is_floating(tensor.type) && tensor.size() > 1;
    const ValueId id = constant(name_for(""), std::move(tensor));
    if (is_trained) graph_.values[id].kind = ValueKind::kParameter;
    return id;
}

ValueId FoldingWriter::shaped(ValueId id, const Shape& wanted) {
    // A reshape of a reshape is one of the first value.
    if (const auto from = reshaped_from_.find(id); from != reshaped_from_.end()) id = from->second;
    if (shape(id) == wanted) return id;
    const ValueId target = integers(name_for("shape"), wanted);
    const ValueId made =
        make(Operator::kReshape, "reshape", {id, target}, {{"allowzero", std::int64_t{1}}});
    if (graph_.value(made).kind == ValueKind::kComputed) reshaped_from_[made] = id;
    return made;
}

ValueId FoldingWriter::permuted(ValueId id, const Integers& perm) {
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
    if (graph_.value(made).kind == ValueKind::kComputed && !is_given(id))
        permuted_from_[made] = {id, perm};
    return made;
}

FoldingWriter::Permuted FoldingWriter::permutation_of(ValueId id) const {
    const auto found = permuted_from_.find(id);
    return found == permuted_from_.end() ? Permuted{} : found->second;
}

ValueId FoldingWriter::unshaped(ValueId id) const {
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
std::optional<ValueId> FoldingWriter::before_transposition(Operator op, const std::string& suffix,
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

ValueId FoldingWriter::sliced(ValueId id, const Integers& starts, const Integers& limits,
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

ValueId FoldingWriter::padded(ValueId id, ValueId value, const Integers& low, const Integers& high,
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

std::optional<std::vector<double>> FoldingWriter::known(ValueId id) const {
    const Value& value = graph_.value(id);
    if (value.kind != ValueKind::kConstant || !value.is_known() || value.data->size() > kSmall)
        return std::nullopt;
    return to_doubles(*value.data);
}

std::optional<double> FoldingWriter::splat(ValueId id) const {
    const std::optional<std::vector<double>> values = known(id);
    if (!values || values->empty()) return std::nullopt;
    const bool is_one =
        std::ranges::all_of(*values, [&](double v) { return v == values->front(); });
    return is_one ? std::optional(values->front()) : std::nullopt;
}

}  // namespace lockstep::network::stablehlo
