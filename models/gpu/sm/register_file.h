// SPDX-License-Identifier: Apache-2.0
// Read ports of a sub-core's register file, and its reuse cache.
#pragma once

#include <array>
#include <cstdint>

#include "models/gpu/sm/static_info.h"

namespace lockstep::gpu {

class RegisterFile {
  public:
    /// Cycles from issue to Allocate: Issue, Control, Allocate (Huerta et al., MICRO'25).
    static constexpr engine::Cycle kFromIssue = 2;

    explicit RegisterFile(const SmParameters& parameters)
        : banks_(parameters.register_banks), window_(parameters.read_window) {}

    /// An instruction of warp `warp` reaches the Allocate stage at `cycle`. Reserves its reads and
    /// returns how many cycles it must wait there for the ports.
    engine::Cycle allocate(engine::Cycle cycle, const StaticInstruction& in, std::uint16_t warp);

  private:
    static constexpr unsigned kMaxBanks = 4, kSlots = 3;
    struct Entry {
        std::uint16_t warp = 0xffff;
        std::uint8_t number = 0;
    };
    unsigned banks_;
    unsigned window_;
    std::array<engine::Cycle, kMaxBanks> port_free_{};
    std::array<std::array<Entry, kSlots>, kMaxBanks> reuse_{};
};

}  // namespace lockstep::gpu
