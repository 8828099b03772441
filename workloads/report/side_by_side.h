// SPDX-License-Identifier: Apache-2.0
// One workload on several machines: a line a machine.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "models/data_sheet/data_sheet.h"
#include "sim/config/machine.h"
#include "workloads/report/run_file.h"

namespace lockstep::report {

/// A run in a line. What the run does not tell is not there.
struct MachineLine {
    std::string machine;
    std::string basis;    ///< "simulated", "emulated", "roofline" or "measured"
    std::string failure;  ///< why there is no run; all else is then empty
    std::optional<double> cycles, seconds;
    std::optional<double> rate;         ///< samples a second
    std::optional<double> utilization;  ///< percent; see utilization_of
    std::optional<double> dram_bytes;
    std::optional<double> joules;  ///< a sample
    std::optional<double> error;   ///< relative, root mean square, against the exact result
};

/// `samples`: that one run works on.
MachineLine line_of(const RunFile& run, double samples);

/// Percent of the run's cycles times the machine's most: of arrays the multiply-adds done; of GPUs
/// the busiest part of the SMs (sm__throughput), each step weighted by its cycles.
std::optional<double> utilization_of(const RunFile& run);

/// For a terminal.
std::string side_by_side_text(const std::vector<MachineLine>& lines);

struct MachineRun {
    RunFile run;
    std::shared_ptr<const config::Machine> machine;
};

/// A page: the table, a roofline of all, the time by layer on each.
std::string side_by_side_page(const std::string& workload, const std::vector<MachineLine>& lines,
                              const std::vector<MachineRun>& runs);

}  // namespace lockstep::report
