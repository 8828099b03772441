// SPDX-License-Identifier: Apache-2.0
// The functions of the vector unit on rows of fp32.
#pragma once

#include <cstddef>

#include "isa/tpu/enums.h"

namespace lockstep::tpu {

/// values[i] = function(values[i]). Transcendental functions are computed in fp64 and rounded once.
void apply(Function function, float* values, std::size_t count);
/// values[i] = function(values[i], b[i * step]); step 0 or 1.
void apply(Function function, float* values, const float* b, std::size_t step, std::size_t count);

}  // namespace lockstep::tpu
