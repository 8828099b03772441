// SPDX-License-Identifier: Apache-2.0
// What an opcode counts as: the class that its time follows, the arithmetic of the
// roofline, the work of its lanes.
#pragma once

#include "isa/sass/table/op.h"
#include "isa/sass/table/table.h"
#include "models/gpu/sm/static_info.h"

namespace lockstep::gpu {

OperationClass class_of(sass::table::Pipe pipe, sass::Op op);
Arithmetic arithmetic_of(sass::Op op);
LaneWork lane_work_of(sass::table::Pipe pipe, sass::Op op);

}  // namespace lockstep::gpu
