// SPDX-License-Identifier: Apache-2.0
// The constants of an LDC are looked up when its addresses are known; what misses is announced to
// the memory unit, which the LDC comes to later.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include "models/gpu/sm/constant_cache.h"
#include "models/gpu/sm/memory_unit.h"
#include "models/gpu/sm/warp_context.h"

namespace lockstep::gpu {

class ConstantLoads {
  public:
    ConstantLoads(const SmParameters& parameters, FetchUnit& fetch)
        : parameters_(parameters), cache_(parameters, fetch) {}

    /// The SM was idle; bank 0 begins at an address of device memory.
    void begin_kernel(std::uint64_t constants) {
        cache_.begin_kernel(constants);
        awaited_.clear();
    }
    void hold(engine::Cycle at, std::uint32_t bytes) { cache_.hold(at, bytes); }
    void connect(MemoryUnit& memory) { memory_ = &memory; }

    /// Looks up the constants of an LDC that `context` has issued, from cycle `at` on.
    void request(const StaticInstruction& in, const WarpContext& context, MemoryInstruction& entry,
                 engine::Cycle at);
    /// A line has come from the GPC's cache.
    void arrived(std::uint32_t line, engine::Cycle now);

  private:
    const SmParameters& parameters_;
    ConstantCache cache_;
    /// Lines that LDCs wait for, and the numbers by which the memory unit knows of them.
    std::vector<std::pair<std::uint32_t, std::uint16_t>> awaited_;
    MemoryUnit* memory_ = nullptr;
};

}  // namespace lockstep::gpu
