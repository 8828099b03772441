// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/tpu/vector.h"

#include <algorithm>

#include "sim/error/error.h"
#include "workloads/network/compile/refusal.h"
#include "workloads/network/tpu/copies.h"

namespace lockstep::network::lowering {

using tpu::Broadcast;
using tpu::Field;
using tpu::Function;
using tpu::Opcode;

namespace {

/// Whether rows of so many elements lie without gaps.
bool is_dense(const BufferRows& rows, std::int64_t columns) {
    return rows.pitch == static_cast<std::uint64_t>(columns) * tpu::size_of(rows.type);
}

}  // namespace

void vector_op(Compilation& c, Function function, Function then, const BufferRows& of_a,
               const BufferRows* of_b, Broadcast broadcast, float immediate,
               const BufferRows& of_out, std::int64_t rows, std::int64_t columns,
               std::array<Scaling, 3> scaling, const numerics::FixedPointPair* fixed) {
    BufferRows a = of_a, out = of_out, second = of_b != nullptr ? *of_b : BufferRows{};
    const BufferRows* const b = of_b != nullptr ? &second : nullptr;
    const bool is_plain =
        b == nullptr ? broadcast != Broadcast::kRow : broadcast == Broadcast::kNone;
    if ((a.half_tiles || out.half_tiles) && is_plain && columns % kHalfLanes == 0 &&
        is_dense(a, columns) && is_dense(out, columns) && (b == nullptr || is_dense(*b, columns))) {
        for (BufferRows* operand : {&a, &out, &second})
            operand->pitch = kHalfLanes * tpu::size_of(operand->type);
        rows *= columns / kHalfLanes;
        columns = kHalfLanes;
    }
    c.staging.check_held(a);
    if (b != nullptr) c.staging.check_held(*b);
    tpu::Instruction i(Opcode::kVector, {{Field::kFunction, function},
                                         {Field::kThen, then},
                                         {Field::kA, a.address},
                                         {Field::kAPitch, a.pitch},
                                         {Field::kAType, a.type},
                                         {Field::kAScale, scaling[0].scale},
                                         {Field::kAZero, scaling[0].zero},
                                         {Field::kBroadcast, broadcast},
                                         {Field::kImmediate, immediate},
                                         {Field::kDestination, out.address},
                                         {Field::kPitch, out.pitch},
                                         {Field::kType, out.type},
                                         {Field::kOutScale, scaling[2].scale},
                                         {Field::kZeroPoint, scaling[2].zero},
                                         {Field::kRows, rows},
                                         {Field::kColumns, columns}});
    if (b != nullptr) {
        i.set(Field::kB, b->address);
        i.set(Field::kBPitch, b->pitch);
        i.set(Field::kBType, b->type);
        i.set(Field::kBScale, scaling[1].scale);
        i.set(Field::kBZero, scaling[1].zero);
    }
    if (fixed != nullptr) {
        // The sign of what is subtracted is the multiplier's.
        if (function == Function::kSubtract) i.set(Field::kFunction, Function::kAdd);
        i.set(Field::kRounding, tpu::Rounding::kFixedPoint);
        i.set(Field::kFirst, fixed->first);
        i.set(Field::kSecond, fixed->second);
        i.set(Field::kShift, fixed->shift);
    }
    c.builder.emit(i);
}

namespace {

/// The elements of operands that are read together, as nested loops: the two innermost are rows and
/// columns of an instruction.
struct Loops {
    Shape extents;                                   ///< outermost first; at least two
    std::vector<std::vector<std::int64_t>> strides;  ///< by operand
};

/// In the order in which operand 0 (the result, dense) lies; loops that follow are joined.
Loops loops_of(const std::vector<Place>& operands) {
    const Place& first = operands[0];
    std::vector<std::size_t> order;
    for (std::size_t d = 0; d < first.shape.size(); ++d)
        if (first.shape[d] != 1) order.push_back(d);
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
        return first.strides[a] > first.strides[b];
    });
    Loops loops;
    loops.strides.resize(operands.size());
    for (std::size_t i = 0; i < order.size(); ++i) {
        const std::size_t d = order[i];
        // The innermost stays by itself: its length is that of a row.
        bool joins = !loops.extents.empty() && i + 1 < order.size();
        for (std::size_t o = 0; o < operands.size() && joins; ++o)
            joins = loops.strides[o].back() == operands[o].strides[d] * first.shape[d];
        if (joins) {
            loops.extents.back() *= first.shape[d];
            for (std::size_t o = 0; o < operands.size(); ++o)
                loops.strides[o].back() = operands[o].strides[d];
            continue;
        }
        loops.extents.push_back(first.shape[d]);
        for (std::size_t o = 0; o < operands.size(); ++o)
            loops.strides[o].push_back(operands[o].strides[d]);
    }
    while (loops.extents.size() < 2) {
        loops.extents.insert(loops.extents.begin(), 1);
        for (auto& strides : loops.strides) strides.insert(strides.begin(), 0);
        if (loops.extents.size() == 1) {
            for (auto& strides : loops.strides) strides.back() = 1;
        }
    }
    return loops;
}

