// SPDX-License-Identifier: Apache-2.0
// Constant operands: a small cache in each sub-core for fixed-latency instructions, a larger one in
// the SM.
#pragma once

#include "models/gpu/sm/sm_parameters.h"
#include "models/gpu/sm/tag_array.h"

namespace lockstep::gpu {

class L1ConstantCache : public SharedCache {
  public:
    explicit L1ConstantCache(const SmParameters& p)
        : SharedCache(p.constant_l1_bytes, p.constant_line, p.constant_l1_ways,
                      p.constant_l1_miss_latency) {}
};

class L0ConstantCache {
  public:
    L0ConstantCache(const SmParameters& parameters, L1ConstantCache& l1)
        : latency_(parameters.constant_miss_latency),
          l1_(l1),
          tags_(parameters.constant_bytes / parameters.constant_line, parameters.constant_ways) {}
    /// From which cycle on (>= now) the line can be read.
    engine::Cycle request(engine::Cycle now, std::uint32_t line) {
        engine::Cycle ready = tags_.find(line);
        if (ready == engine::kNever) tags_.insert(line, ready = l1_.request(now, line) + latency_);
        return std::max(ready, now);
    }
    void clear() { tags_.clear(); }

  private:
    unsigned latency_;
    L1ConstantCache& l1_;
    TagArray tags_;
};

}  // namespace lockstep::gpu
