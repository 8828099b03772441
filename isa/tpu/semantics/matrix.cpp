// SPDX-License-Identifier: Apache-2.0
// The matrix unit: a weight tile stays in the array while rows of the unified buffer stream
// through; the data setup makes the rows of a convolution as they stream (im2col). Jouppi et al.,
// ISCA 2017; that the setup handles any window, stride, dilation and padding is ours.
#include <algorithm>
#include <cstring>

#include "isa/tpu/semantics/elements.h"
#include "isa/tpu/semantics/handlers.h"
#include "isa/tpu/semantics/product.h"
#include "isa/tpu/semantics/windows.h"
#include "sim/error/error.h"

namespace lockstep::tpu {

namespace {

using enum Field;

void dense_rows(const Instruction& i, State& state, std::uint64_t first, std::uint64_t count,
                float* out) {
    for (std::uint64_t row = 0; row < count; ++row)
        load_elements(state.unified_buffer(i[kSource] + (first + row) * i[kPitch]), i.type(kType),
                      i[kLanes], {}, out + row * i[kLanes]);
}

void window_rows(const Instruction& i, State& state, std::uint64_t first, std::uint64_t count,
                 float* out) {
    const DataType type = i.type(kType);
    const std::uint64_t size = size_of(type), channels = i[kChannels];
    const float pad = is_float(type) ? 0.0f : static_cast<float>(i.signed_value(kPadValue));
    const std::uint8_t* base = state.unified_buffer(i[kSource]);
    Windows windows(i);
    for (std::uint64_t row = 0; row < count; ++row) {
        windows.select(i[kFirstRow] + first + row);
        std::uint64_t tap = i[kFirstLane] / channels, channel = i[kFirstLane] % channels;
        for (std::uint64_t lane = 0; lane < i[kLanes];) {
            const std::uint64_t run = std::min(channels - channel, i[kLanes] - lane);
            const std::int64_t offset =
                windows.offset(tap / i[kKernelWidth], tap % i[kKernelWidth]);
            if (offset < 0)
                std::fill_n(out + lane, run, pad);
            else
                load_elements(base + offset + channel * size, type, run, {}, out + lane);
            lane += run;
            channel = 0;
            ++tap;
        }
        out += i[kLanes];
    }
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
    WeightTile tile{static_cast<std::uint32_t>(i[kLanes]),
                    static_cast<std::uint32_t>(i[kColumns]),
                    i.type(kWeightType),
                    {}};
    const std::uint8_t* from = nullptr;
    if (i[kLanes] != 0 && i[kColumns] != 0)
        from = i.as<WeightSource>(kFrom) == WeightSource::kMemory
                   ? state.storage().at(Space::kMemory, i[kAddress]).data()
                   : state.unified_buffer(i[kAddress]);
    tile.values.resize(std::size_t{tile.lanes} * tile.columns);
    if (!i.flag(kTransposed)) {
        for (std::size_t lane = 0; lane < tile.lanes && from != nullptr; ++lane)
            load_elements(from + lane * i[kPitch], tile.type, tile.columns, {},
                          tile.values.data() + lane * tile.columns);
    } else {
        std::vector<float> column(tile.lanes);
        for (std::size_t c = 0; c < tile.columns && from != nullptr; ++c) {
            load_elements(from + c * i[kPitch], tile.type, tile.lanes, {}, column.data());
            for (std::size_t lane = 0; lane < tile.lanes; ++lane)
                tile.values[lane * tile.columns + c] = column[lane];
        }
    }
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
    // A piece of the rows at a time stays in the host's cache.
    constexpr std::uint64_t kPiece = 256;
    std::vector<float> rows(std::min(kPiece, i[kRows]) * i[kLanes]);
    const bool wide = size_of(i.type(kType)) > 1 || size_of(tile.type) > 1;
    for (std::uint64_t first = 0; first < i[kRows]; first += kPiece) {
        const std::uint64_t count = std::min(kPiece, i[kRows] - first);
        if (i.opcode() == Opcode::kConvolve)
            window_rows(i, state, first, count, rows.data());
        else
            dense_rows(i, state, first, count, rows.data());
        const TileProduct product{rows.data(),
                                  tile.values.data(),
                                  static_cast<std::uint32_t>(count),
                                  static_cast<std::uint32_t>(i[kLanes]),
                                  static_cast<std::uint32_t>(i[kColumns]),
                                  tile.columns};
        std::uint32_t* acc = state.accumulators(i[kAccumulator] + first);
        const std::uint32_t pitch = state.limits().array_columns;
        if (is_float(tile.type))
            bf16_product(product, i.flag(kAccumulate), acc, pitch);
        else
            integer_product(product, wide, i.flag(kAccumulate), acc, pitch);
    }
}

void execute_depthwise(const Instruction& i, State& state) {
    const DataType type = i.type(kType), weight_type = i.type(kWeightType);
    const std::uint64_t columns = i[kColumns], taps = i[kKernelHeight] * i[kKernelWidth];
    if (columns == 0) return;
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
