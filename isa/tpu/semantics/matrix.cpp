// SPDX-License-Identifier: Apache-2.0
// The matrix unit: a weight tile stays in the array while rows of the unified buffer stream
// through; the data setup makes the rows of a convolution as they stream (im2col). Jouppi et al.,
// ISCA 2017; that the setup handles any window, stride, dilation and padding is ours, and so are
// the arrays that hold sums (os: each product is added to the sum before it, over all of k) or
// inputs (is: weights stream, and what leaves a column of the array is a row of the result). The
// array of later generations multiplies bf16 values; fp32 operands are rounded to them as they
// enter.
#include <algorithm>
#include <cstring>
#include <tuple>

#include "isa/product/product.h"
#include "isa/tpu/semantics/elements.h"
#include "isa/tpu/semantics/handlers.h"
#include "isa/tpu/semantics/windows.h"
#include "sim/error/error.h"

namespace lockstep::tpu {

namespace {

using enum Field;

/// Rows `pitch` elements apart, of fp32 or, as integers are multiplied, int16.
template <typename Lane>
void dense_rows(const Instruction& i, State& state, std::uint64_t first, std::uint64_t count,
                Lane* out, std::uint64_t pitch) {
    for (std::uint64_t row = 0; row < count; ++row, out += pitch)
        load_lanes(state.unified_buffer(i[kSource] + (first + row) * i[kPitch]), i.type(kType),
                   i[kLanes], out);
}

template <typename Lane>
void window_rows(const Instruction& i, State& state, std::uint64_t first, std::uint64_t count,
                 Lane* out, std::uint64_t pitch) {
    const DataType type = i.type(kType);
    const std::uint64_t size = size_of(type), channels = i[kChannels];
    const Lane pad = is_float(type) ? Lane{} : static_cast<Lane>(i.signed_value(kPadValue));
    const std::uint8_t* base = state.unified_buffer(i[kSource]);
    Windows windows(i);
    for (std::uint64_t row = 0; row < count; ++row, out += pitch) {
        windows.select(i[kFirstRow] + first + row);
        std::uint64_t tap = i[kFirstLane] / channels, channel = i[kFirstLane] % channels;
        for (std::uint64_t lane = 0; lane < i[kLanes];) {
            const std::uint64_t run = std::min(channels - channel, i[kLanes] - lane);
            const std::int64_t offset =
                windows.offset(tap / i[kKernelWidth], tap % i[kKernelWidth]);
            if (offset < 0)
                std::fill_n(out + lane, run, pad);
            else
                load_lanes(base + offset + channel * size, type, run, out + lane);
            lane += run;
            channel = 0;
            ++tap;
        }
    }
}

template <typename Lane>
void read_rows(const Instruction& i, State& state, std::uint64_t first, std::uint64_t count,
               Lane* out, std::uint64_t pitch) {
    if (i.opcode() == Opcode::kConvolve)
        window_rows(i, state, first, count, out, pitch);
    else
        dense_rows(i, state, first, count, out, pitch);
}

template <typename Lane>
std::uint64_t pitch_of(const Instruction& i) {
    const auto lanes = static_cast<std::uint32_t>(i[kLanes]);
    return std::is_same_v<Lane, float> ? lanes : integer_pitch(lanes);
}

/// Where sums are, and where those of a tile start.
struct Sums {
    enum Start : std::uint8_t {
        kZero,
        kAddAfter,  ///< at zero; what is there is added at the end, by the accumulators
        kThere,     ///< at what is there
    };
    std::uint32_t* values;
    std::uint32_t pitch;
    Start start;
};

void multiply(const Instruction& i, const float* rows, std::uint64_t count, const WeightTile& tile,
              const Sums& sums) {
    const product::TileProduct whole{rows,
                                     tile.floats.data(),
                                     static_cast<std::uint32_t>(count),
                                     static_cast<std::uint32_t>(i[kLanes]),
                                     static_cast<std::uint32_t>(i[kColumns]),
                                     tile.columns};
    if (sums.start == Sums::kThere)
        product::bf16_product_onto(whole, sums.values, sums.pitch);
    else
        product::bf16_product(whole, sums.start == Sums::kAddAfter, sums.values, sums.pitch);
}

/// Of integers the order of additions does not matter.
void multiply(const Instruction& i, const std::int16_t* rows, std::uint64_t count,
              const WeightTile& tile, const Sums& sums) {
    product::integer_product(rows, static_cast<std::uint32_t>(count),
                             static_cast<std::uint32_t>(i[kLanes]), tile.integers,
                             static_cast<std::uint32_t>(i[kColumns]), sums.start != Sums::kZero,
                             sums.values, sums.pitch);
}

template <typename Lane>
void through_held_weights(const Instruction& i, State& state, const WeightTile& tile) {
    // A piece of the rows at a time stays in the host's cache.
    constexpr std::uint64_t kPiece = 256;
    const std::uint64_t pitch = pitch_of<Lane>(i);
    std::vector<Lane> rows(std::min(kPiece, i[kRows]) * pitch);
    for (std::uint64_t first = 0; first < i[kRows]; first += kPiece) {
        const std::uint64_t count = std::min(kPiece, i[kRows] - first);
        read_rows(i, state, first, count, rows.data(), pitch);
        multiply(i, rows.data(), count, tile,
                 {state.accumulators(i[kAccumulator] + first), state.limits().array_columns,
                  i.flag(kAccumulate) ? Sums::kAddAfter : Sums::kZero});
    }
}

template <typename Lane>
void onto_held_sums(const Instruction& i, State& state, const WeightTile& tile) {
    SumTile& held = state.sums[i[kUnit]];
    const bool floats = is_float(tile.type);
    if (!i.flag(kAccumulate))
        held = {static_cast<std::uint32_t>(i[kRows]), static_cast<std::uint32_t>(i[kColumns]),
                floats, std::vector<std::uint32_t>(i[kRows] * i[kColumns])};
    else if (held.rows != i[kRows] || held.columns != i[kColumns] || held.floats != floats)
        throw ProgramFault(fmt::format("adds to {} x {} sums of {}; the array holds {} x {} of {}",
                                       i[kRows], i[kColumns], floats ? "fp32" : "int32", held.rows,
                                       held.columns, held.floats ? "fp32" : "int32"));
    std::vector<Lane> rows(i[kRows] * pitch_of<Lane>(i));
    read_rows(i, state, 0, i[kRows], rows.data(), pitch_of<Lane>(i));
    multiply(i, rows.data(), i[kRows], tile, {held.values.data(), held.columns, Sums::kThere});
    if (!i.flag(kUnload)) return;
    for (std::uint64_t row = 0; row < i[kRows]; ++row)
        std::copy_n(held.values.begin() + static_cast<std::ptrdiff_t>(row * i[kColumns]),
                    i[kColumns], state.accumulators(i[kAccumulator] + row));
    held = {};
}

template <typename Lane>
void through_held_inputs(const Instruction& i, State& state, const WeightTile& tile) {
    InputTile& held = state.inputs[i[kUnit]];
    std::vector<Lane>& values = std::get<std::vector<Lane>&>(std::tie(held.floats, held.integers));
    if (i.flag(kSwitchInputs)) {
        held.rows = static_cast<std::uint32_t>(i[kRows]);
        held.lanes = static_cast<std::uint32_t>(i[kLanes]);
        held.type = i.type(kType);
        values.assign(i[kRows] * pitch_of<Lane>(i), Lane{});
        read_rows(i, state, 0, i[kRows], values.data(), pitch_of<Lane>(i));
    } else if (held.rows != i[kRows] || held.lanes != i[kLanes] || held.type != i.type(kType)) {
        throw ProgramFault(
            fmt::format("streams through {} rows x {} lanes of {}; the array holds {} x {} of {}",
                        i[kRows], i[kLanes], row(kType).names[i[kType]], held.rows, held.lanes,
                        row(kType).names[static_cast<std::size_t>(held.type)]));
    }
    // Row by row here; the accumulators have them column by column.
    std::vector<std::uint32_t> sums(i[kRows] * i[kColumns]);
    const auto transpose = [&](bool back) {
        for (std::uint64_t column = 0; column < i[kColumns]; ++column) {
            std::uint32_t* acc = state.accumulators(i[kAccumulator] + column);
            for (std::uint64_t row = 0; row < i[kRows]; ++row) {
                std::uint32_t& sum = sums[row * i[kColumns] + column];
                (back ? acc[row] : sum) = back ? sum : acc[row];
            }
        }
    };
    const bool accumulate = i.flag(kAccumulate);
    if (accumulate) transpose(false);
    multiply(i, values.data(), i[kRows], tile,
             {sums.data(), static_cast<std::uint32_t>(i[kColumns]),
              accumulate ? Sums::kAddAfter : Sums::kZero});
    transpose(true);
}

template <typename Lane>
void through_array(const Instruction& i, State& state, const WeightTile& tile) {
    switch (dataflow_of(i)) {
        case Dataflow::kWeightStationary:
            return through_held_weights<Lane>(i, state, tile);
        case Dataflow::kOutputStationary:
            return onto_held_sums<Lane>(i, state, tile);
        case Dataflow::kInputStationary:
            return through_held_inputs<Lane>(i, state, tile);
    }
}

/// Weights [lane][column] as they lie at `from` (nullptr: there are none).
template <typename Lane>
std::vector<Lane> load_weights(const Instruction& i, const std::uint8_t* from) {
    const std::uint64_t lanes = i[kLanes], columns = i[kColumns];
    const DataType type = i.type(kWeightType);
    std::vector<Lane> values(lanes * columns);
    if (from == nullptr) return values;
    if (!i.flag(kTransposed)) {
        for (std::size_t lane = 0; lane < lanes; ++lane)
            load_lanes(from + lane * i[kPitch], type, columns, values.data() + lane * columns);
        return values;
    }
    std::vector<Lane> column(lanes);
    for (std::size_t c = 0; c < columns; ++c) {
        load_lanes(from + c * i[kPitch], type, lanes, column.data());
        for (std::size_t lane = 0; lane < lanes; ++lane) values[lane * columns + c] = column[lane];
    }
    return values;
}

void take_next_tile(std::uint64_t unit, State& state) {
    if (state.fifo[unit].empty())
        throw ProgramFault(fmt::format("no weight tile was read for matrix unit {}", unit));
    state.weights[unit] = std::move(state.fifo[unit].front());
    state.fifo[unit].pop_front();
}

}  // namespace

void execute_read_weights(const Instruction& i, State& state) {
    // No FIFO is this deep; a program that never takes its tiles must not take the host's memory.
    constexpr std::size_t kMostTiles = 4096;
    if (state.fifo[i[kUnit]].size() >= kMostTiles)
        throw ProgramFault(fmt::format("{} weight tiles were read and not used", kMostTiles));
    const std::uint8_t* from = nullptr;
    if (i[kLanes] != 0 && i[kColumns] != 0)
        from = i.as<WeightSource>(kFrom) == WeightSource::kMemory
                   ? state.storage().at(Space::kMemory, i[kAddress]).data()
                   : state.unified_buffer(i[kAddress]);
    WeightTile tile;
    tile.lanes = static_cast<std::uint32_t>(i[kLanes]);
    tile.columns = static_cast<std::uint32_t>(i[kColumns]);
    tile.type = i.type(kWeightType);
    if (is_float(tile.type))
        tile.floats = load_weights<float>(i, from);
    else
        tile.integers = IntegerWeights(load_weights<std::int16_t>(i, from).data(), tile.lanes,
                                       tile.columns, tile.columns);
    state.fifo[i[kUnit]].push_back(std::move(tile));
}

void execute_matrix(const Instruction& i, State& state) {
    const std::uint64_t unit = i[kUnit];
    if (i.flag(kSwitchWeights)) take_next_tile(unit, state);
    const WeightTile& tile = state.weights[unit];
    if (i[kLanes] > tile.lanes || i[kColumns] > tile.columns || i.type(kWeightType) != tile.type)
        throw ProgramFault(
            fmt::format("{} lanes x {} columns of {} are used of a weight tile of {} x {} of {}",
                        i[kLanes], i[kColumns], row(kType).names[i[kWeightType]], tile.lanes,
                        tile.columns, row(kType).names[static_cast<std::size_t>(tile.type)]));
    if (is_float(tile.type))
        through_array<float>(i, state, tile);
    else
        through_array<std::int16_t>(i, state, tile);
}

void execute_depthwise(const Instruction& i, State& state) {
    const DataType type = i.type(kType), weight_type = i.type(kWeightType);
    const std::uint64_t columns = i[kColumns], taps = i[kKernelHeight] * i[kKernelWidth];
    const bool floats = is_float(type);
    const float pad = floats ? 0.0f : static_cast<float>(i.signed_value(kPadValue));
    std::vector<float> weights(taps * columns), values(columns), sums(columns);
    std::vector<std::uint32_t> integers(columns);
    load_elements(state.unified_buffer(i[kWeights]), weight_type, weights.size(), {},
                  weights.data());
    const std::uint8_t* base = state.unified_buffer(i[kSource]);
    Windows windows(i);
    for (std::uint64_t r = 0; r < i[kRows]; ++r) {
        windows.select(i[kFirstRow] + r);
        std::fill(sums.begin(), sums.end(), 0.0f);
        std::fill(integers.begin(), integers.end(), 0u);
        for (std::uint64_t tap = 0; tap < taps; ++tap) {
            const std::int64_t offset =
                windows.offset(tap / i[kKernelWidth], tap % i[kKernelWidth]);
            if (offset < 0)
                std::fill(values.begin(), values.end(), pad);
            else
                load_elements(base + offset, type, columns, {}, values.data());
            const float* w = weights.data() + tap * columns;
            if (floats)
                for (std::size_t c = 0; c < columns; ++c) sums[c] += values[c] * w[c];
            else
                for (std::size_t c = 0; c < columns; ++c)
                    integers[c] +=
                        static_cast<std::uint32_t>(static_cast<std::int32_t>(values[c])) *
                        static_cast<std::uint32_t>(static_cast<std::int32_t>(w[c]));
        }
        std::uint32_t* acc = state.accumulators(i[kAccumulator] + r);
        if (floats)
            std::memcpy(acc, sums.data(), 4 * columns);
        else
            std::copy(integers.begin(), integers.end(), acc);
    }
}

}  // namespace lockstep::tpu
