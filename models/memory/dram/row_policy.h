// SPDX-License-Identifier: Apache-2.0
// When an open row that no waiting request asks for is closed ("page policy"): a policy a file.
#pragma once

#include "models/memory/dram/device.h"

namespace lockstep::memory::dram {

/// What a policy remembers of a bank. Plain data: a copy is a checkpoint.
struct RowHistory {
    Cycle timeout = 0;                   ///< clocks; at first ControllerParameters::row_timeout
    Cycle first_timeout = 0;             ///< that one
    std::uint32_t closed_row = kClosed;  ///< that the policy closed last, and nothing since
};

/// Stateless but for the history that it is given.
class RowPolicy {
  public:
    virtual ~RowPolicy() = default;
    /// Whether it closes rows at all.
    virtual bool closes() const { return true; }
    /// Clocks after its last use at which an unwanted row of the bank is closed.
    virtual Cycle close_after(const RowHistory& history) const = 0;
    /// A bank without an open row opens one.
    virtual void opened(RowHistory&, std::uint32_t /*row*/) const {}
    /// A request found another row open than its own.
    virtual void conflicted(RowHistory&) const {}
};

// A file each.
const RowPolicy& open_rows();
const RowPolicy& closed_rows();
const RowPolicy& timeout_rows();
const RowPolicy& adaptive_rows();

}  // namespace lockstep::memory::dram
