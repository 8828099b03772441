// SPDX-License-Identifier: Apache-2.0
// How a counter of several kernels, or of the work that a program has more than a shorter one,
// follows from those of each kernel.
#pragma once

#include <span>
#include <string_view>

#include "validation/compare/silicon_programs.h"

namespace lockstep::validation {

/// Counts (`.sum`) are added, and the difference is taken times `scale`; averages, percentages and
/// ratios weigh with what they are averages over (cycles, instructions, sectors: another metric of
/// the kernel). Throws InternalError for a metric that kernels do not have, or without a rule.
double counter_of(std::string_view metric, std::span<const KernelMetrics> all,
                  std::span<const KernelMetrics> less, double scale);

/// What its average is over; empty for counts.
std::string_view weight_of(std::string_view metric);

/// Its error is a difference in points.
bool is_percentage(std::string_view metric);

}  // namespace lockstep::validation
