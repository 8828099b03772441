// SPDX-License-Identifier: Apache-2.0
// How a run is configured: what `lockstep run` hands to the runtime library inside of the program
// that it starts, as environment variables.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace lockstep::cuda {

struct RunOptions {
    std::string machine = "h200";        ///< LOCKSTEP_MACHINE: name or .yaml path
    std::string mode = "cycle";          ///< LOCKSTEP_MODE: cycle or emulate
    std::vector<std::string> overrides;  ///< LOCKSTEP_SET: path=value, one a line
    unsigned threads = 1;                ///< LOCKSTEP_THREADS
    std::uint64_t seed = 0;              ///< LOCKSTEP_SEED
    std::uint64_t max_instructions = 0;  ///< LOCKSTEP_MAX_INSTRUCTIONS: per launch; 0: no limit
    std::string stats_file;              ///< LOCKSTEP_STATS: .json or .csv; empty: none
    std::string bounds = "exact";        ///< LOCKSTEP_BOUNDS: exact, or page as the hardware checks
    bool sample = false;                 ///< LOCKSTEP_SAMPLE: 1: estimate the time of launches
    std::string l2 = "cold";             ///< LOCKSTEP_L2: cold or warm when a kernel begins
    std::string kernel;                  ///< LOCKSTEP_KERNEL: only these are simulated; empty: all
    std::uint64_t launch_skip = 0;       ///< LOCKSTEP_LAUNCH_SKIP: of them, emulated first
    std::uint64_t launch_count = ~0ull;  ///< LOCKSTEP_LAUNCH_COUNT: of them, simulated then
    std::string trace_file;              ///< LOCKSTEP_TRACE; empty: none
    std::string trace_window;            ///< LOCKSTEP_TRACE_WINDOW: FROM:TO, cycles; empty: all
    std::string trace_sms;               ///< LOCKSTEP_TRACE_SMS: N or FIRST-LAST; empty: SM 0
    std::string checks;                  ///< LOCKSTEP_CHECK: race,init,sync; empty: none
    bool energy = false;                 ///< LOCKSTEP_ENERGY: 1
    std::string workload;                ///< LOCKSTEP_WORKLOAD: what the statistics call the run
    std::vector<std::string> options;    ///< LOCKSTEP_OPTIONS: what else was given, one a line
    std::string screen_file;             ///< LOCKSTEP_SCREEN: the report; empty: standard error
    bool source = false;                 ///< LOCKSTEP_SOURCE: 1: count by instruction
    bool quiet = false;                  ///< LOCKSTEP_QUIET: 1

    /// What the environment says; absent variables keep the defaults above. Throws InputError on a
    /// value that is malformed.
    static RunOptions from_environment();

    /// The variables that from_environment() reads back as this.
    std::vector<std::pair<std::string, std::string>> to_environment() const;
};

}  // namespace lockstep::cuda
