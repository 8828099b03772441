// SPDX-License-Identifier: Apache-2.0
// When an open row that no waiting request asks for is closed.
#pragma once

#include "models/memory/dram/timing.h"

namespace lockstep::memory::dram {

struct RowPolicy {
    /// Clocks after its last use at which an unwanted row is closed; kNever: left open.
    Cycle close_after = kNever;

    static RowPolicy open() { return {kNever}; }
    static RowPolicy closed() { return {0}; }
    static RowPolicy timeout(Cycle clocks) { return {clocks}; }

    bool closes() const { return close_after != kNever; }
};

}  // namespace lockstep::memory::dram
