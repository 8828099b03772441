// SPDX-License-Identifier: Apache-2.0
// Steps of which not even one row fits the SRAM are cut in width: into two that make the columns of
// the left and of the right half.
#pragma once

#include <optional>
#include <utility>

#include "workloads/network/npu/step.h"

namespace lockstep::network::npu_code {

/// Nothing where the step's columns cannot be cut: one is left, or it sees all of a row.
std::optional<std::pair<Step, Step>> cut_in_width(const Step& step);

}  // namespace lockstep::network::npu_code
