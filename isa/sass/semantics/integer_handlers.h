// SPDX-License-Identifier: Apache-2.0
// Handlers of integer semantics that several families use.
#pragma once

#include "isa/sass/instruction.h"

namespace lockstep::sass {

/// d = b.
void execute_move_b(const Instruction& in, Warp& warp);

/// d = the minimum or the maximum of a and b.
Execute integer_extremum(bool is_signed, bool maximum);

}  // namespace lockstep::sass
