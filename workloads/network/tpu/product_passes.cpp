// SPDX-License-Identifier: Apache-2.0
// A block of rows passes through the array once for each tile of weights: as many columns at once
// as there are matrix units, pass by pass over k into the same accumulators, then out of them with
// the epilogue.
#include "sim/error/error.h"
#include "workloads/network/tpu/product.h"

#include <algorithm>

namespace lockstep::network::lowering {

void ProductLowering::pass(const Block& block, const Job& job, const Weights& weights,
                           uint64_t panel, int64_t k, int64_t lanes) {
    const tpu::CoreLimits& limits = l_.target_.limits;
    const auto size = tpu::size_of(weights.type);
    const int64_t lanes_most = limits.array_rows;
    TpuLayer& layer = l_.layer();
    const ColumnTile& tile = *job.tile;
    const GroupSet& set = sets_[tile.set];
    const int64_t at = k - job.k_begin;
    // A panel holds each tile's columns (or, transposed, rows) one after the other.
    uint64_t address = 0;
    int64_t pitch = 0;
    if (panel != 0) {
        pitch = weights.transposed ? job.k_count : tile.columns;
        address =
            panel - 1 +
            static_cast<uint64_t>(job.element + (weights.transposed ? at : at * tile.columns)) *
                size;
    } else {
        pitch = weights.pitch != 0 ? weights.pitch : set.columns;
        address =
            weights.address +
            static_cast<uint64_t>(set.weights + (weights.transposed ? tile.first * pitch + k
                                                                    : k * pitch + tile.first)) *
                size;
    }
    l_.emit(Opcode::kReadWeights,
            {{Field::kUnit, job.unit},
             {Field::kFrom, panel != 0 || weights.space == tpu::Space::kUnifiedBuffer
                                ? tpu::WeightSource::kUnifiedBuffer
                                : tpu::WeightSource::kMemory},
             {Field::kAddress, address},
             {Field::kPitch, static_cast<uint64_t>(pitch) * size},
             {Field::kLanes, lanes},
             {Field::kColumns, tile.columns},
             {Field::kTransposed, weights.transposed},
             {Field::kWeightType, weights.type}});
    ++layer.weight_tiles;
    layer.lane_use += static_cast<double>(lanes) / static_cast<double>(lanes_most);
    layer.column_use +=
        static_cast<double>(tile.columns) / static_cast<double>(limits.array_columns);
    if (!conv_) {
        multiply(tpu::Instruction(
            Opcode::kMatrixMultiply,
            {{Field::kUnit, job.unit},
             {Field::kSource, block.source.address +
                                  static_cast<uint64_t>(job.first) * block.source.pitch +
                                  static_cast<uint64_t>(at) * tpu::size_of(block.source.type)},
             {Field::kPitch, block.source.pitch},
             {Field::kRows, job.rows},
             {Field::kLanes, lanes},
             {Field::kColumns, tile.columns},
             {Field::kAccumulator, job.accumulator},
             {Field::kAccumulate, k != 0},
             {Field::kSwitchWeights, true},
             {Field::kType, block.source.type},
             {Field::kWeightType, weights.type}}));
        return;
    }
    const Window& w = conv_->window;
    const auto bytes = tpu::size_of(block.source.type);
    multiply(tpu::Instruction(
        Opcode::kConvolve,
        {{Field::kUnit, job.unit},
         {Field::kSource, block.source.address + static_cast<uint64_t>(set.first_channel) * bytes},
         {Field::kPixelPitch, static_cast<uint64_t>(conv_->channels) * bytes},
         {Field::kRows, job.rows},
         {Field::kLanes, lanes},
         {Field::kColumns, tile.columns},
         {Field::kAccumulator, job.accumulator},
         {Field::kAccumulate, k != 0},
         {Field::kSwitchWeights, true},
         {Field::kType, block.source.type},
         {Field::kWeightType, weights.type},
         {Field::kFirstRow, block.first_row + job.first},
         {Field::kFirstLane, k},
         {Field::kHeight, block.height},
         {Field::kWidth, conv_->width},
         {Field::kChannels, set.channels},
         {Field::kOutHeight, block.out_height},
         {Field::kOutWidth, conv_->out_width()},
         {Field::kKernelHeight, w.kernel[0]},
         {Field::kKernelWidth, w.kernel[1]},
         {Field::kStrideHeight, w.stride[0]},
         {Field::kStrideWidth, w.stride[1]},
         {Field::kPadTop, block.pad_top},
         {Field::kPadLeft, w.pad_begin[1]},
         {Field::kDilationHeight, w.dilation[0]},
         {Field::kDilationWidth, w.dilation[1]},
         {Field::kPadValue, integer_ ? input_zero_ : 0}}));
}

void ProductLowering::multiply(tpu::Instruction instruction) {
    if (input_) {
        l_.builder_.wait_for_writes(instruction, input_->space, input_->begin, input_->end);
        input_.reset();
    }
    l_.builder_.emit(std::move(instruction));
}

void ProductLowering::finish(const Job& job, uint64_t parameters, const Tile& out,
                             const Tile* addend, const Block* pooled) {
    const ColumnTile& tile = *job.tile;
    const int64_t words = (epilogue_.has_bias ? 1 : 0) + (epilogue_.scales.empty() ? 0 : 1);
    tpu::Instruction activate(
        Opcode::kActivate,
        {{Field::kAccumulator, job.accumulator},
         {Field::kAccumulatorType, integer_ ? tpu::DataType::kInt32 : tpu::DataType::kFp32},
         {Field::kRows, job.rows},
         {Field::kColumns, tile.columns},
         {Field::kDestination, out.address + static_cast<uint64_t>(job.first) * out.pitch +
                                   static_cast<uint64_t>(job.column) * tpu::size_of(out.type)},
         {Field::kPitch, out.pitch},
         {Field::kType, out.type},
         {Field::kFunction, epilogue_.function},
         {Field::kParameters, parameters + static_cast<uint64_t>(job.column * words * 4)},
         {Field::kHasBias, epilogue_.has_bias},
         {Field::kHasScales, !epilogue_.scales.empty()},
         {Field::kScale, epilogue_.scale},
         {Field::kOutScale, 1.0f},
         {Field::kZeroPoint, integer_ ? epilogue_.out.zero : 0}});
    if (addend != nullptr) {
        activate.set(Field::kHasAddend, true);
        activate.set(Field::kAddend,
                     addend->address + static_cast<uint64_t>(job.first) * addend->pitch +
                         static_cast<uint64_t>(job.column) * tpu::size_of(addend->type));
        activate.set(Field::kAddendPitch, addend->pitch);
        activate.set(Field::kAddendType, addend->type);
        activate.set(Field::kAddendScale, 1.0f);
    }
    if (pooled != nullptr) pool_on_the_way(*pooled, activate);
    l_.builder_.emit(activate);
}

int64_t ProductLowering::run_of(const GroupSet& set) const {
    // Generation 1 makes rows of the window's elements as they stream. Later ones have no such
    // setup: lanes are channels, each tap of the window is a pass of its own.
    return conv_ && l_.has_memory() && sets_.size() == 1 ? set.channels : set.k;
}

void ProductLowering::compute(const Block& block, std::span<const ColumnTile> tiles,
                              const Weights& weights, uint64_t panel, uint64_t parameters,
                              const Tile& out, const Tile* addend, size_t first_tile) {
    const tpu::CoreLimits& limits = l_.target_.limits;
    l_.check_held(block.source);
    int64_t column = 0, element = 0;  // of the panel
    // The matrix units share the columns; independent products go to them in turn.
    if (l_.layer().products <= 1) l_.next_unit_ = static_cast<uint32_t>(first_tile);
    if (block.rows > int64_t{limits.accumulator_rows})
        throw InputError(fmt::format("a line of {} pixels; there are {} accumulators", block.rows,
                                     limits.accumulator_rows));
    // As many columns at once as there are units, and accumulators for the rows.
    const size_t together = std::clamp<size_t>(
        limits.accumulator_rows / static_cast<size_t>(block.rows), 1, limits.matrix_units);
    for (size_t first = 0; first < tiles.size(); first += together) {
        const size_t count = std::min(together, tiles.size() - first);
        // Where there are fewer columns than units for them, units share the rows.
        const bool is_full = tiles[first].columns == int64_t{limits.array_columns} &&
                             run_of(sets_[tiles[first].set]) >= int64_t{limits.array_rows};
        const int64_t shares =
            l_.layer().products > 1 || !is_full || epilogue_.pool
                ? 1
                : std::clamp<int64_t>(block.rows / limits.array_rows, 1,
                                      static_cast<int64_t>(limits.matrix_units / count));
        const int64_t share = (block.rows + shares - 1) / shares;
        std::vector<Job> jobs;
        for (const ColumnTile& tile : tiles.subspan(first, count)) {
            for (int64_t row = 0; row < block.rows; row += share) {
                const int64_t rows = std::min(share, block.rows - row);
                if (l_.accumulator_ + static_cast<uint64_t>(rows) > limits.accumulator_rows)
                    l_.accumulator_ = 0;
                jobs.push_back({.tile = &tile,
                                .unit = l_.next_unit_++ % limits.matrix_units,
                                .accumulator = l_.accumulator_,
                                .column = column,
                                .element = element,
                                .first = row,
                                .rows = rows,
                                .k_count = sets_[tile.set].k});
                l_.accumulator_ += static_cast<uint64_t>(rows);
            }
            column += tile.columns;
            element += sets_[tile.set].k * tile.columns;
        }
        // Pass by pass in turn, so that no unit waits behind another's weights.
        for (bool any = true; any;) {
            any = false;
            for (Job& job : jobs) {
                const GroupSet& set = sets_[job.tile->set];
                if (job.k == set.k) continue;
                const int64_t run = run_of(set);
                const int64_t lanes = std::min<int64_t>(limits.array_rows, run - job.k % run);
                pass(block, job, weights, panel, job.k, lanes);
                job.k += lanes;
                any = true;
            }
        }
        for (const Job& job : jobs)
            finish(job, parameters, out, addend, epilogue_.pool ? &block : nullptr);
    }
}

}  // namespace lockstep::network::lowering
