// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "isa/command/builder.h"
#include "isa/npu/program.h"

namespace lockstep::npu {

using command::Dependences;
using command::QueueCounts;
using ProgramBuilder = command::ProgramBuilder<Instruction>;

}  // namespace lockstep::npu
