// SPDX-License-Identifier: Apache-2.0
// Closed page: a row that no waiting request asks for is closed at once. Requests that come one by
// one to rows of their own find their bank ready; those that come back to a row activate it again.
#include "models/memory/dram/row_policy.h"

namespace lockstep::memory::dram {
namespace {

class ClosedRows : public RowPolicy {
  public:
    Cycle close_after(const RowHistory&) const override { return 0; }
};

}  // namespace

const RowPolicy& closed_rows() {
    static const ClosedRows policy;
    return policy;
}

}  // namespace lockstep::memory::dram
