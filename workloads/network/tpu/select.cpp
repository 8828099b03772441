// SPDX-License-Identifier: Apache-2.0
// Values that are limited to a range, or replaced where a mask says so.
#include "sim/error/error.h"
#include "workloads/network/tpu/lowering.h"

namespace lockstep::network::lowering {

using tpu::Broadcast;
using tpu::Function;

void Lowering::lower_clip(const Node& node) {
    if (function_of(graph_, node) || is_fixed_point(node)) return lower_unary(node);
    if (value(node.outputs[0]).quantisation) throw InputError("a Clip of integers by itself");
    const ValueId x = node.inputs[0], y = node.outputs[0];
    begin_step(node.name);
    const Place from = place(x);
    Place to = new_place(y, is_dense(from) ? from.strides : dense_strides(shape(y)));
    to.image = from.image;
    const int64_t columns = in_memory_order(to).shape.back();
    by_rows(from, to, 0, [&](const Tile& in, const Tile& out, int64_t, int64_t rows) {
        Tile now = in;
        for (const auto& [i, function] :
             {std::pair{size_t{1}, Function::kMaximum}, {size_t{2}, Function::kMinimum}}) {
            if (node.input(i) == kNoValue) continue;
            const std::optional<float> bound = scalar_of(value(node.input(i)));
            if (!bound) throw InputError("bounds that are computed");
            vector_op(function, Function::kIdentity, now, nullptr, Broadcast::kImmediate, *bound,
                      out, rows, columns);
            now = out;
        }
        if (now.address == in.address)
            vector_op(Function::kIdentity, Function::kIdentity, in, nullptr, Broadcast::kNone, 0,
                      out, rows, columns);
    });
    set_place(y, std::move(to));
}

void Lowering::lower_where(const Node& node) {
    // A mask that is known: x where it is set, else a known value. Then x times 1 or 0, plus 0 or
    // the value.
    const Value& condition = value(node.inputs.at(0));
    if (!condition.is_known()) throw InputError("a condition that is computed");
    const auto is_known = [&](ValueId id) { return value(id).is_known(); };
    const bool first = !is_known(node.inputs.at(1));
    const ValueId x = node.inputs[first ? 1 : 2], other = node.inputs[first ? 2 : 1],
                  y = node.outputs[0];
    if (!is_known(other) || element_count(shape(other)) != 1)
        throw InputError("two values that are computed, or more than one value in place of some");
    if (value(y).quantisation) throw InputError("not for integers");
    if (shape(x) != shape(y)) throw InputError("its operand is broadcast");
    const std::vector<int64_t> set = to_integers(*condition.data);
    const float filler = *scalar_of(value(other));
    std::vector<float> factors, addends;
    for (const int64_t bit : set) {
        const bool keeps = (bit != 0) == first;
        factors.push_back(keeps ? 1.0f : 0.0f);
        addends.push_back(keeps ? 0.0f : filler);
    }
    begin_step(node.name);
    const auto constant = [&](const char* suffix, const std::vector<float>& values) {
        Place made;
        made.space = backing();
        made.type = type_of(y);
        made.shape = *condition.shape;
        made.strides = dense_strides(made.shape);
        const uint64_t bytes = made.bytes_of(element_count(made.shape));
        std::vector<uint8_t> contents(bytes);
        write_port({kNoValue, 0, 0, made.type, made.shape, made.strides, {}},
                   make_tensor(made.shape, std::span<const float>(values)), contents);
        made.address = add_constant(node.name + suffix, made.space, made.type, bytes, contents);
        return made;
    };
    Place from = place(x);
    from.owner = nullptr;
    const std::vector<int64_t> strides = is_dense(from) ? from.strides : dense_strides(shape(y));
    Place kept = new_place(y, strides);
    elementwise(Function::kMultiply, Function::kIdentity, kept, from, constant(".mask", factors),
                std::nullopt, {});
    elementwise(Function::kAdd, Function::kIdentity, kept, kept, constant(".filler", addends),
                std::nullopt, {});
    set_place(y, std::move(kept));
}

}  // namespace lockstep::network::lowering
