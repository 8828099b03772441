// SPDX-License-Identifier: Apache-2.0
// What a PE computes. Elements are held widened: int8 as int32, bf16 as fp32 (exactly).
//   int8: sums are int32 and wrap modulo 2^32, which no product of less than 131,072 terms reaches.
//   bf16: the product is rounded to fp32 (it is exact unless it leaves fp32's range), then added
//         in fp32; both to nearest even, subnormals kept. A NaN that leaves the array is
//         0x7fc00000.
// The order of the additions is the array's, from zero: down a column (ws, is: k within the fold;
// the folds' sums are then added in the order of k) or in time (os: all of k).
#pragma once

#include <bit>
#include <cstdint>

namespace lockstep::tpu {

inline std::int32_t multiply_add(std::int32_t sum, std::int32_t a, std::int32_t b) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(sum) +
                                     static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(b));
}
inline float multiply_add(float sum, float a, float b) {
    const float product = a * b;
    return sum + product;
}

inline std::int32_t add(std::int32_t a, std::int32_t b) {
    return static_cast<std::int32_t>(static_cast<std::uint32_t>(a) + static_cast<std::uint32_t>(b));
}
inline float add(float a, float b) {
    return a + b;
}

inline std::int32_t canonical(std::int32_t value) {
    return value;
}
inline float canonical(float value) {
    return value != value ? std::bit_cast<float>(0x7fc00000u) : value;
}

}  // namespace lockstep::tpu
