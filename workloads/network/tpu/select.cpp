// SPDX-License-Identifier: Apache-2.0
// Values that are limited to a range, or replaced where a mask says so.
#include "workloads/network/graph/given.h"
#include "workloads/network/tpu/loop.h"
#include "workloads/network/tpu/operators.h"
#include "workloads/network/tpu/vector.h"

namespace lockstep::network::lowering {

using tpu::Broadcast;
using tpu::Function;

compile::Reason reason_clip(const Asked& a) {
    if (function_of(a.graph, a.node) || a.is_fixed_point()) return reason_unary(a);
    if (a.graph.value(a.node.outputs[0]).quantisation) return "a Clip of integers by itself";
    for (const std::size_t i : {1, 2})
        if (a.node.input(i) != kNoValue && !scalar_of(a.graph.value(a.node.input(i))))
            return "bounds that are computed";
    return std::nullopt;
}

void lower_clip(Compilation& c, const Node& node) {
    if (function_of(c.graph, node) || c.is_fixed_point(node)) return lower_unary(c, node);
    const ValueId x = node.inputs[0], y = node.outputs[0];
    c.steps.begin(node.name);
    const Place from = c.places.of(x);
    Place to = c.places.make(y, compile::is_dense(from) ? from.strides : dense_strides(c.shape(y)));
    to.image = from.image;
    const std::int64_t columns = compile::in_memory_order(to).shape.back();
    by_rows(c, from, to, 0,
            [&](const BufferRows& in, const BufferRows& out, std::int64_t, std::int64_t rows) {
                Loop loop(c, in, rows, columns);
                for (const auto& [i, function] : {std::pair{std::size_t{1}, Function::kMaximum},
                                                  {std::size_t{2}, Function::kMinimum}}) {
                    if (node.input(i) == kNoValue) continue;
                    const std::optional<float> bound = scalar_of(c.value(node.input(i)));
                    loop.apply(function, *bound);
                }
                loop.store(out);
            });
    c.places.set(y, std::move(to));
}

compile::Reason reason_choice(const Asked& a) {
    const auto is_known = [&](std::size_t i) {
        return a.graph.value(a.node.inputs.at(i)).is_known();
    };
    if (!is_known(0)) return "a condition that is computed";
    const std::size_t x = is_known(1) ? 2 : 1, other = 3 - x;
    const ValueId y = a.node.outputs[0];
    if (!is_known(other) || element_count(a.graph.shape(a.node.inputs[other])) != 1)
        return "two values that are computed, or more than one value in place of some";
    if (a.graph.value(y).quantisation) return "not for integers";
    if (a.graph.shape(a.node.inputs[x]) != a.graph.shape(y)) return "its operand is broadcast";
    return std::nullopt;
}

void lower_choice(Compilation& c, const Node& node) {
    // A mask that is known: x where it is set, else a known value. Then x times 1 or 0, plus 0 or
    // the value.
    const Value& condition = c.value(node.inputs.at(0));
    const auto is_known = [&](ValueId id) { return c.value(id).is_known(); };
    const bool first = !is_known(node.inputs.at(1));
    const ValueId x = node.inputs[first ? 1 : 2], other = node.inputs[first ? 2 : 1],
                  y = node.outputs[0];
    const std::vector<std::int64_t> set = to_integers(*condition.data);
    const float filler = *scalar_of(c.value(other));
    std::vector<float> factors, addends;
    for (const std::int64_t bit : set) {
        const bool keeps = (bit != 0) == first;
        factors.push_back(keeps ? 1.0f : 0.0f);
        addends.push_back(keeps ? 0.0f : filler);
    }
    c.steps.begin(node.name);
    const auto constant = [&](const char* suffix, const std::vector<float>& values) {
        Place made;
        made.space = c.places.backing();
        made.type = c.type_of(y);
        made.shape = *condition.shape;
        c.places.add_values(made, node.name + suffix, values);
        return made;
    };
    Place from = c.places.of(x);
    from.owner = nullptr;
    const std::vector<std::int64_t> strides =
        compile::is_dense(from) ? from.strides : dense_strides(c.shape(y));
    Place kept = c.places.make(y, strides);
    elementwise(c, Function::kMultiply, Function::kIdentity, kept, from, constant(".mask", factors),
                std::nullopt, {});
    elementwise(c, Function::kAdd, Function::kIdentity, kept, kept, constant(".filler", addends),
                std::nullopt, {});
    c.places.set(y, std::move(kept));
}

}  // namespace lockstep::network::lowering
