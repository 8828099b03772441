// SPDX-License-Identifier: Apache-2.0
// When which banks are to be refreshed.
#pragma once

#include "models/memory/dram/device.h"

namespace lockstep::memory::dram {

enum class RefreshPolicy : std::uint8_t { kNone, kAllBank, kPerBank };

/// Every rank (kAllBank) or every bank (kPerBank) in turn, spread evenly over REFI. Nothing is
/// postponed or pulled in, which standards would allow.
class Refresh {
  public:
    /// phase: the share, 0 to 1, of REFI by which all refreshes are earlier.
    Refresh(RefreshPolicy policy, const Geometry& geometry, double phase)
        : policy_(policy),
          units_(policy == RefreshPolicy::kPerBank ? geometry.banks() : geometry.ranks),
          banks_per_unit_(geometry.banks() / units_),
          interval_(geometry.timing.REFI),
          done_(static_cast<std::uint64_t>(phase * units_)),
          earlier_(done_ * interval_ + static_cast<Cycle>((phase * units_ - done_) * interval_)) {}

    RefreshPolicy policy() const { return policy_; }
    Cycle due() const {
        return policy_ == RefreshPolicy::kNone ? kNever
                                               : ((done_ + 1) * interval_ - earlier_) / units_;
    }
    BankMask banks() const {
        const BankMask unit =
            banks_per_unit_ == 64 ? ~BankMask{0} : (BankMask{1} << banks_per_unit_) - 1;
        return unit << (done_ % units_ * banks_per_unit_);
    }
    void done(std::uint64_t count = 1) { done_ += count; }
    std::uint32_t units() const { return units_; }
    /// Refreshes that fall due before this cycle and are not done.
    std::uint64_t owed(Cycle until) const {
        if (policy_ == RefreshPolicy::kNone) return 0;
        const std::uint64_t all = until == 0 ? 0 : (until * units_ - 1 + earlier_) / interval_;
        return all > done_ ? all - done_ : 0;
    }

  private:
    RefreshPolicy policy_;
    std::uint32_t units_, banks_per_unit_;
    Cycle interval_;
    std::uint64_t done_;  ///< or left out by the phase
    Cycle earlier_;       ///< in units of a clock / units_
};

}  // namespace lockstep::memory::dram
