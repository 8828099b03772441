// SPDX-License-Identifier: Apache-2.0
// fp64 arithmetic on rows with subnormal operands or results, without the host's microcode for
// them: see SubnormalWatch.
#pragma once

#include "sim/numerics/rounding.h"

namespace lockstep::sass {

/// 32 lanes of a * b + c, rounded once; which NaN a NaN is is left open.
void scaled_fma(double* out, const double* a, const double* b, const double* c,
                numerics::Rounding rounding);

}  // namespace lockstep::sass
