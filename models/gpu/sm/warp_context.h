// SPDX-License-Identifier: Apache-2.0
// What the core keeps of a resident warp besides its architectural state.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

#include "isa/sass/state.h"
#include "models/gpu/metrics/counters.h"
#include "models/gpu/sm/static_info.h"

namespace lockstep::gpu {

struct ResidentGrid;

struct WarpContext {
    static constexpr std::uint32_t kNoLine = ~0u, kNoMbarrier = ~0u;
    static constexpr unsigned kCopyGroups = 64;

    sass::Warp* warp = nullptr;  ///< null: the slot is free
    // Of its kernel.
    const StaticInstruction* info = nullptr;
    const sass::Instruction* code = nullptr;
    ResidentGrid* grid = nullptr;
    std::uint32_t line_offset = 0;      ///< of its code's lines among the SM's kernels
    std::uint32_t constant_offset = 0;  ///< likewise, of its constants' lines
    std::uint32_t cta_slot = 0;
    std::uint16_t slot = 0;                 ///< its own, in the SM
    std::uint64_t age = 0;                  ///< warps that came later have a larger one
    std::array<std::uint8_t, 8> counter{};  ///< by barrier field; those beyond SB5 stay 0
    std::uint8_t long_mask = 0;             ///< counters that global or local memory holds
    bool waits_for_counter = false;
    bool waits_for_path = false;  ///< all its paths wait at barriers
    bool waits_for_stores = false;
    bool waits_for_window = false;     ///< its next instruction runs at the window's end
    bool waits_for_line = false;       ///< of instructions: to come from beyond the SM
    bool waits_for_constant = false;   ///< likewise, of constants
    bool waits_for_copies = false;     ///< ... when the copies have come that an mbarrier counts
    bool waits_for_products = false;   ///< of its warpgroup: results
    bool waits_for_room = false;       ///< ... to issue one more
    bool is_done = false;              ///< all threads have exited
    std::uint16_t product_groups = 0;  ///< of its warpgroup, committed and not ended
    std::uint32_t products = 0;        ///< of its warpgroup that it has issued
    engine::Cycle try_wait_end = 0;    ///< when its try_wait gives up; 0: it waits in none
    std::uint32_t tried_mbarrier = kNoMbarrier;  ///< that its last try_wait asked
    bool tried_phase = false;                    ///< ... whether this one was over
    bool has_asked = false;                      ///< an mbarrier for its phase
    engine::Cycle asked_at = 0;                  ///< ... when last
    std::uint32_t asked_pc = 0;                  ///< ... by which instruction
    bool waits_for_grid = false;                 ///< at griddepcontrol.wait
    WarpState state = WarpState::kWait;
    engine::Cycle since = 0;  ///< in this state
    engine::Cycle not_before = 0;
    std::uint32_t line = kNoLine;           ///< instruction line in its buffer
    std::uint32_t constant_line = kNoLine;  ///< that it waits for, or has waited for
    std::uint32_t path_instructions = 0;    ///< since its paths last took turns
    std::uint32_t path_turns = 0;           ///< that its paths have taken
    std::uint32_t in_flight = 0;            ///< memory instructions
    std::uint32_t in_queue = 0;             ///< of these, those not handed to the memory unit yet
    bool waits_for_queue = false;           ///< ... at a barrier, until there are none
    std::uint32_t stores_in_flight = 0;

    // Groups of LDGSTS, numbered; LDGDEPBAR closes one, and ARRIVES.LDGSTSBAR one that reports to
    // an mbarrier.
    std::uint16_t open_group = 0, oldest_group = 0;
    std::uint8_t group_counter = 0;
    bool copy_groups_full() const {
        return static_cast<std::uint16_t>(open_group - oldest_group) == kCopyGroups - 1;
    }
    std::array<std::uint16_t, kCopyGroups> group_pending{};
    std::array<std::uint16_t, kCopyGroups> group_barrier{};  ///< entry of CopyBarriers, or kNone

    /// Into the host's cache: what comes before the groups of copies; of the architectural state
    /// what comes before the lanes' addresses.
    void prefetch() const {
        for (unsigned line = 0; line < 3; ++line) __builtin_prefetch(host_line(this, line), 1);
    }
    void prefetch_warp() const {
        for (unsigned line = 0; line < 2; ++line) __builtin_prefetch(host_line(warp, line), 1);
    }

  private:
    static const std::byte* host_line(const void* object, unsigned line) {
        constexpr unsigned kHostLine = 64;
        return static_cast<const std::byte*>(object) + std::size_t{line} * kHostLine;
    }
};

}  // namespace lockstep::gpu