/// The operand with a stride for each dimension of `shape`.
Place broadcast_to(const Place& place, const Shape& shape) {
    Place result = place;
    const std::size_t more = shape.size() - place.shape.size();
    result.shape = shape;
    result.strides.assign(shape.size(), 0);
    for (std::size_t d = more; d < shape.size(); ++d)
        if (place.shape[d - more] != 1) result.strides[d] = place.strides[d - more];
    return result;
}

/// The only row of a matrix, for all windows that pass.
BufferRows stays(Compilation& c, const Matrix& row) {
    if (row.space == tpu::Space::kUnifiedBuffer) return c.staging.load(row, 0, 1);
    const std::uint64_t bytes = static_cast<std::uint64_t>(row.columns) * tpu::size_of(row.type);
    const BufferRows pinned{c.staging.ring().pin(bytes), bytes, row.type};
    c.staging.load_at(pinned.address, row, 0, 1);
    return pinned;
}

}  // namespace

void elementwise(Compilation& c, Function function, Function then, const Place& to, const Place& a,
                 const std::optional<Place>& second, std::optional<float> immediate,
                 const std::array<Scaling, 3>& scaling, const numerics::FixedPointPair* fixed) {
    const Shape& out_shape = to.shape;
    // A row of an operand lies as that of the result; the second may be one value for the row.
    const auto beside = [&](const Place& operand, bool may_repeat) {
        Place p = broadcast_to(operand, out_shape);
        std::size_t inner = out_shape.size();
        for (std::size_t d = 0; d < out_shape.size(); ++d)
            if (out_shape[d] != 1 &&
                (inner == out_shape.size() || to.strides[d] <= to.strides[inner]))
                inner = d;
        if (inner == out_shape.size() || p.strides[inner] == 1 ||
            (may_repeat && p.strides[inner] == 0))
            return p;
        return copy_as(c, p, to.strides, c.steps.layer().name + ".operand");
    };
    std::vector<Place> operands = {to, beside(a, false)};
    if (!immediate) operands.push_back(beside(*second, true));
    const Loops loops = loops_of(operands);
    const std::size_t depth = loops.extents.size();
    const std::int64_t columns = loops.extents[depth - 1], rows = loops.extents[depth - 2];
    LOCKSTEP_CHECK(loops.strides[1][depth - 1] == 1 || columns == 1, "{}", c.steps.layer().name);

    const std::uint64_t row_bytes = to.bytes_of(columns);
    const std::int64_t most =
        window_rows(c, static_cast<std::uint64_t>(rows) * row_bytes, rows, 2 * row_bytes);
    std::int64_t outer = 1;
    for (std::size_t d = 0; d + 2 < depth; ++d) outer *= loops.extents[d];
    const auto matrix_of = [&](std::size_t operand, std::int64_t index) {
        const Place& p = operands[operand];
        std::int64_t offset = 0;
        for (std::size_t d = depth - 2; d-- > 0;) {
            offset += index % loops.extents[d] * loops.strides[operand][d];
            index /= loops.extents[d];
        }
        return Matrix{p.space, p.address + p.bytes_of(offset),    p.type,      rows,
                      columns, loops.strides[operand][depth - 2], p.half_tiles};
    };
    for (std::int64_t index = 0; index < outer; ++index) {
        const Matrix out = matrix_of(0, index), in = matrix_of(1, index);
        std::optional<Matrix> other;
        std::optional<BufferRows> b;
        Broadcast broadcast = immediate ? Broadcast::kImmediate : Broadcast::kNone;
        if (!immediate) {
            other = matrix_of(2, index);
            const bool one = loops.strides[2][depth - 1] == 0 && columns != 1;
            if (one) {
                broadcast = Broadcast::kColumn;
                other->columns = 1;
            } else if (other->pitch == 0 && rows != 1) {
                broadcast = Broadcast::kRow;
                b = stays(c, *other);
            }
        }
        for (std::int64_t row = 0; row < rows; row += most) {
            const std::int64_t count = std::min(most, rows - row);
            const BufferRows x = c.staging.load(in, row, count);
            if (other && broadcast != Broadcast::kRow) b = c.staging.load(*other, row, count);
            const BufferRows y = c.staging.room_for(out, row, count);
            vector_op(c, function, then, x, b ? &*b : nullptr, broadcast, immediate.value_or(0), y,
                      count, columns, scaling, fixed);
            c.staging.store(y, out, row, count);
        }
    }
    c.staging.ring().release();
}

