// SPDX-License-Identifier: Apache-2.0
// The vector unit: rows x columns of elements through a function; sums and extrema along an axis;
// pooling of images; transposition. Operands are converted to fp32 when they are loaded.
#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "isa/tpu/semantics/elements.h"
#include "isa/tpu/semantics/fixed_point.h"
#include "isa/tpu/semantics/functions.h"
#include "isa/tpu/semantics/handlers.h"
#include "isa/tpu/semantics/windows.h"
#include "sim/error/error.h"

namespace lockstep::tpu {

namespace {

using enum Field;

/// In fixed_point, operands are loaded as integers less their zero points and stored as they are.
Quantisation quantisation(const Instruction& i, Field scale, Field zero) {
    if (is_fixed_point(i) && scale == kOutScale) return {};
    return {is_fixed_point(i) ? 1 : i.float_value(scale),
            static_cast<std::int32_t>(i.signed_value(zero))};
}

/// A row of what the instruction before kept in registers.
float* kept_row(const Instruction& i, State& state, std::uint64_t row) {
    return state.kept.data() + row * i[kColumns];
}

void check_kept(const Instruction& i, const State& state) {
    if (i.as<Taken>(kTakes) != Taken::kNone && state.kept.size() != i[kRows] * i[kColumns])
        throw ProgramFault(fmt::format("takes {} x {} values from registers, where {} are kept",
                                       i[kRows], i[kColumns], state.kept.size()));
}

void load_a(const Instruction& i, State& state, std::uint64_t row, float* out) {
    if (i.as<Taken>(kTakes) == Taken::kA) {
        std::copy_n(kept_row(i, state, row), i[kColumns], out);
        return;
    }
    load_elements(state.unified_buffer(i[kA] + row * i[kAPitch]), i.type(kAType), i[kColumns],
                  quantisation(i, kAScale, kAZero), out);
}

void store(const Instruction& i, State& state, std::uint64_t row, const float* values,
           std::size_t count) {
    store_elements(values, count, i.type(kType), quantisation(i, kOutScale, kZeroPoint),
                   state.unified_buffer(i[kDestination] + row * i[kPitch]));
}

/// The lanes of a vector register; the order in which columns are summed follows from it.
constexpr std::size_t kRegisterLanes = 128;

/// Along a row: registers of 128 lanes are joined one after the other, then halves of the lanes.
template <typename Join>
float reduce_row(const float* values, std::size_t count, const Join& join) {
    float lanes[kRegisterLanes];
    std::size_t used = std::min(count, kRegisterLanes);
    std::copy_n(values, used, lanes);
    for (std::size_t first = kRegisterLanes; first < count; first += kRegisterLanes)
        for (std::size_t lane = 0; lane < std::min(kRegisterLanes, count - first); ++lane)
            lanes[lane] = join(lanes[lane], values[first + lane]);
    for (std::size_t half = kRegisterLanes / 2; half != 0; half /= 2) {
        for (std::size_t lane = 0; lane < half && lane + half < used; ++lane)
            lanes[lane] = join(lanes[lane], lanes[lane + half]);
        used = std::min(used, half);
    }
    return lanes[0];
}

/// The result of no values at all.
float empty_value(Reduction reduction) {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    return reduction == Reduction::kMax ? -kInfinity : reduction == Reduction::kMin ? kInfinity : 0;
}

template <typename Join>
void reduce(const Instruction& i, State& state, const Join& join) {
    const auto reduction = i.as<Reduction>(kReduction);
    check_kept(i, state);
    const std::size_t columns = i[kColumns];
    const bool along_row = i.as<Axis>(kAxis) == Axis::kColumns;
    std::vector<float> values(columns), result(columns, empty_value(reduction));
    const auto count = static_cast<float>(along_row ? columns : i[kRows]);
    for (std::uint64_t row = 0; row < i[kRows]; ++row) {
        load_a(i, state, row, values.data());
        if (reduction == Reduction::kSumOfSquares) apply(Function::kSquare, values.data(), columns);
        if (along_row) {
            float value =
                columns == 0 ? empty_value(reduction) : reduce_row(values.data(), columns, join);
            if (reduction == Reduction::kMean) value /= count;
            store(i, state, row, &value, 1);
        } else if (row == 0) {
            result = values;
        } else {
            for (std::size_t c = 0; c < columns; ++c) result[c] = join(result[c], values[c]);
        }
    }
    if (along_row) return;
    if (reduction == Reduction::kMean)
        for (float& value : result) value /= count;
    store(i, state, 0, result.data(), columns);
}

}  // namespace

namespace {

/// a and b: stored integers less their zero points; a becomes the stored result.
void fixed_point_row(const Instruction& i, const FixedPointTail& tail, float* a, const float* b,
                     std::size_t b_step) {
    const auto zero = static_cast<std::int32_t>(i.signed_value(kZeroPoint));
    const numerics::IntegerRange range = range_of(i.type(kType));
    const numerics::FixedPointPair pair{static_cast<std::int32_t>(i.signed_value(kFirst)),
                                        static_cast<std::int32_t>(i.signed_value(kSecond)),
                                        static_cast<std::int32_t>(i[kShift])};
    const auto function = i.as<Function>(kFunction);
    for (std::size_t c = 0; c < i[kColumns]; ++c) {
        const auto x = static_cast<std::int32_t>(a[c]);
        const auto y = static_cast<std::int32_t>(b[c * b_step]);
        const std::int64_t value =
            function == Function::kAdd ? numerics::multiply(x, y, pair)
            : function == Function::kMultiply
                ? numerics::multiply(x * y, numerics::FixedPointScale{pair.first, pair.shift})
                : numerics::multiply(x, numerics::FixedPointScale{pair.first, pair.shift});
        a[c] = tail(numerics::saturate(value + zero, range));
    }
}

}  // namespace

void execute_vector(const Instruction& i, State& state) {
    const bool fixed_point = is_fixed_point(i);
    const FixedPointTail tail(i, i.as<Function>(kThen) == Function::kRelu,
                              static_cast<std::int32_t>(i.signed_value(kZeroPoint)), state);
    const std::size_t columns = i[kColumns];
    const auto function = i.as<Function>(kFunction);
    const auto broadcast = i.as<Broadcast>(kBroadcast);
    const auto takes = i.as<Taken>(kTakes);
    check_kept(i, state);
    if (i.flag(kKeeps)) state.kept.resize(i[kRows] * columns);
    std::vector<float> a(columns), b(std::max<std::size_t>(columns, 1), i.float_value(kImmediate));
    for (std::uint64_t row = 0; row < i[kRows]; ++row) {
        load_a(i, state, row, a.data());
        const std::size_t b_step =
            broadcast == Broadcast::kColumn || broadcast == Broadcast::kImmediate ? 0 : 1;
        if (is_binary(function)) {
            const bool same = broadcast == Broadcast::kRow || broadcast == Broadcast::kImmediate;
            if (takes == Taken::kB)
                std::copy_n(kept_row(i, state, row), columns, b.data());
            else if (broadcast != Broadcast::kImmediate && !(same && row != 0))
                load_elements(state.unified_buffer(i[kB] + (same ? 0 : row * i[kBPitch])),
                              i.type(kBType), b_step == 0 ? 1 : columns,
                              quantisation(i, kBScale, kBZero), b.data());
        }
        if (fixed_point) {
            fixed_point_row(i, tail, a.data(), b.data(), b_step);
        } else {
            apply(function, a.data(), b.data(), b_step, columns);
            apply(i.as<Function>(kThen), a.data(), columns);
        }
        if (i.flag(kKeeps))
            std::copy_n(a.data(), columns, kept_row(i, state, row));
        else
            store(i, state, row, a.data(), columns);
    }
}

void execute_reduce(const Instruction& i, State& state) {
    switch (i.as<Reduction>(kReduction)) {
        case Reduction::kMax:
            return reduce(i, state, [](float x, float y) { return x != x || x > y ? x : y; });
        case Reduction::kMin:
            return reduce(i, state, [](float x, float y) { return x != x || x < y ? x : y; });
        default:
            return reduce(i, state, [](float x, float y) { return x + y; });
    }
}

void execute_pool(const Instruction& i, State& state) {
    const std::size_t columns = i[kColumns];
    const bool max = i.as<PoolMode>(kPool) == PoolMode::kMax;
    const Quantisation from = quantisation(i, kAScale, kAZero);
    std::vector<float> values(columns), result(columns);
    Windows windows(i);
    for (std::uint64_t row = 0; row < i[kRows]; ++row) {
        windows.select(i[kFirstRow] + row);
        std::uint64_t count = 0;
        std::fill(result.begin(), result.end(), 0.0f);
        for (std::uint64_t ky = 0; ky < i[kKernelHeight]; ++ky)
            for (std::uint64_t kx = 0; kx < i[kKernelWidth]; ++kx) {
                const std::int64_t offset = windows.offset(ky, kx);
                if (offset < 0) continue;
                load_elements(state.unified_buffer(i[kA]) + offset, i.type(kAType), columns, from,
                              values.data());
                if (count++ == 0)
                    result = values;
                else
                    apply(max ? Function::kMaximum : Function::kAdd, result.data(), values.data(),
                          1, columns);
            }
        if (!max) {
            if (i.flag(kCountPad)) count = i[kKernelHeight] * i[kKernelWidth];
            if (is_fixed_point(i) && count != 0) {
                std::int32_t words[2];
                std::memcpy(words, state.unified_buffer(i[kParameters] + 8 * (count - 1)), 8);
                const numerics::FixedPointScale scale = checked_scale(words[0], words[1]);
                for (float& value : result)
                    value = static_cast<float>(
                        numerics::multiply(static_cast<std::int32_t>(value), scale));
            } else if (count != 0) {
                for (float& value : result) value /= static_cast<float>(count);
            }
        }
        if (is_fixed_point(i))
            for (float& value : result)
                value = static_cast<float>(numerics::saturate(
                    static_cast<std::int64_t>(value) + i.signed_value(kZeroPoint),
                    range_of(i.type(kType))));
        store(i, state, row, result.data(), columns);
    }
}

void execute_transpose(const Instruction& i, State& state) {
    const std::size_t size = size_of(i.type(kType));
    // Through a copy: the destination may overlap the source.
    std::vector<std::uint8_t> copy(i[kRows] * i[kColumns] * size);
    for (std::uint64_t row = 0; row < i[kRows]; ++row)
        for (std::uint64_t column = 0; column < i[kColumns]; ++column)
            std::memcpy(copy.data() + (column * i[kRows] + row) * size,
                        state.unified_buffer(i[kA] + row * i[kAPitch] + column * size), size);
    for (std::uint64_t column = 0; column < i[kColumns]; ++column)
        std::memcpy(state.unified_buffer(i[kDestination] + column * i[kPitch]),
                    copy.data() + column * i[kRows] * size, i[kRows] * size);
}

}  // namespace lockstep::tpu
