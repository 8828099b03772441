// SPDX-License-Identifier: Apache-2.0
// Timeout: a row is closed when nobody has used it for a while, the same for all banks.
#include "models/memory/dram/row_policy.h"

namespace lockstep::memory::dram {
namespace {

class TimeoutRows : public RowPolicy {
  public:
    Cycle close_after(const RowHistory& history) const override { return history.timeout; }
};

}  // namespace

const RowPolicy& timeout_rows() {
    static const TimeoutRows policy;
    return policy;
}

}  // namespace lockstep::memory::dram
