// SPDX-License-Identifier: Apache-2.0
// Two runs side by side: by step and metric.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workloads/report/run_file.h"

namespace lockstep::report {

struct MetricPair {
    std::string name;
    std::optional<double> a, b;  ///< of one run alone: nothing in the other
    /// How far b is from a: the logarithm of their ratio, without its sign; infinite where one is
    /// 0 or not there.
    double distance() const;
};

struct StepPair {
    std::string name;
    const Step* a = nullptr;  ///< null: only the other run has it
    const Step* b = nullptr;
    std::vector<MetricPair> metrics;  ///< a's in its order, then those of b alone
};

/// Steps are paired by name, the first of a name with the first.
std::vector<StepPair> pair_steps(const RunFile& a, const RunFile& b);

/// For a terminal: totals, then for each step what differs most. `most`: metrics of a step; 0: all.
std::string diff_text(const RunFile& a, const RunFile& b, std::size_t most);
/// A page that needs nothing else, with all metrics.
std::string diff_page(const RunFile& a, const RunFile& b);

}  // namespace lockstep::report
