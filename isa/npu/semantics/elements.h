// SPDX-License-Identifier: Apache-2.0
// Packed elements to integers and back.
#pragma once

#include <cstdint>

#include "isa/npu/footprint.h"
#include "sim/numerics/requantise.h"

namespace lockstep::npu {

numerics::IntegerRange range_of(ElementType type);

/// `count` values, `zero` subtracted; those of 32 bits wrap.
void unpack(const std::uint8_t* from, ElementType type, std::uint64_t count, std::int32_t zero,
            std::int32_t* to);
/// The same of types of at most 8 bits.
void unpack_narrow(const std::uint8_t* from, ElementType type, std::uint64_t count,
                   std::int32_t zero, std::int16_t* to);
/// Values that are in the type's range. Bits of the last byte that hold no value become 0.
void pack(const std::int32_t* from, ElementType type, std::uint64_t count, std::uint8_t* to);

}  // namespace lockstep::npu
