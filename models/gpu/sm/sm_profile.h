// SPDX-License-Identifier: Apache-2.0
// What an SM counts of each instruction where that is asked for. A warp that waits is counted at
// the instruction that it waits to issue; at the one issued last where that is what holds it
// (barriers, fences, branches, sleep, the end). Sums over instructions are the SM's own counters.
#pragma once

#include <array>
#include <bit>
#include <cstdint>
#include <vector>

#include "models/gpu/metrics/counters.h"
#include "sim/engine/time.h"

namespace lockstep::gpu {

struct InstructionCounters {
    std::uint64_t issues = 0;                              ///< by warps
    std::uint64_t threads = 0;                             ///< predicated-on lanes
    std::array<std::uint64_t, kWarpStates> warp_cycles{};  ///< kSelected: the issues
    // Of memory instructions.
    std::uint64_t requests = 0, sectors = 0, sectors_hit = 0;
    std::uint64_t shared_wavefronts = 0, bank_conflicts = 0;
};

class SmProfile {
  public:
    explicit SmProfile(unsigned warps) : last_issued_(warps, 0) {}

    void clear() { rows_.clear(); }
    /// A kernel comes to an SM that was idle.
    void begin(std::size_t instructions) { rows_.assign(instructions, {}); }
    const std::vector<InstructionCounters>& rows() const { return rows_; }

    void issued(std::uint32_t slot, std::uint32_t pc, unsigned lanes) {
        last_issued_[slot] = pc;
        if (InstructionCounters* const row = find(pc)) {
            ++row->issues;
            ++row->warp_cycles[static_cast<unsigned>(WarpState::kSelected)];
            row->threads += lanes;
        }
    }
    /// What holds the warp from now on is its next instruction.
    void came_to(std::uint32_t slot, std::uint32_t pc) { last_issued_[slot] = pc; }
    /// The end of a state that is not that of a candidate; `pc`: the warp's next instruction.
    void waited(std::uint32_t slot, std::uint32_t pc, WarpState state, std::uint64_t cycles) {
        if (state == WarpState::kSelected) return;
        constexpr std::uint32_t kHeldByTheLast =
            1u << static_cast<unsigned>(WarpState::kBarrier) |
            1u << static_cast<unsigned>(WarpState::kMembar) |
            1u << static_cast<unsigned>(WarpState::kBranchResolving) |
            1u << static_cast<unsigned>(WarpState::kDrain) |
            1u << static_cast<unsigned>(WarpState::kSleeping);
        if (kHeldByTheLast >> static_cast<unsigned>(state) & 1) pc = last_issued_[slot];
        add(pc, state, cycles);
    }

    /// A warp that wanted to issue its next instruction, at `pc`, did not.
    void held(std::uint32_t pc, WarpState state, std::uint64_t cycles) { add(pc, state, cycles); }

    /// What the memory unit counted as it took an instruction in.
    void accessed(std::uint32_t pc, const MemoryCounters& counted) {
        last_access_ = pc;
        add(pc, counted);
    }
    /// ... and later, as the tags went on with the instruction that stood still.
    void went_on(const MemoryCounters& counted) { add(last_access_, counted); }

  private:
    InstructionCounters* find(std::uint32_t pc) { return pc < rows_.size() ? &rows_[pc] : nullptr; }
    void add(std::uint32_t pc, WarpState state, std::uint64_t cycles) {
        if (InstructionCounters* const row = find(pc))
            row->warp_cycles[static_cast<unsigned>(state)] += cycles;
    }
    void add(std::uint32_t pc, const MemoryCounters& counted) {
        InstructionCounters* const row = find(pc);
        if (row == nullptr) return;
        const AccessCounters accesses = counted.all();
        row->requests += accesses.requests;
        row->sectors += accesses.sectors;
        row->sectors_hit += accesses.sectors_hit;
        row->shared_wavefronts += counted.shared_wavefronts_load + counted.shared_wavefronts_store;
        row->bank_conflicts += counted.bank_conflicts_load + counted.bank_conflicts_store;
    }

    std::vector<InstructionCounters> rows_;   ///< by code index
    std::vector<std::uint32_t> last_issued_;  ///< code index, by warp slot
    std::uint32_t last_access_ = 0;
};

}  // namespace lockstep::gpu
