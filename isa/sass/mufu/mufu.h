// SPDX-License-Identifier: Apache-2.0
// The multifunction unit (MUFU): approximations of eight functions by table lookup and a quadratic.
// Bit for bit the results of an H200. No results of other chips are published; that they have the
// same tables is assumed: NVIDIA states the same bounds for all (rsqrt: 2^-22.9; an H200:
// 2^-22.93), except that 2^-11 for tanh is far from an H200's 2^-16.4.
#pragma once

#include <cstdint>

namespace lockstep::sass::mufu {

/// Values are those of the function field of a MUFU instruction.
enum class Function : std::uint8_t {
    kCos = 0,     ///< of 2 pi x; absolute error below 2^-20.9 for |x| <= 1
    kSin = 1,     ///< of 2 pi x; likewise
    kEx2 = 2,     ///< 2^x; relative error below 2^-22
    kLg2 = 3,     ///< log2 x; absolute error below 2^-22 in [0.5, 2], 2.2 ulp elsewhere
    kRcp = 4,     ///< 1 / x; 1 ulp
    kRsq = 5,     ///< 1 / sqrt x; relative error below 2^-22.9
    kRcp64h = 6,  ///< upper half of 1 / x for the upper half of a double; 20 bits
    kRsq64h = 7,  ///< upper half of 1 / sqrt x likewise
    kSqrt = 8,    ///< sqrt x; relative error below 2^-22.9
    kTanh = 9,    ///< relative error below 2^-11
};

/// One evaluation; bits of fp32 (kRcp64h, kRsq64h: upper half of a double). Subnormal sources and
/// results are flushed to zeros of their sign, except that kTanh passes subnormals through. NaN
/// results are 0x7fffffff.
std::uint32_t evaluate(Function function, std::uint32_t x);

/// 32 evaluations; out may be x.
void evaluate_row(Function function, std::uint32_t* out, const std::uint32_t* x);

/// The segment of the joint table that a source falls into, and the 17 digits behind its begin.
void quadratic_place(Function function, std::uint32_t x, int& segment, int& places);

/// The unit's square of 17 digits behind the point, to 15 digits.
int square_of_places(int places);

}  // namespace lockstep::sass::mufu