void reduce(Compilation& c, tpu::Reduction reduction, const BufferRows& a, const BufferRows& out,
            std::int64_t rows, std::int64_t columns, tpu::Axis axis) {
    c.staging.check_held(a);
    c.builder.emit(Opcode::kReduce, {{Field::kReduction, reduction},
                                     {Field::kAxis, axis},
                                     {Field::kA, a.address},
                                     {Field::kAPitch, a.pitch},
                                     {Field::kAType, a.type},
                                     {Field::kAScale, 1.0f},
                                     {Field::kDestination, out.address},
                                     {Field::kPitch, out.pitch},
                                     {Field::kType, out.type},
                                     {Field::kOutScale, 1.0f},
                                     {Field::kRows, rows},
                                     {Field::kColumns, columns}});
}

std::int64_t window_rows(const Compilation& c, std::uint64_t bytes, std::int64_t rows,
                         std::uint64_t temporaries) {
    constexpr std::uint64_t kWindows = 16, kLeast = 64 << 10;
    const std::uint64_t row = std::max<std::uint64_t>(1, bytes / static_cast<std::uint64_t>(rows));
    const std::uint64_t room =
        c.target.window != 0 ? c.staging.ring().size() : c.staging.window_room();
    const std::uint64_t fits = room / 2 / (row + temporaries);
    const std::uint64_t window =
        c.target.window != 0 ? c.target.window : std::max(bytes / kWindows, kLeast);
    return std::clamp<std::int64_t>(static_cast<std::int64_t>(std::min(window / row, fits)), 1,
                                    rows);
}

bool is_small_for_dma(const Compilation& c, std::uint64_t bytes) {
    const tpu::CoreSpeed& speed = c.target.speed;
    return static_cast<double>(bytes) < speed.dma_setup * speed.memory_bytes;
}

std::int64_t matrices_together(const Compilation& c, std::uint64_t bytes, std::int64_t count) {
    if (count == 1 || !is_small_for_dma(c, bytes)) return 1;
    return window_rows(c, bytes * static_cast<std::uint64_t>(count), count, bytes);
}

std::int64_t window_columns(const Compilation& c, const Matrix& m) {
    constexpr std::int64_t kRows = 16, kLeast = 512;
    const std::int64_t rows = window_rows(c, m.bytes(), m.rows, 0);
    if (rows >= std::min(kRows, m.rows)) return m.columns;
    const std::int64_t fits = rows * m.columns / std::min(kRows, m.rows) / kLeast * kLeast;
    return std::min(std::max(fits, kLeast), m.columns);
}

void by_rows(Compilation& c, const Place& x, const Place& y, std::uint64_t temporaries,
             const std::function<void(const BufferRows&, const BufferRows&, std::int64_t,
                                      std::int64_t)>& body,
             std::int64_t columns_of_row) {
    Place from = x, to = y;
    // Dimensions of extent 1 are no columns in memory.
    const bool any_row =
        columns_of_row == 0 || columns_of_row == compile::in_memory_order(x).shape.back();
    if (compile::is_dense(x) && x.strides == y.strides && any_row) {
        from = compile::in_memory_order(x);
        to = compile::in_memory_order(y);
    }
    if (!matrices_of(from)) from = dense_copy(c, from, "rows");
    const auto in = matrices_of(from), out = matrices_of(to);
    if (!in || !out) throw compile::Refusal("its operand does not lie row by row");
    // The pieces of the operand, each within a piece of the result.
    const std::int64_t columns = (*in)[0].columns;
    const std::int64_t most =
        window_rows(c, from.bytes(), element_count(from.shape) / columns,
                    static_cast<std::uint64_t>(columns) * tpu::size_of(y.type) + temporaries);
    std::size_t o = 0;
    std::int64_t out_row = 0, done = 0;
    for (const Matrix& m : *in)
        for (std::int64_t row = 0; row < m.rows;) {
            if (out_row == (*out)[o].rows) {
                ++o;
                out_row = 0;
            }
            const Matrix& result = (*out)[o];
            const std::int64_t count = std::min({most, m.rows - row, result.rows - out_row});
            const BufferRows a = c.staging.load(m, row, count);
            const BufferRows b = c.staging.room_for(result, out_row, count);
            body(a, b, done, count);
            done += count;
            c.staging.store(b, result, out_row, count);
            row += count;
            out_row += count;
        }
}

}  // namespace lockstep::network::lowering
