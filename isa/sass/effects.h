// SPDX-License-Identifier: Apache-2.0
// What an instruction may do that other threads see: what the emulator needs to let warps take
// turns, and what a checked run is told of.
#pragma once

#include <cstdint>
#include <span>

#include "isa/sass/instruction.h"
#include "isa/sass/word.h"

namespace lockstep::sass {

/// Memory that threads share: global, shared, or either by a generic address.
constexpr std::uint8_t kReadsMemory = 1;
constexpr std::uint8_t kWritesMemory = 2;  ///< atomics included
/// It waits for what a load from global memory returns: where a chip issues from other warps.
constexpr std::uint8_t kWaitsForMemory = 4;
constexpr std::uint8_t kLocalMemory = 8;   ///< LDL, STL
constexpr std::uint8_t kAtomic = 16;       ///< reads and writes at once
constexpr std::uint8_t kMbarrier = 32;     ///< an operation on an mbarrier
constexpr std::uint8_t kFence = 64;        ///< MEMBAR
constexpr std::uint8_t kWarpOrExit = 128;  ///< WARPSYNC, BRA.DIV and .CONV, EXIT
/// What a checked run is told of.
constexpr std::uint8_t kIsChecked = static_cast<std::uint8_t>(~kWaitsForMemory);

/// Sets the effects of a function's instructions; waits are found by going through the code once,
/// by the dependence barriers that the compiler gave to loads and to those that wait for them.
void set_effects(std::span<const Word> words, std::span<Instruction> code);

}  // namespace lockstep::sass
