// SPDX-License-Identifier: Apache-2.0
// The host of a TPU of generation 1.
#pragma once

#include "isa/tpu/program.h"
#include "workloads/network/compile/host.h"
#include "workloads/network/tpu/compile.h"

namespace lockstep::network {

/// Does the host tasks of a network that was compiled for a TPU; all three must outlive it.
class HostDriver : public compile::HostDriver {
  public:
    HostDriver(const Graph& graph, const TpuCompiled& compiled, tpu::Storage& storage)
        : compile::HostDriver(graph, compiled.host_tasks, requantisation_of(compiled.fixed_point),
                              [&storage](std::uint32_t b) { return storage.contents(b); }) {}
};

}  // namespace lockstep::network
