// SPDX-License-Identifier: Apache-2.0
// The four IEEE rounding modes of SASS, and single operations rounded in each of them.
#pragma once

#include <bit>
#include <cmath>
#include <cstdint>

namespace lockstep::numerics {

/// Values are those of the two rounding bits of a SASS instruction: RN, RM, RP, RZ.
enum class Rounding : uint8_t { kNearestEven = 0, kDown = 1, kUp = 2, kTowardZero = 3 };

/// One correctly rounded operation in a directed mode. Subnormals are honoured, NaN payloads are
/// the host's, and neither the host's rounding mode nor its FTZ/DAZ bits matter or are changed.
namespace directed {
float add(float a, float b, Rounding rounding);
float multiply(float a, float b, Rounding rounding);
float fma(float a, float b, float c, Rounding rounding);
double add(double a, double b, Rounding rounding);
double multiply(double a, double b, Rounding rounding);
double fma(double a, double b, double c, Rounding rounding);
}  // namespace directed

// The same with the common mode inline, so that lane loops over kNearestEven become vector code.
// That path relies on the host being in its default mode (round to nearest, no FTZ, no DAZ).
template <typename T>
inline T add(T a, T b, Rounding rounding) {
    return rounding == Rounding::kNearestEven ? a + b : directed::add(a, b, rounding);
}
template <typename T>
inline T multiply(T a, T b, Rounding rounding) {
    return rounding == Rounding::kNearestEven ? a * b : directed::multiply(a, b, rounding);
}
template <typename T>
inline T fma(T a, T b, T c, Rounding rounding) {
    return rounding == Rounding::kNearestEven ? std::fma(a, b, c)
                                              : directed::fma(a, b, c, rounding);
}

/// .FTZ: a subnormal becomes a zero of the same sign; everything else is kept, NaNs included.
inline float flush_to_zero(float value) {
    const uint32_t bits = std::bit_cast<uint32_t>(value);
    return std::bit_cast<float>((bits & 0x7f800000u) == 0 ? bits & 0x80000000u : bits);
}

/// flush_to_zero where `enabled`, the form for instructions with an optional .FTZ.
inline float flush_to_zero(float value, bool enabled) {
    return enabled ? flush_to_zero(value) : value;
}

}  // namespace lockstep::numerics
