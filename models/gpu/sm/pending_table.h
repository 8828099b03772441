// SPDX-License-Identifier: Apache-2.0
// Memory instructions that wait for replies.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "models/gpu/sm/data_path.h"
#include "models/gpu/sm/memory_instruction.h"

namespace lockstep::gpu {

struct PendingInstruction {
    MemoryInstruction instruction;  ///< without the lanes' addresses
    std::uint32_t waits_for = 0;    ///< lines, sectors or requests, by kind of access
    DataPath::Trip trip;            ///< once everything is there; `ready` is unset
    bool returns_data = false;
    std::uint64_t untranslated = 0;  ///< a line whose page the TLB did not know; 0: none
};

class PendingTable {
  public:
    std::uint32_t add(const MemoryInstruction& in) {
        std::uint32_t index;
        if (free_.empty()) {
            index = static_cast<std::uint32_t>(all_.size());
            all_.emplace_back();
        } else {
            index = free_.back();
            free_.pop_back();
        }
        PendingInstruction& pending = all_[index];
        MemoryInstruction& to = pending.instruction;
        to.info = in.info;
        to.code_index = in.code_index;
        to.warp = in.warp;
        to.sub_core = in.sub_core;
        to.write_barrier = in.write_barrier;
        to.read_barrier = in.read_barrier;
        to.issued = in.issued;
        to.bulk_bytes = in.bulk_bytes;
        to.copy_group = in.copy_group;
        to.access.space = in.access.space;
        to.access.lanes = in.access.lanes;
        to.access.width = in.access.width;
        pending.waits_for = 0;
        pending.returns_data = false;
        pending.untranslated = 0;
        return index;
    }
    PendingInstruction& operator[](std::uint32_t index) { return all_[index]; }
    void remove(std::uint32_t index) { free_.push_back(index); }
    bool is_empty() const { return free_.size() == all_.size(); }

  private:
    std::deque<PendingInstruction> all_;
    std::vector<std::uint32_t> free_;
};

}  // namespace lockstep::gpu
