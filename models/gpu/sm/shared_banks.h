// SPDX-License-Identifier: Apache-2.0
// How many passes (wavefronts) an access to the 32 four-byte banks of shared memory takes.
#pragma once

#include <cstdint>

#include "isa/sass/state.h"

namespace lockstep::gpu {

inline constexpr unsigned kBanks = 32;  ///< of 4 bytes; one pass reads a word of each

/// kPacked: results for pairs of lanes at the same address are packed on the way back.
enum class BankAccess : std::uint8_t { kPlain, kPacked };

/// Loads (kPacked), stores and matrices. `address` has kWarpSize elements, `width` is bytes a lane;
/// lanes that ask for the same word share it. 0 where no lane is active.
unsigned bank_wavefronts(const std::uint64_t* address, std::uint32_t lanes, unsigned width,
                         BankAccess kind = BankAccess::kPlain);

/// The passes that an access takes whose bytes are all in different banks.
unsigned ideal_wavefronts(std::uint32_t lanes, unsigned width);

/// Atomics: lanes at one address take turns too.
unsigned atomic_wavefronts(const std::uint64_t* address, std::uint32_t lanes, unsigned width);

}  // namespace lockstep::gpu
