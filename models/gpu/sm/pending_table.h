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
    enum class Kind : std::uint8_t { kResult, kStore, kBulkCopy };
    MemoryInstructionHeader instruction;
    std::uint32_t waits_for = 0;  ///< lines, sectors or requests, by kind of access
    DataPath::Trip trip;          ///< once everything is there; `ready` is unset
    Kind kind = Kind::kResult;
    unsigned fill_cycles = 0;        ///< of the fill port: what goes to shared memory at once
    bool awaits_map = false;         ///< kBulkCopy: the next replies are its tensor map
    std::uint8_t map_sectors = 0;    ///< ... of which these have come
    std::uint64_t place = 0;         ///< kResult: in the queue for the data stage
    std::uint64_t untranslated = 0;  ///< a line whose page the TLB did not know; 0: none
};

class PendingTable {
  public:
    std::uint32_t add(const MemoryInstructionHeader& in, PendingInstruction::Kind kind) {
        std::uint32_t index;
        if (free_.empty()) {
            index = static_cast<std::uint32_t>(all_.size());
            all_.emplace_back();
        } else {
            index = free_.back();
            free_.pop_back();
        }
        all_[index] = {.instruction = in, .kind = kind};
        return index;
    }
    PendingInstruction& operator[](std::uint32_t index) { return all_[index]; }
    const PendingInstruction& operator[](std::uint32_t index) const { return all_[index]; }
    void remove(std::uint32_t index) { free_.push_back(index); }
    bool is_empty() const { return free_.size() == all_.size(); }

  private:
    std::deque<PendingInstruction> all_;
    std::vector<std::uint32_t> free_;
};

}  // namespace lockstep::gpu
