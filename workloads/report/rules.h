// SPDX-License-Identifier: Apache-2.0
// What to do next about a kernel, with what it could gain, as Nsight Compute's rules say it.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/machine.h"
#include "workloads/report/run_file.h"

namespace lockstep::report {

/// What a rule found.
struct Advice {
    std::string_view rule;  ///< "bank conflicts"
    double gain = 0;        ///< estimate of the share of the kernel's time that could go, 0 to 1
    std::string text;       ///< what is the matter and what to do
};

/// Advice on a simulated launch, that with the largest gain first; nothing on other steps.
std::vector<Advice> advice_on(const Step& step, const config::Machine& machine);

/// Names of all rules, in the order in which they are asked.
std::vector<std::string_view> rule_names();

}  // namespace lockstep::report
