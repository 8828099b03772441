// SPDX-License-Identifier: Apache-2.0
// What reducing copies (UTMAREDG, UBLKRED) compute, element by element.
#pragma once

#include <cstddef>
#include <cstdint>

#include "isa/sass/semantics/atomic_update.h"
#include "isa/sass/tma/tensor_map.h"

namespace lockstep::sass {

/// new = old (op) operand for consecutive elements.
using ReduceElements = void (*)(std::byte* to, const std::byte* from, std::size_t bytes);

/// nullptr: there is no such operation on this type. Source: PTX ISA, cp.reduce.async.bulk.
ReduceElements reduction(TensorType type, AtomicOp op);

}  // namespace lockstep::sass
