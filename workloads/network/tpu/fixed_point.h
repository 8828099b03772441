// SPDX-License-Identifier: Apache-2.0
// Integers by multiplier and shift instead of in fp32 (TpuTarget::fixed_point).
#pragma once

#include <array>

#include "sim/numerics/requantise.h"
#include "workloads/network/tpu/compilation.h"
#include "workloads/network/tpu/operators.h"

namespace lockstep::network::lowering {

/// Of an addition, subtraction or multiplication: of its operands and its result (in this order).
numerics::FixedPointPair fixed_point_of(tpu::Function function,
                                        const std::array<const Value*, 3>& values);
/// A function of stored bytes by a table.
void lower_table(Compilation& c, const Node& node);
compile::Reason reason_table(const Asked& a);
/// Of an average over up to `most` values: multiplier and shift by their number.
Matrix average_scales(Compilation& c, const Node& node, std::int64_t most);
compile::Reason reason_average(const Asked& a, std::int64_t most);

}  // namespace lockstep::network::lowering
