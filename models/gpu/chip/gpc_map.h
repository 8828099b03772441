// SPDX-License-Identifier: Apache-2.0
// Which SMs each GPC has: the CTAs of a cluster run in one GPC.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "sim/config/machine.h"

namespace lockstep::gpu {

class GpcMap {
  public:
    /// TPCs (two SMs each) are dealt to the GPCs in turn; with a list of sizes in gpc.sms, a GPC
    /// that is full is passed over. Throws InputError where the list is none.
    explicit GpcMap(const config::Machine& machine);

    std::uint32_t gpcs() const { return static_cast<std::uint32_t>(sms_.size()); }
    std::uint32_t gpc_of(std::uint32_t sm) const { return gpc_[sm]; }
    /// In ascending order.
    std::span<const std::uint16_t> sms(std::uint32_t gpc) const { return sms_[gpc]; }

    /// Clusters of so many CTAs that the chip holds at once, where an SM holds `by_sm` CTAs.
    std::uint64_t clusters(std::uint32_t ctas, std::uint32_t by_sm) const;

  private:
    std::vector<std::vector<std::uint16_t>> sms_;
    std::vector<std::uint32_t> gpc_;  ///< by SM
};

}  // namespace lockstep::gpu
