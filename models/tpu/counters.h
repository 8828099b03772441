// SPDX-License-Identifier: Apache-2.0
// What a run counts for each step of its program. A counter is a member here and a row in
// counters.cpp, which sums, names and documents it.
#pragma once

#include "models/command/counter_rows.h"

namespace lockstep::tpu {

struct Parameters;

/// Counted by the core as it goes.
struct StepCounters {
    std::uint64_t instructions = 0;
    std::uint64_t macs = 0;  ///< on the array, as the instructions map them
    // Beside the states of the arrays, cycles over all of them.
    std::uint64_t raw_stall = 0, input_stall = 0, issue_stall = 0, window_stall = 0;
    std::uint64_t bank_stall = 0, vector_bank_stall = 0, dma_bank_stall = 0;
    std::uint64_t vector_busy = 0, host_busy = 0;
    std::uint64_t weight_tiles = 0;
    std::uint64_t dram_bytes_read = 0, dram_bytes_written = 0;
    std::uint64_t host_bytes_read = 0, host_bytes_written = 0;
    std::uint64_t input_reads = 0, weight_reads = 0, sums_written = 0, sums_read = 0;

    // What the results below are cut from.
    std::uint64_t end = 0;       ///< cycle at which its last instruction completed
    std::uint64_t streamed = 0;  ///< cycles in which its matrix instructions stream, whenever it is
    double buffer_lines = 0;     ///< of the unified buffer, read and written
};

/// A step's counters, and what is cut out of the whole run for it.
struct StepResult : StepCounters {
    std::string name;
    std::uint64_t cycles = 0;
    std::uint64_t useful_macs = 0;  ///< those the program's step says; macs where it does not
    // Cycles summed over the matrix units; the four add up to cycles x units.
    std::uint64_t active = 0, weight_stall = 0, weight_shift = 0, non_matrix = 0;
    std::uint64_t active_others = 0, active_elsewhere = 0, idle_units = 0;
    std::uint64_t buffer_accesses = 0;

    /// Adds all counters.
    void add(const StepResult& other);
    /// Of its useful products, the share that was computed in its own cycles.
    double share_within() const;
    /// In the order and under the names of --stats.
    std::vector<std::pair<std::string, stats::Value>> metrics(const Parameters& parameters) const;
};

using CounterRow = command::CounterRow<StepResult, Parameters>;

/// In the order of --stats.
std::span<const CounterRow> counter_rows();

/// A page on them, Markdown (metrics.md).
std::string metrics_page();

}  // namespace lockstep::tpu
