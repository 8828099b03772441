// SPDX-License-Identifier: Apache-2.0
// What a run counts for each step of its program. A counter is a member here and a row in
// counters.cpp, which sums, names and documents it.
#pragma once

#include "models/command/counter_rows.h"

namespace lockstep::npu {

struct Parameters;

/// Counted as instructions are issued and done.
struct StepCounters {
    std::uint64_t instructions = 0;
    std::uint64_t macs = 0;                            ///< as the instructions say, padding counted
    std::uint64_t macs_8 = 0, macs_4 = 0, macs_2 = 0;  ///< that the arrays form, by width

    // Cycles, summed over the cores.
    std::uint64_t array_active = 0, decode_stall = 0, output_stall = 0, bank_stall = 0;
    std::uint64_t dma_stall = 0, core_stall = 0, issue_stall = 0, output_busy = 0;
    std::uint64_t core_busy = 0, dma_bank_stall = 0, host_busy = 0;

    // Bytes.
    std::uint64_t dram_bytes_read = 0, dram_bytes_written = 0;
    std::uint64_t sram_bytes_read = 0, sram_bytes_written = 0;
    std::uint64_t input_bytes = 0, weight_bytes = 0, output_bytes = 0;
    std::uint64_t dram_reads = 0, dram_writes = 0, dram_activates = 0;

    // Events of registers and units.
    std::uint64_t decoded_weights = 0, accumulator_updates = 0, output_values = 0;
    std::uint64_t toggled_bits = 0, stored_bits = 0;

    std::uint64_t end = 0;  ///< cycle at which its last instruction completed
};

/// A step's counters, and what follows from the whole run.
struct StepResult : StepCounters {
    std::string name;
    std::uint64_t cycles = 0;
    std::uint64_t useful_macs = 0;  ///< those the program's step says; macs where it does not
    std::uint64_t gated = 0, idle = 0, refreshes = 0;

    /// Adds all counters.
    void add(const StepResult& other);
    /// In the order and under the names of --stats.
    std::vector<std::pair<std::string, stats::Value>> metrics(const Parameters& parameters) const;
};

using CounterRow = command::CounterRow<StepResult, Parameters>;

/// In the order of --stats.
std::span<const CounterRow> counter_rows();

/// A page on them, Markdown (metrics.md).
std::string metrics_page();

}  // namespace lockstep::npu
