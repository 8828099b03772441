// SPDX-License-Identifier: Apache-2.0
// Open page: a row stays open until a request wants another one of its bank, or a refresh comes.
// Best for streams; a request for another row waits for the precharge, too.
#include "models/memory/dram/row_policy.h"

namespace lockstep::memory::dram {
namespace {

class OpenRows : public RowPolicy {
  public:
    bool closes() const override { return false; }
    Cycle close_after(const RowHistory&) const override { return kNever; }
};

}  // namespace

const RowPolicy& open_rows() {
    static const OpenRows policy;
    return policy;
}

}  // namespace lockstep::memory::dram
