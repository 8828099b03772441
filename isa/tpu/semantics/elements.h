// SPDX-License-Identifier: Apache-2.0
// Rows of elements to fp32 and back, as the vector unit's load and store ports convert them.
#pragma once

#include <cstddef>
#include <cstdint>

#include "isa/tpu/enums.h"

namespace lockstep::tpu {

/// How integers stand for real numbers; not looked at for bf16 and fp32.
struct Quantisation {
    float scale = 1;
    std::int32_t zero = 0;
};

/// out[i] = (x[i] - zero) * scale for integers, x[i] for floats.
void load_elements(const std::uint8_t* from, DataType type, std::size_t count,
                   Quantisation quantisation, float* out);

/// Elements as the array multiplies them: floats as fp32, rounded to bf16, integers of up to 16
/// bits as they are (of wider ones, which are no operands, the low half).
void load_lanes(const std::uint8_t* from, DataType type, std::size_t count, float* out);
void load_lanes(const std::uint8_t* from, DataType type, std::size_t count, std::int16_t* out);

/// Integers: round-half-even(y / scale) + zero, saturated; a NaN gives `zero`. Floats: nearest
/// even.
void store_elements(const float* values, std::size_t count, DataType type,
                    Quantisation quantisation, std::uint8_t* to);

}  // namespace lockstep::tpu
