// SPDX-License-Identifier: Apache-2.0
// Adaptive: a timeout of its own for each bank. A row that is opened again after the policy has
// closed it was closed too early: the bank's timeout doubles. A request that finds another row open
// came too late for the precharge: it halves. Vendors' controllers offer "adaptive page closing";
// their rules are not published, and these are the simplest of the kind.
#include <algorithm>

#include "models/memory/dram/row_policy.h"

namespace lockstep::memory::dram {
namespace {

/// How far a timeout may grow over the first one, and it never falls below a clock.
constexpr Cycle kMostGrowth = 16;

class AdaptiveRows : public RowPolicy {
  public:
    Cycle close_after(const RowHistory& history) const override { return history.timeout; }
    void opened(RowHistory& history, std::uint32_t row) const override {
        if (row == history.closed_row)
            history.timeout = std::min(history.timeout * 2, history.first_timeout * kMostGrowth);
    }
    void conflicted(RowHistory& history) const override {
        history.timeout = std::max<Cycle>(history.timeout / 2, 1);
    }
};

}  // namespace

const RowPolicy& adaptive_rows() {
    static const AdaptiveRows policy;
    return policy;
}

}  // namespace lockstep::memory::dram
