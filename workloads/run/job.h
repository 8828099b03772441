// SPDX-License-Identifier: Apache-2.0
// What is run and how, what it shows as it goes, and what came of it: whatever the machine.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/machine.h"
#include "sim/error/error.h"
#include "sim/stats/statistics.h"

namespace lockstep::run {

using MachinePtr = std::shared_ptr<const config::Machine>;
struct TrainJob;       // workloads/run/train/job.h
struct NetworkValues;  // workloads/run/network_values.h

enum class Mode : std::uint8_t { kCycle, kEmulate };
/// "cycle" or "emulate", as options and statistics say it.
std::string_view name_of(Mode mode);

struct Job {
    std::string what;                    ///< a file, or a built-in NAME[:key=value,...]
    std::vector<std::string> arguments;  ///< of an executable
    std::string machine = "h200";        ///< a name, or a .yaml file
    std::vector<std::string> overrides;  ///< path=value
    Mode mode = Mode::kCycle;
    unsigned threads = 1;
    std::uint64_t seed = 0;
    bool verify = false;     ///< compare results with a reference
    bool no_values = false;  ///< only time
    bool quiet = false;
    bool energy = false;       ///< count energy, and show it
    std::string power_cap;     ///< W, or "limit"; empty: none (with energy)
    std::uint64_t top = 0;     ///< steps that are shown: those with most cycles; 0: all
    std::string trace_file;    ///< empty: no trace
    std::string trace_window;  ///< FROM:TO, cycles; empty: all
    /// Written by an executable itself; of all else, the caller has the outcome's. Empty: none.
    std::string stats_file;
    std::string screen_file;  ///< likewise: where the report goes. Empty: standard error

    // GPU.
    std::uint64_t max_instructions = 0;  ///< of a launch; 0: no limit
    std::string bounds = "exact";        ///< or page: what is out of bounds
    std::string checks;                  ///< race,init,sync; empty: none (emulation)
    bool sample = false;                 ///< estimate the time, with error bounds
    std::string l2 = "cold";             ///< or warm, when a kernel begins
    bool source = false;                 ///< count and show by instruction
    std::string trace_sms;               ///< N or FIRST-LAST; empty: SM 0
    /// Which launches are simulated, as models/device.h LaunchFilter; of a cubin, the kernel's
    /// name.
    std::string kernel;
    std::uint64_t launch_skip = 0, launch_count = ~0ull;

    /// How a network's launches come: alone, stream, streams or graph.
    std::string launches = "alone";

    // The kernel of a cubin; buffers of a TPU program take kernel_arguments too.
    std::string grid = "1", block = "1";
    std::vector<std::string> kernel_arguments;
    std::uint32_t dynamic_shared_bytes = 0;

    // TPU.
    bool schedule = false;     ///< show how a network was compiled, and the program
    std::string program_file;  ///< where the program is written; empty: nowhere

    /// How a network is trained; null: it is not.
    std::shared_ptr<const TrainJob> training;

    /// Inputs of a network, and where its outputs go; null: seeded ones, nowhere.
    std::shared_ptr<NetworkValues> values;

    // NPU.
    bool host = false;  ///< what the NPU lacks runs on the host

    // Networks: of a GPU fp32, ...; of an NPU bits of layers, 8, 4, 2, mixed (several: a table).
    // Empty: the machine's default.
    std::string precision;

    /// The options that results depend on, with their values, as "--l2 warm": the statistics say
    /// them.
    std::vector<std::string> options;
    /// Names of the options that the user gave, as "--l2": one that means nothing to what runs is
    /// an error. A caller that sets only what it knows leaves it empty.
    std::vector<std::string> given;
};

/// The cycles of job.trace_window, [from, until). Throws InputError.
struct CycleRange {
    std::uint64_t from = 0, until = ~std::uint64_t{0};
};
CycleRange trace_window(const Job& job);

/// Where a run shows itself as it goes. This one shows nothing.
class Screen {
  public:
    virtual ~Screen() = default;
    /// Part of the report.
    virtual void print(std::string_view) {}
    /// What is shown even where a run is to be quiet: mismatches, and what was asked for by name.
    virtual void print_always(std::string_view) {}
    /// What takes its time: a line that goes away again.
    virtual void progress(std::string_view) {}
    virtual void progress(std::string_view /*unit*/, std::uint64_t /*done*/,
                          std::uint64_t /*total*/) {}
};

struct Outcome {
    stats::Statistics statistics;
    bool passed = true;  ///< what --verify compared; true where nothing was
    bool clean = true;   ///< whether checks of the program (Job::checks) found nothing
    ExitStatus status() const {
        if (!clean) return ExitStatus::kProgramFault;
        return passed ? ExitStatus::kDone : ExitStatus::kMismatch;
    }
};

/// Loads the machine, finds out what job.what is, and runs it on the machine. Throws InputError
/// where either does not exist, the machine does not run such a thing or an option means nothing to
/// it, and what the run throws. An executable replaces this process.
Outcome run(const Job& job, Screen& screen);

}  // namespace lockstep::run
