// SPDX-License-Identifier: Apache-2.0
// Loops of the vector unit: instructions that pass values to each other in registers.
#pragma once

#include "isa/tpu/program.h"

namespace lockstep::tpu {

/// Throws ProgramFault that names the first instruction whose kept result the next one of the
/// vector unit does not take, or that takes what was not kept, or of other rows or columns.
void check_loops(const Program& program);

}  // namespace lockstep::tpu
