// SPDX-License-Identifier: Apache-2.0
// What a wgmma reads of shared memory.
#pragma once

#include <cstdint>
#include <functional>

#include "isa/sass/state.h"
#include "isa/sass/word.h"

namespace lockstep::gpu::check {

/// The pieces of 16 bytes, by their offset in the CTA's shared memory, that a warp's share of a
/// product reads: its rows of A where A is in shared memory, and, of the first warp of a warpgroup,
/// B, which all four read. Nothing where a descriptor leads out of shared memory: the instruction
/// itself reports it.
void for_each_piece(const sass::Word& word, const sass::Instruction& in, const sass::Warp& warp,
                    const std::function<void(std::uint32_t)>& f);

}  // namespace lockstep::gpu::check
