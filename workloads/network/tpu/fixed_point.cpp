// SPDX-License-Identifier: Apache-2.0
// As sim/numerics/requantise.h rounds them. Activations are tables of 256 results. In integers a
// residual addition can follow a product at once: the sum is rounded to the product's own steps
// first, as it would be if it were stored. The reference is the executor's
// Requantisation::kFixedPoint.
#include "workloads/network/tpu/fixed_point.h"

#include "workloads/network/graph/quantisation.h"
#include "workloads/network/reference/quantised.h"
#include "workloads/network/tpu/product.h"
#include "workloads/network/tpu/vector.h"

namespace lockstep::network::lowering {

namespace {

constexpr std::int64_t kEntries = 256;

std::span<const std::uint8_t> bytes_of(const std::vector<std::int32_t>& words) {
    return {reinterpret_cast<const std::uint8_t*>(words.data()),
            words.size() * sizeof(std::int32_t)};
}

}  // namespace

numerics::FixedPointPair fixed_point_of(tpu::Function function,
                                        const std::array<const Value*, 3>& values) {
    const auto scale = [&](std::size_t i) { return double{values[i]->quantisation->scale.at(0)}; };
    if (function == tpu::Function::kMultiply) {
        const auto both = numerics::fixed_point_scale(scale(0) * scale(1) / scale(2));
        return {both.multiplier, 0, both.shift};
    }
    const double sign = function == tpu::Function::kSubtract ? -1 : 1;
    return numerics::fixed_point_pair(scale(0) / scale(2), sign * scale(1) / scale(2));
}

compile::Reason reason_table(const Asked& a) {
    for (const ValueId id : {a.node.inputs[0], a.node.outputs[0]})
        if (size_of(a.graph.value(id).type) != 1)
            return "in fixed_point, activations are tables of 8-bit integers";
    return std::nullopt;
}

compile::Reason reason_average(const Asked& a, std::int64_t most) {
    if (size_of(a.graph.value(a.node.inputs[0]).type) != 1 || most > 1 << 14)
        return "in fixed_point, averages are of at most 2^14 integers of 8 bits";
    return std::nullopt;
}

void lower_table(Compilation& c, const Node& node) {
    const ValueId x = node.inputs[0], y = node.outputs[0];
    std::vector<std::uint8_t> entries;
    for (const std::int32_t entry : activation_table(c.graph, node))
        entries.push_back(static_cast<std::uint8_t>(entry));
    c.steps.begin(node.name);
    const Matrix table{c.places.backing(),
                       c.places.add_constant(node.name + ".table", c.places.backing(), c.type_of(y),
                                             kEntries, entries),
                       c.type_of(y),
                       1,
                       kEntries,
                       kEntries};
    const Place from = c.places.of(x);
    Place to = c.places.make(y, compile::is_dense(from) ? from.strides : dense_strides(c.shape(y)));
    to.image = from.image;
    const std::int64_t columns = compile::in_memory_order(to).shape.back();
    // x as it is stored, where the table's type begins.
    const std::int32_t zero = range_of(c.value(y).type).low - range_of(c.value(x).type).low;
    const auto one = numerics::fixed_point_scale(1);
    by_rows(c, from, to, 0,
            [&](const BufferRows& in, const BufferRows& out, std::int64_t, std::int64_t rows) {
                const BufferRows at = c.staging.load(table, 0, 1);
                c.staging.check_held(in);
                c.staging.check_held(out);
                c.builder.emit(tpu::Opcode::kVector,
                               {{tpu::Field::kFunction, tpu::Function::kIdentity},
                                {tpu::Field::kA, in.address},
                                {tpu::Field::kAPitch, in.pitch},
                                {tpu::Field::kAType, in.type},
                                {tpu::Field::kBroadcast, tpu::Broadcast::kImmediate},
                                {tpu::Field::kDestination, out.address},
                                {tpu::Field::kPitch, out.pitch},
                                {tpu::Field::kType, out.type},
                                {tpu::Field::kZeroPoint, zero},
                                {tpu::Field::kRows, rows},
                                {tpu::Field::kColumns, columns},
                                {tpu::Field::kRounding, tpu::Rounding::kFixedPoint},
                                {tpu::Field::kFirst, one.multiplier},
                                {tpu::Field::kShift, one.shift},
                                {tpu::Field::kHasTable, true},
                                {tpu::Field::kTable, at.address}});
            });
    c.places.set(y, std::move(to));
}

Matrix average_scales(Compilation& c, const Node& node, std::int64_t most) {
    const double in = double{c.value(node.inputs[0]).quantisation->scale.at(0)},
                 out = double{c.value(node.outputs[0]).quantisation->scale.at(0)};
    std::vector<std::int32_t> words;
    for (std::int64_t count = 1; count <= most; ++count) {
        const auto scale = numerics::fixed_point_scale(in / (out * static_cast<double>(count)));
        words.insert(words.end(), {scale.multiplier, scale.shift});
    }
    const auto size = static_cast<std::int64_t>(words.size());
    return {c.places.backing(),
            c.places.add_constant(node.name + ".scales", c.places.backing(), tpu::DataType::kInt32,
                                  words.size() * sizeof(std::int32_t), bytes_of(words)),
            tpu::DataType::kInt32,
            1,
            size,
            size};
}

void ProductLowering::round_in_integers(tpu::Instruction& activate) const {
    activate.set(tpu::Field::kRounding, tpu::Rounding::kFixedPoint);
    activate.set(tpu::Field::kHasScales, true);
    if (!activate.flag(tpu::Field::kHasAddend)) return;
    activate.set(tpu::Field::kZeroPoint, scaling_of(c_.value(node_.outputs[0])).zero);
    activate.set(tpu::Field::kFirst, epilogue_.addition.first);
    activate.set(tpu::Field::kSecond, epilogue_.addition.second);
    activate.set(tpu::Field::kShift, epilogue_.addition.shift);
    activate.set(tpu::Field::kAddendZero, scaling_of(c_.value(epilogue_.addend)).zero);
    activate.set(tpu::Field::kSumZero, epilogue_.out.zero);
}

}  // namespace lockstep::network::lowering
