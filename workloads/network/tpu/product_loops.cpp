// SPDX-License-Identifier: Apache-2.0
// The loops around the passes of a block, by what the array holds. Weights (ws): a tile serves all
// rows of the block; sums over k are added up in the accumulators. Sums (os): as many rows as the
// array has stay in it over the whole of k, and leave once; weights stream once for each of these
// pieces. Inputs (is): a piece of as many rows as the array has columns serves the weights of all
// columns; sums are added up in accumulators, transposed. (The taxonomy: Chen et al., ISCA 2016;
// Samajdar et al., ISPASS 2020.) Matrix units share columns, or rows.
#include <algorithm>

#include "sim/error/error.h"
#include "sim/numerics/integer.h"
#include "workloads/network/graph/given.h"
#include "workloads/network/tpu/product.h"

namespace lockstep::network::lowering {

using numerics::divide_up;

std::int64_t ProductLowering::rows_held(std::int64_t block_rows) const {
    const tpu::CoreLimits& limits = c_.target.limits;
    switch (limits.dataflow) {
        case tpu::Dataflow::kWeightStationary:
            return block_rows;
        case tpu::Dataflow::kOutputStationary:
            return limits.array_rows;
        case tpu::Dataflow::kInputStationary:
            return limits.array_columns;
    }
    internal_error(__FILE__, __LINE__, "no such dataflow");
}

void ProductLowering::make_room(std::size_t rows) {
    const std::uint64_t all = c_.target.limits.accumulator_rows, half = all / 2;
    LOCKSTEP_CHECK(rows <= all, "{} accumulators at once", rows);
    // In one half, so that nobody waits for what has just been computed to leave the other.
    if (rows <= half && c_.next_accumulator < half && c_.next_accumulator + rows > half)
        c_.next_accumulator = half;
    if (c_.next_accumulator + rows > all) c_.next_accumulator = 0;
}

std::uint64_t ProductLowering::accumulators(std::int64_t rows) {
    c_.next_accumulator += static_cast<std::uint64_t>(rows);
    LOCKSTEP_CHECK(c_.next_accumulator <= c_.target.limits.accumulator_rows, "no room was made");
    return c_.next_accumulator - static_cast<std::uint64_t>(rows);
}

std::vector<ProductLowering::Job> ProductLowering::jobs_of(const Passes& p, std::size_t first,
                                                           std::size_t count, std::int64_t& column,
                                                           std::int64_t& element) const {
    std::vector<Job> jobs;
    for (const ColumnTile& tile : p.tiles.subspan(first, count)) {
        const std::int64_t k = sets_[tile.set].k;
        jobs.push_back({.tile = &tile,
                        .unit = 0,
                        .accumulator = 0,
                        .column = column,
                        .element = element,
                        .first = 0,
                        .rows = p.block.rows,
                        .k_count = k});
        column += tile.columns;
        element += k * tile.columns;
    }
    return jobs;
}

bool ProductLowering::pass_each(const Passes& p, std::span<Job> jobs, bool switch_inputs) {
    bool any = false;
    for (Job& job : jobs) {
        const GroupSet& set = sets_[job.tile->set];
        if (job.k == set.k) continue;
        const std::int64_t run = run_of(set);
        const std::int64_t lanes =
            std::min<std::int64_t>(c_.target.limits.array_rows, run - job.k % run);
        pass(p.block, job, p.weights, p.panel, job.k, lanes, switch_inputs);
        job.k += lanes;
        any = true;
    }
    return any;
}

std::int64_t ProductLowering::run_of(const GroupSet& set) const {
    // Generation 1 makes rows of the window's elements as they stream. Later ones have no such
    // setup: lanes are channels, each tap of the window is a pass of its own; but of groups of few
    // channels, whose rows are packed in any case, and of filters' gradients, whose channels are
    // the batch and whose windows are the images: XLA moves pixels into a small batch there
    // (space_to_batch_converter.cc, PropagateOnBackpropFilterConv).
    if (!conv_ || !c_.has_memory()) return set.k;
    const SlidingWindow& w = conv_->window;
    const bool is_gradient = w.kernel[0] * w.kernel[1] > w.output[0] * w.output[1] &&
                             !is_given(c_.value(node_.inputs[1]));
    const bool by_taps = (w.group == 1 && !is_gradient) ||
                         !tpu::share_registers(static_cast<std::uint64_t>(set.channels),
                                               c_.target.speed.vector_lanes);
    return by_taps ? set.channels : set.k;
}

void ProductLowering::compute(const Block& block, std::span<const ColumnTile> tiles,
                              const Weights& weights, std::optional<std::uint64_t> panel,
                              std::uint64_t parameters, const BufferRows& out,
                              const BufferRows* addend, std::size_t first_tile) {
    const tpu::CoreLimits& limits = c_.target.limits;
    c_.staging.check_held(block.source);
    const Passes passes{block, tiles, weights, panel, parameters, out, addend};
    // The matrix units share the columns; independent products go to them in turn.
    if (c_.steps.layer().products <= 1) c_.next_unit = static_cast<std::uint32_t>(first_tile);
    if (limits.dataflow == tpu::Dataflow::kInputStationary) return hold_inputs(passes);
    if (block.rows > std::int64_t{limits.accumulator_rows})
        throw compile::Refusal(fmt::format("a line of {} pixels; there are {} accumulators",
                                           block.rows, limits.accumulator_rows));
    if (limits.dataflow == tpu::Dataflow::kOutputStationary) return hold_sums(passes);
    hold_weights(passes);
}

void ProductLowering::hold_weights(const Passes& p) {
    const tpu::CoreLimits& limits = c_.target.limits;
    const std::int64_t block_rows = p.block.rows;
    std::int64_t column = 0, element = 0;  // of the panel
    // As many columns at once as there are units, and accumulators for the rows.
    const std::size_t together = std::clamp<std::size_t>(
        limits.accumulator_rows / static_cast<std::size_t>(block_rows), 1, limits.matrix_units);
    for (std::size_t first = 0; first < p.tiles.size(); first += together) {
        const std::size_t count = std::min(together, p.tiles.size() - first);
        // Where there are fewer columns than units for them, units share the rows, as long as a
        // share takes less time, which is at least a tile's shift.
        const std::int64_t shares =
            (c_.steps.layer().products > 1 && !c_.has_memory()) || epilogue_.pool
                ? 1
                : std::clamp<std::int64_t>(divide_up(block_rows, limits.array_rows), 1,
                                           static_cast<std::int64_t>(limits.matrix_units / count));
        const std::int64_t share = divide_up(block_rows, shares);
        make_room(count * static_cast<std::size_t>(block_rows));
        std::vector<Job> jobs;
        for (Job job : jobs_of(p, first, count, column, element))
            for (job.first = 0; job.first < block_rows; job.first += share) {
                job.rows = std::min(share, block_rows - job.first);
                job.unit = next_unit();
                job.accumulator = accumulators(job.rows);
                jobs.push_back(job);
            }
        // Pass by pass in turn, so that no unit waits behind another's weights.
        while (pass_each(p, jobs)) {
        }
        if (holds_results_) c_.builder.hold(part_);
        for (const Job& job : jobs)
            finish(job, p.parameters, p.out, p.addend, epilogue_.pool ? &p.block : nullptr);
        c_.builder.stop_holding();
    }
}

void ProductLowering::hold_sums(const Passes& p) {
    const tpu::CoreLimits& limits = c_.target.limits;
    const std::int64_t block_rows = p.block.rows, piece = rows_held(block_rows);
    std::int64_t column = 0, element = 0;  // of the panel
    const std::size_t together = std::clamp<std::size_t>(
        limits.accumulator_rows / static_cast<std::size_t>(block_rows), 1, limits.matrix_units);
    for (std::size_t first = 0; first < p.tiles.size(); first += together) {
        const std::size_t count = std::min(together, p.tiles.size() - first);
        make_room(count * static_cast<std::size_t>(block_rows));
        std::vector<Job> whole = jobs_of(p, first, count, column, element), jobs;
        for (Job& job : whole) job.accumulator = accumulators(block_rows);
        for (std::int64_t row = 0; row < block_rows; row += piece)
            for (Job job : whole) {
                job.unit = next_unit();
                job.accumulator += static_cast<std::uint64_t>(row);
                job.first = row;
                job.rows = std::min(piece, block_rows - row);
                jobs.push_back(job);
            }
        // The units' jobs pass by pass in turn; a unit ends one before it begins the next.
        for (std::size_t begin = 0; begin < jobs.size(); begin += limits.matrix_units) {
            const std::size_t jobs_together =
                std::min<std::size_t>(limits.matrix_units, jobs.size() - begin);
            while (pass_each(p, std::span(jobs).subspan(begin, jobs_together))) {
            }
        }
        for (const Job& job : whole)
            finish(job, p.parameters, p.out, p.addend, epilogue_.pool ? &p.block : nullptr);
    }
}

void ProductLowering::hold_inputs(const Passes& p) {
    const tpu::CoreLimits& limits = c_.target.limits;
    const std::int64_t block_rows = p.block.rows, piece = rows_held(block_rows);
    const auto pieces = static_cast<std::size_t>(divide_up(block_rows, piece));
    // Columns of a set that held rows serve before they are exchanged: as many as half of the
    // accumulators have rows for, less where units would have nothing to do.
    const std::size_t shares = divide_up(limits.matrix_units, pieces);
    const std::size_t most = std::clamp<std::size_t>(
        divide_up(p.tiles.size(), shares), 1,
        std::max<std::size_t>(
            1, limits.accumulator_rows / 2 / limits.matrix_units / limits.array_columns));
    const std::size_t room = most * limits.array_columns;
    const auto together =
        std::clamp<std::size_t>(limits.accumulator_rows / room, 1, limits.matrix_units);
    std::int64_t column = 0, element = 0;   // of the panel
    std::vector<std::vector<Job>> pending;  // of each unit's piece, a job a tile
    const auto run = [&] {
        for (bool any = true; any;) {
            any = false;
            for (std::size_t tile = 0; tile < most; ++tile)
                for (std::vector<Job>& jobs : pending)
                    if (tile < jobs.size())
                        any |= pass_each(p, std::span(jobs).subspan(tile, 1), tile == 0);
        }
        for (const std::vector<Job>& jobs : pending)
            for (const Job& job : jobs) finish(job, p.parameters, p.out, p.addend);
        pending.clear();
    };
    for (std::size_t first = 0, end = 0; first < p.tiles.size(); first = end) {
        const auto belongs = [&](std::size_t tile) {
            return tile < p.tiles.size() && p.tiles[tile].set == p.tiles[first].set;
        };
        for (end = first + 1; end - first < most && belongs(end);) ++end;
        std::vector<Job> group = jobs_of(p, first, end - first, column, element);
        for (std::int64_t row = 0; row < block_rows; row += piece) {
            if (pending.empty()) make_room(together * room);
            const std::uint32_t unit = next_unit();
            for (Job& job : group) {
                job.unit = unit;
                job.accumulator = accumulators(job.tile->columns);
                job.first = row;
                job.rows = std::min(piece, block_rows - row);
            }
            pending.push_back(group);
            if (pending.size() == together) run();
        }
    }
    run();
}

}  // namespace lockstep::network::lowering
