// SPDX-License-Identifier: Apache-2.0
// Atomic operations that programs make of a load and a compare-and-swap.
#pragma once

#include <cstddef>
#include <span>

#include "isa/sass/word.h"

namespace lockstep::gpu::check {

/// True where the instruction loads what a compare-and-swap shortly after it expects to find.
/// Whatever others write in between, the swap notices.
bool begins_swap_loop(std::span<const sass::Word> words, std::size_t pc);

}  // namespace lockstep::gpu::check
