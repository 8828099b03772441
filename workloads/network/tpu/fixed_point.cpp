// SPDX-License-Identifier: Apache-2.0
// Integers by multiplier and shift instead of in fp32 (TpuTarget::fixed_point), as sim/numerics/
// requantise.h rounds them. Activations are tables of 256 results. In integers a residual addition
// can follow a product at once: the sum is rounded to the product's own steps first, as it would be
// if it were stored. The reference is the executor's Requantisation::kFixedPoint.
#include "sim/error/error.h"
#include "workloads/network/quantisation.h"
#include "workloads/network/reference/quantised.h"
#include "workloads/network/tpu/product.h"

namespace lockstep::network::lowering {

namespace {

constexpr int64_t kEntries = 256;

std::span<const uint8_t> bytes_of(const std::vector<int32_t>& words) {
    return {reinterpret_cast<const uint8_t*>(words.data()), words.size() * sizeof(int32_t)};
}

}  // namespace

numerics::FixedPointPair fixed_point_of(tpu::Function function,
                                        const std::array<const Value*, 3>& values) {
    const auto scale = [&](size_t i) { return double{values[i]->quantisation->scale.at(0)}; };
    if (function == tpu::Function::kMultiply) {
        const auto both = numerics::fixed_point_scale(scale(0) * scale(1) / scale(2));
        return {both.multiplier, 0, both.shift};
    }
    const double sign = function == tpu::Function::kSubtract ? -1 : 1;
    return numerics::fixed_point_pair(scale(0) / scale(2), sign * scale(1) / scale(2));
}

bool Lowering::is_fixed_point(const Node& node) const {
    return target_.fixed_point && is_quantised(graph_, node);
}

void Lowering::lower_table(const Node& node) {
    const ValueId x = node.inputs[0], y = node.outputs[0];
    if (tpu::size_of(type_of(x)) != 1 || tpu::size_of(type_of(y)) != 1)
        throw InputError("in fixed_point, activations are tables of 8-bit integers");
    std::vector<uint8_t> entries;
    for (const int32_t entry : activation_table(graph_, node))
        entries.push_back(static_cast<uint8_t>(entry));
    begin_step(node.name);
    const Matrix table{
        backing(),  add_constant(node.name + ".table", backing(), type_of(y), kEntries, entries),
        type_of(y), 1,
        kEntries,   kEntries};
    const Place from = place(x);
    Place to = new_place(y, is_dense(from) ? from.strides : dense_strides(shape(y)));
    to.image = from.image;
    const int64_t columns = in_memory_order(to).shape.back();
    // x as it is stored, where the table's type begins.
    const int32_t zero = range_of(value(y).type).low - range_of(value(x).type).low;
    const auto one = numerics::fixed_point_scale(1);
    by_rows(from, to, 0, [&](const Tile& in, const Tile& out, int64_t, int64_t rows) {
        const Tile at = stage(table, 0, 1);
        check_held(in);
        check_held(out);
        emit(Opcode::kVector, {{Field::kFunction, tpu::Function::kIdentity},
                               {Field::kA, in.address},
                               {Field::kAPitch, in.pitch},
                               {Field::kAType, in.type},
                               {Field::kBroadcast, tpu::Broadcast::kImmediate},
                               {Field::kDestination, out.address},
                               {Field::kPitch, out.pitch},
                               {Field::kType, out.type},
                               {Field::kZeroPoint, zero},
                               {Field::kRows, rows},
                               {Field::kColumns, columns},
                               {Field::kRounding, tpu::Rounding::kFixedPoint},
                               {Field::kFirst, one.multiplier},
                               {Field::kShift, one.shift},
                               {Field::kHasTable, true},
                               {Field::kTable, at.address}});
    });
    set_place(y, std::move(to));
}

Matrix Lowering::average_scales(const Node& node, int64_t most) {
    if (tpu::size_of(type_of(node.inputs[0])) != 1 || most > 1 << 14)
        throw InputError("in fixed_point, averages are of at most 2^14 integers of 8 bits");
    const double in = double{value(node.inputs[0]).quantisation->scale.at(0)},
                 out = double{value(node.outputs[0]).quantisation->scale.at(0)};
    std::vector<int32_t> words;
    for (int64_t count = 1; count <= most; ++count) {
        const auto scale = numerics::fixed_point_scale(in / (out * static_cast<double>(count)));
        words.insert(words.end(), {scale.multiplier, scale.shift});
    }
    const auto size = static_cast<int64_t>(words.size());
    return {backing(),
            add_constant(node.name + ".scales", backing(), tpu::DataType::kInt32,
                         words.size() * sizeof(int32_t), bytes_of(words)),
            tpu::DataType::kInt32,
            1,
            size,
            size};
}

bool ProductLowering::fuse_addition(const Node& next) {
    if (!l_.target_.fixed_point || next.op != Operator::kAdd || !is_quantised(l_.graph_, next))
        return false;
    if (epilogue_.addend != kNoValue || epilogue_.pool ||
        epilogue_.function != tpu::Function::kIdentity)
        return false;
    const ValueId other = next.inputs[next.inputs[0] == epilogue_.result ? 1 : 0];
    if (other == epilogue_.result || !l_.places_[other] || !is_dense(l_.place(other))) return false;
    if (l_.shape(other) != l_.shape(epilogue_.result) ||
        l_.value(next.outputs[0]).type != l_.value(epilogue_.result).type)
        return false;
    // Its rows must lie as the product's do.
    const Shape& s = l_.shape(other);
    if (l_.place(other).strides !=
        (node_.op == Operator::kConv ? image_strides(s) : dense_strides(s)))
        return false;
    epilogue_.addend = other;
    epilogue_.addition =
        fixed_point_of(tpu::Function::kAdd,
                       {&l_.value(epilogue_.result), &l_.value(other), &l_.value(next.outputs[0])});
    return true;
}

int64_t ProductLowering::parameter_words() const {
    return (epilogue_.has_bias ? 1 : 0) + (epilogue_.scales.empty() ? 0 : 1) +
           (epilogue_.fixed.empty() ? 0 : 2);
}

void ProductLowering::round_in_integers(tpu::Instruction& activate) const {
    activate.set(Field::kRounding, tpu::Rounding::kFixedPoint);
    activate.set(Field::kHasScales, true);
    if (!activate.flag(Field::kHasAddend)) return;
    activate.set(Field::kZeroPoint, scaling_of(l_.value(node_.outputs[0])).zero);
    activate.set(Field::kFirst, epilogue_.addition.first);
    activate.set(Field::kSecond, epilogue_.addition.second);
    activate.set(Field::kShift, epilogue_.addition.shift);
    activate.set(Field::kAddendZero, scaling_of(l_.value(epilogue_.addend)).zero);
    activate.set(Field::kSumZero, epilogue_.out.zero);
}

}  // namespace lockstep::network::lowering
