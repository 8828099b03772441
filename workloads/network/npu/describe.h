// SPDX-License-Identifier: Apache-2.0
// What a group comes to, for `--schedule` and the explanation of a run.
#pragma once

#include "workloads/network/npu/compile.h"
#include "workloads/network/npu/plan.h"

namespace lockstep::network::npu_code {

/// Shapes, what stays in the SRAM, bits, and how much of the array's lanes and outputs the group's
/// products use.
void describe(const std::vector<Step>& steps, const Plan& plan, const NpuTarget& target,
              const Group& group, NpuLayer& layer);

}  // namespace lockstep::network::npu_code
