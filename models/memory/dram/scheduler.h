// SPDX-License-Identifier: Apache-2.0
// Which of the waiting requests a controller serves next.
#pragma once

#include "models/memory/dram/request_queue.h"

namespace lockstep::memory::dram {

/// A bank that can take its command now, or the first cycle at which one may be able to.
struct Choice {
    int bank = -1;
    Cycle wake = kNever;
};

/// Stateless: the same queue and device give the same choice. Banks in `blocked` await a refresh.
class Scheduler {
  public:
    virtual ~Scheduler() = default;
    /// A bank whose oldest row hit is to be accessed.
    virtual Choice column(const RequestQueue& queue, const Device& device, Direction direction,
                          BankMask blocked, Cycle now) const = 0;
    /// A bank to activate for its oldest request, or to precharge where another row is open.
    virtual Choice row(const RequestQueue& queue, const Device& device, BankMask blocked,
                       Cycle now) const = 0;
    /// True where serving a request can make a row command due in any other bank.
    virtual bool in_order() const { return false; }
};

/// First-ready, first-come first-served (Rixner et al., ISCA 2000): row hits first, then age.
const Scheduler& fr_fcfs();
/// Strictly in order of arrival.
const Scheduler& fcfs();

}  // namespace lockstep::memory::dram
