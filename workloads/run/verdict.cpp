// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/verdict.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::run {

void judge(const std::vector<network::compile::Check>& checks, Outcome& outcome, Screen& screen) {
    std::optional<double> error;
    for (const network::compile::Check& check : checks) {
        outcome.passed &= check.passed;
        if (check.passed)
            screen.print(fmt::format("verified {}: {}\n", check.output, check.message));
        else
            screen.print_always(fmt::format("MISMATCH {}: {}\n", check.output, check.message));
        if (check.error) error = std::max(error.value_or(0), *check.error);
    }
    if (error) outcome.statistics.totals().emplace_back("error.rms", *error);
}

}  // namespace lockstep::run
