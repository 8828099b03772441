// SPDX-License-Identifier: Apache-2.0
// A step that the host does: its task, and what it costs.
#pragma once

#include "workloads/network/npu/buffers.h"

namespace lockstep::network::npu_code {

void add_host_step(const Graph& graph, const Plan& plan, const Step& step, Buffers& buffers,
                   isa::ProgramBuilder& builder, NpuCompiled& result);

}  // namespace lockstep::network::npu_code
