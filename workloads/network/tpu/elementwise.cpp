// SPDX-License-Identifier: Apache-2.0
// Operators of one or two values, element by element, with broadcasting, on the vector unit.
#include <algorithm>

#include "workloads/network/graph/given.h"
#include "workloads/network/tpu/fixed_point.h"
#include "workloads/network/tpu/loop.h"
#include "workloads/network/tpu/operators.h"

namespace lockstep::network::lowering {

using tpu::Broadcast;
using tpu::Function;

namespace {

bool is_conversion(Operator op) {
    return op == Operator::kCast || op == Operator::kQuantizeLinear ||
           op == Operator::kDequantizeLinear;
}

/// One value below each of many: their negatives below its own, in the order in which they lie.
bool lower_one_below(Compilation& c, const Node& node) {
    if (node.op != Operator::kLess) return false;
    const ValueId x = node.inputs[1], y = node.outputs[0];
    const std::optional<float> one = scalar_of(c.value(node.inputs[0]));
    if (!one || !is_floating(c.value(x).type) || c.shape(x) != c.shape(y)) return false;
    c.steps.begin(node.name);
    const Place from = c.places.of(x);
    Place to = c.places.make(y, compile::is_dense(from) ? from.strides : dense_strides(c.shape(y)));
    to.image = from.image;
    const std::int64_t columns = compile::in_memory_order(to).shape.back();
    by_rows(c, from, to, 0,
            [&](const BufferRows& in, const BufferRows& out, std::int64_t, std::int64_t rows) {
                Loop loop(c, in, rows, columns);
                loop.apply(Function::kNegate);
                loop.apply(Function::kLess, -*one);
                loop.store(out);
            });
    c.places.set(y, std::move(to));
    return true;
}

}  // namespace

compile::Reason reason_unary(const Asked& a) {
    if (a.is_fixed_point()) return reason_table(a);
    const Node& node = a.node;
    if (!is_conversion(node.op) && !function_of(a.graph, node))
        return "the vector unit has no such operation";
    const ElementType to = a.graph.value(node.outputs[0]).type;
    if (node.op == Operator::kCast && !is_floating(to)) return fmt::format("to {}", name_of(to));
    const bool has_scale = is_conversion(node.op) && node.op != Operator::kCast;
    if (has_scale && !scalar_of(a.graph.value(node.inputs.at(1)))) return "a scale a channel";
    return std::nullopt;
}

compile::Reason reason_binary(const Asked& a) {
    if (a.node.inputs.size() != 2) return "more or fewer than two operands";
    if (a.graph.value(a.node.outputs[0]).quantisation &&
        info_of(a.node.op).integers != IntegerForm::kCombination)
        return "not for integers";
    return std::nullopt;
}

void lower_unary(Compilation& c, const Node& node) {
    if (c.is_fixed_point(node)) return lower_table(c, node);
    if (lower_chain(c, node)) return;
    const bool quantises = node.op == Operator::kQuantizeLinear,
               dequantises = node.op == Operator::kDequantizeLinear;
    const Function function =
        is_conversion(node.op) ? Function::kIdentity : *function_of(c.graph, node);
    const ValueId x = node.inputs[0], y = node.outputs[0];
    c.steps.begin(node.name);
    Place from = c.places.of(x);
    from.owner = nullptr;
    const std::vector<std::int64_t> strides =
        compile::is_dense(from) ? from.strides : dense_strides(c.shape(y));
    Place to = c.has_memory() ? c.places.make_over(y, x, strides) : c.places.make(y, strides);
    to.image = from.image;
    std::array<Scaling, 3> scaling = {scaling_of(c.value(x)), Scaling{}, scaling_of(c.value(y))};
    if (quantises || dequantises) {
        const std::optional<float> scale = scalar_of(c.value(node.inputs.at(1)));
        const ValueId zero = node.input(2);
        scaling[dequantises ? 0 : 2] = {
            *scale, zero == kNoValue ? 0 : static_cast<std::int32_t>(*scalar_of(c.value(zero)))};
    }
    by_rows(c, from, to, 0,
            [&](const BufferRows& in, const BufferRows& out, std::int64_t, std::int64_t rows) {
                const std::int64_t columns =
                    static_cast<std::int64_t>(compile::in_memory_order(to).shape.back());
                vector_op(c, function, Function::kIdentity, in, nullptr, Broadcast::kNone, 0, out,
                          rows, columns, scaling);
            });
    c.places.set(y, std::move(to));
}

void lower_binary(Compilation& c, const Node& node) {
    if (lower_chain(c, node) || lower_one_below(c, node)) return;
    ValueId first = node.inputs[0], second = node.inputs[1];
    ValueId result = node.outputs[0];
    std::string name = node.name;
    Function then = Function::kIdentity;
    if (const Node* next = c.places.only_reader(result);
        next != nullptr && next->inputs[0] == result)
        if (const auto function = fused_function(c.graph, *next)) {
            then = *function;
            c.fused.insert(next);
            result = next->outputs[0];
            name += "+" + next->name;
        }
    const Shape& out_shape = c.shape(result);
    const Function function = binary_function_of(c.graph, node);
    const bool integer = c.value(result).quantisation.has_value();
    const bool commutes = function == Function::kAdd || function == Function::kMultiply ||
                          function == Function::kMaximum || function == Function::kMinimum ||
                          function == Function::kEqual;
    if (element_count(c.shape(first)) != element_count(out_shape) && commutes)
        std::swap(first, second);
    c.steps.begin(name);
    const std::optional<float> immediate = integer ? std::nullopt : scalar_of(c.value(second));
    Place a = c.places.of(first);
    a.owner = nullptr;
    const auto flat = [&] { return compile::is_dense(a) ? a.strides : dense_strides(a.shape); };
    std::vector<std::int64_t> strides =
        c.shape(first) == out_shape ? flat() : dense_strides(out_shape);
    Place to = c.places.make_over(result, first, strides);
    // Reference scales: steps of the result (quantised.h).
    std::array<Scaling, 3> scaling;
    if (integer) {
        const float out_scale = scaling_of(c.value(result)).scale;
        scaling = {scaling_of(c.value(first)), scaling_of(c.value(second)),
                   scaling_of(c.value(result))};
        if (function == Function::kMultiply) {
            scaling[0].scale = static_cast<float>(double{scaling[0].scale} *
                                                  double{scaling[1].scale} / double{out_scale});
            scaling[1].scale = 1;
        } else {
            for (std::size_t i = 0; i < 2; ++i)
                scaling[i].scale = static_cast<float>(double{scaling[i].scale} / double{out_scale});
        }
        scaling[2].scale = 1;
    }
    const std::optional<Place> other =
        immediate ? std::nullopt : std::optional<Place>(c.places.of(second));
    std::optional<numerics::FixedPointPair> fixed;
    if (c.is_fixed_point(node))
        fixed = fixed_point_of(function, {&c.value(first), &c.value(second), &c.value(result)});
    elementwise(c, function, then, to, a, other, immediate, scaling, fixed ? &*fixed : nullptr);
    c.places.set(result, std::move(to));
}

}  // namespace lockstep::network::lowering
