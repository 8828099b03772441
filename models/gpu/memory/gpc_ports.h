// SPDX-License-Identifier: Apache-2.0
// What the GPCs can receive from a memory partition. The SMs of a GPC share its way from the
// crossbar; of its width each partition has the part that its slices and the SMs near them are.
#pragma once

#include <bit>
#include <vector>

#include "models/gpu/memory/crossbar_port.h"
#include "models/gpu/memory/memory_parameters.h"

namespace lockstep::gpu {

/// Data that a reply brings.
inline std::uint32_t bytes_of(const MemoryReply& reply) {
    const bool has_data = reply.kind == RequestKind::kRead || reply.kind == RequestKind::kAtomic;
    return has_data ? static_cast<std::uint32_t>(std::popcount(reply.sectors)) * kSectorBytes : 0;
}

class GpcPorts {
  public:
    GpcPorts() = default;
    /// `shares`: by GPC; `bandwidth`: of a whole one, bytes a cycle.
    GpcPorts(const std::vector<double>& shares, double bandwidth) {
        for (const double share : shares) ports_.push_back({share * bandwidth, {}});
    }

    /// A reply that leaves at a cycle enters the GPC from the cycle that is returned on, and holds
    /// its port for so many bytes. Cycles of calls do not decrease.
    engine::Cycle pass(engine::Cycle at, std::uint8_t gpc, std::uint32_t bytes) {
        if (gpc >= ports_.size()) return at;
        return ports_[gpc].way.occupy(at, service(bytes, ports_[gpc].bandwidth));
    }

  private:
    struct Port {
        double bandwidth = 0;
        Server way;
    };
    std::vector<Port> ports_;
};

}  // namespace lockstep::gpu
