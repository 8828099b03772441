// SPDX-License-Identifier: Apache-2.0
// A TPU core with its memory and host link: runs a program.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "isa/tpu/program.h"
#include "isa/tpu/semantics/storage.h"
#include "models/tpu/parameters.h"
#include "sim/stats/statistics.h"

namespace lockstep::trace {
class Trace;
}

namespace lockstep::tpu {

struct StepResult {
    std::string name;
    std::uint64_t instructions = 0;
    std::uint64_t cycles = 0;       ///< from the end of the step before to the end of this one
    std::uint64_t macs = 0;         ///< on the array, as the instructions map them
    std::uint64_t useful_macs = 0;  ///< those the program's step says; macs where it does not
    // Cycles summed over the matrix units; the four add up to cycles x units.
    std::uint64_t active = 0, weight_stall = 0, weight_shift = 0, non_matrix = 0;
    std::uint64_t active_others = 0;               ///< in active: streams of other steps
    std::uint64_t active_elsewhere = 0;            ///< its own streams in the cycles of other steps
    std::uint64_t raw_stall = 0, input_stall = 0;  ///< beside them: waits of the next instruction
    std::uint64_t issue_stall = 0;   ///< likewise: while the next instruction was issued
    std::uint64_t idle_units = 0;    ///< likewise: what arrays had less to do than the busiest
    std::uint64_t bank_stall = 0;    ///< of the arrays, in non_matrix
    std::uint64_t window_stall = 0;  ///< likewise: while rows of windows were made
    std::uint64_t vector_bank_stall = 0, dma_bank_stall = 0;
    std::uint64_t buffer_accesses = 0;  ///< lines of the unified buffer, read and written
    std::uint64_t vector_busy = 0, weight_tiles = 0;
    std::uint64_t dram_bytes_read = 0, dram_bytes_written = 0;
    std::uint64_t host_bytes_read = 0, host_bytes_written = 0;
    // Elements that enter the arrays; sums that accumulators take, and add to.
    std::uint64_t input_reads = 0, weight_reads = 0, sums_written = 0, sums_read = 0;
    std::uint64_t host_busy = 0;  ///< cycles in which the host worked on its tasks

    /// Adds all but the name.
    void add(const StepResult& other);
    /// Of its useful products, the share that was computed in its own cycles.
    double share_within() const;
    /// In the order and under the names of --stats.
    std::vector<std::pair<std::string, stats::Value>> metrics(const Parameters& parameters) const;
};

struct RunResult {
    std::uint64_t cycles = 0, instructions = 0;
    double seconds = 0;  ///< simulated
    std::vector<StepResult> steps;
    std::vector<std::uint32_t> interrupts;
    StepResult total() const;
};

struct RunOptions {
    bool values = true;  ///< false: only time; storage needs no contents
    unsigned threads = 1;
    trace::Trace* trace = nullptr;  ///< one that shows tracks, or null
    /// Does a host task of the program (State::host). A program that has some cannot be run with
    /// values without it.
    std::function<void(std::uint32_t)> host = {};
    /// Told, with values, after each instruction how many of the program's are done.
    std::function<void(std::uint64_t)> progress = {};
};

/// Throws InputError where the program has host tasks and nobody does them.
void check_driver(const Program& program, bool has_driver);

/// Runs `program` on a core; inputs are what `storage` holds, results are left there. Throws
/// InputError where the program is for another generation or its buffers do not fit the memory,
/// ProgramFault where it does what the core does not allow.
RunResult run(const Program& program, const Parameters& parameters, Storage& storage,
              const RunOptions& options = {});

}  // namespace lockstep::tpu
