// SPDX-License-Identifier: Apache-2.0
// Handlers and bind functions of integer semantics that several families use.
#pragma once

#include "isa/sass/instruction.h"
#include "isa/sass/semantics/datapath.h"

namespace lockstep::sass {

/// d = b.
void execute_move_b(const Instruction& in, Warp& warp);

/// IMNMX; VIMNMX of sm_90 has the same fields.
bool bind_imnmx(Datapath path);

}  // namespace lockstep::sass
