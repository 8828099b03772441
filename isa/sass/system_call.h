// SPDX-License-Identifier: Apache-2.0
// Calls of functions that the system provides (vprintf, malloc, free, __assertfail). They change
// what all SMs share, so that a machine that runs SMs independently must perform them one at a
// time.
#pragma once

#include "isa/sass/instruction.h"

namespace lockstep::sass {

/// False where the instruction calls no system function whatever its operands are.
bool may_call_system(const Instruction& in);

/// True where it does so now, for lanes of warp.mask.
bool calls_system(const Instruction& in, const Warp& warp);

}  // namespace lockstep::sass
