// SPDX-License-Identifier: Apache-2.0
// Constant operands: a small cache in each sub-core for fixed-latency instructions, one more in the
// SM for LDC. What they lack comes from the cache of the GPC (gcc.h).
#pragma once

#include "models/gpu/sm/fetch_unit.h"
#include "models/gpu/sm/sm_parameters.h"
#include "models/gpu/sm/tag_array.h"

namespace lockstep::gpu {

class ConstantCache {
  public:
    ConstantCache(const SmParameters& p, FetchUnit& fetch)
        : line_(p.constant_line),
          fetch_(fetch),
          tags_(p.constant_bytes / p.constant_line, p.constant_ways) {}

    /// Forgets what it holds; bank 0 begins at an address of device memory, the others follow.
    void begin_kernel(std::uint64_t constants) {
        tags_.clear();
        awaited_.clear();
        constants_ = constants;
    }
    /// The first bytes of bank 0 were brought to it before a kernel began.
    void hold(engine::Cycle at, std::uint32_t bytes) {
        for (std::uint32_t line = (bytes + line_ - 1) / line_; line-- > 0;) tags_.insert(line, at);
    }
    /// Whether the line can be read; where not, it has been asked for, from cycle `at` on.
    bool request(engine::Cycle at, std::uint32_t line) {
        if (tags_.find(line) != engine::kNever) return true;
        if (std::find(awaited_.begin(), awaited_.end(), line) == awaited_.end())
            awaited_.push_back(line);
        fetch_.ask(at, {.line = {FetchKind::kConstants, line},
                        .address = address_of(constants_, line, line_)});
        return false;
    }
    void arrived(engine::Cycle now, std::uint32_t line) {
        if (std::erase(awaited_, line) != 0) tags_.insert(line, now);
    }

  private:
    unsigned line_;
    FetchUnit& fetch_;
    TagArray tags_;
    std::vector<std::uint32_t> awaited_;
    std::uint64_t constants_ = 0;
};

}  // namespace lockstep::gpu
