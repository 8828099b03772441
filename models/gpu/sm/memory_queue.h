// SPDX-License-Identifier: Apache-2.0
// Memory instructions of one sub-core between issue and the SM's shared memory unit.
#pragma once

#include <algorithm>
#include <vector>

#include "models/gpu/sm/memory_instruction.h"

namespace lockstep::gpu {

/// In order; of those of local and global memory it takes `globals` (Nsight Compute's guide: a
/// queue of their own, lg_throttle beside mio_throttle). An instruction's addresses take `latency`
/// cycles from issue; the address unit takes one every `interval` cycles (Huerta et al., MICRO'25,
/// section 5.4).
class MemoryQueue {
  public:
    MemoryQueue(unsigned capacity, unsigned globals, unsigned interval)
        : entries_(capacity), most_globals_(globals), interval_(interval) {}

    bool has_room(bool is_global) const {
        return count_ != entries_.size() && (!is_global || globals_ < most_globals_);
    }
    bool empty() const { return count_ == 0; }
    unsigned size() const { return count_; }

    /// The place of the next instruction, to be filled in; `ready`: its addresses are known then.
    MemoryInstruction& push(engine::Cycle ready, bool is_global) {
        Entry& entry = entries_[(head_ + count_++) % entries_.size()];
        entry.ready = ready;
        entry.is_global = is_global;
        globals_ += is_global;
        return entry.instruction;
    }

    /// When the oldest can be handed on; kNever: there is none.
    engine::Cycle next() const {
        return empty() ? engine::kNever : std::max(entries_[head_].ready, address_free_);
    }
    const MemoryInstruction& front() const { return entries_[head_].instruction; }
    void pop(engine::Cycle now) {
        address_free_ = now + interval_;
        globals_ -= entries_[head_].is_global;
        --count_;
        // An empty one begins anew, with what the host's cache has.
        head_ = empty() ? 0 : (head_ + 1) % static_cast<unsigned>(entries_.size());
    }

  private:
    struct Entry {
        engine::Cycle ready = 0;
        bool is_global = false;
        MemoryInstruction instruction;
    };
    std::vector<Entry> entries_;
    unsigned most_globals_, interval_;
    unsigned head_ = 0, count_ = 0, globals_ = 0;
    engine::Cycle address_free_ = 0;
};

}  // namespace lockstep::gpu
