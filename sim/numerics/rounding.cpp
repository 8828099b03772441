// SPDX-License-Identifier: Apache-2.0
// A GPU instruction names its rounding mode; x86 keeps the mode in a register. AVX-512 can name it
// in the instruction (which also masks exceptions); without it the control register is set around
// the one operation. Operands and result pass through volatile, so that the compiler cannot move
// the operation out of that bracket. Source: Intel SDM, volumes 1 (15.6.4) and 2 (LDMXCSR).
#include "sim/numerics/rounding.h"

#include <immintrin.h>

namespace lockstep::numerics::directed {
namespace {

/// Sets MXCSR (all exceptions masked, no FTZ, no DAZ) for one scope.
class HostMode {
  public:
    explicit HostMode(Rounding rounding) : saved_(_mm_getcsr()) {
        constexpr unsigned kMasked = 0x1f80;
        _mm_setcsr(kMasked | static_cast<unsigned>(rounding) << 13);
    }
    ~HostMode() { _mm_setcsr(saved_); }
    HostMode(const HostMode&) = delete;
    HostMode& operator=(const HostMode&) = delete;

  private:
    unsigned saved_;
};

template <typename T, typename Operation>
[[gnu::noinline]] T in_mode(Rounding rounding, Operation operation, T a, T b, T c) {
    const HostMode mode(rounding);
    volatile T x = a;
    volatile T y = b;
    volatile T z = c;
    volatile T result = operation(x, y, z);
    return result;
}

}  // namespace

float add(float a, float b, Rounding rounding) {
    return in_mode(
        rounding, [](float x, float y, float) { return x + y; }, a, b, 0.0f);
}
float multiply(float a, float b, Rounding rounding) {
    return in_mode(
        rounding, [](float x, float y, float) { return x * y; }, a, b, 0.0f);
}
float fma(float a, float b, float c, Rounding rounding) {
    return in_mode(
        rounding, [](float x, float y, float z) { return std::fma(x, y, z); }, a, b, c);
}
double add(double a, double b, Rounding rounding) {
    return in_mode(
        rounding, [](double x, double y, double) { return x + y; }, a, b, 0.0);
}
double multiply(double a, double b, Rounding rounding) {
    return in_mode(
        rounding, [](double x, double y, double) { return x * y; }, a, b, 0.0);
}
double fma(double a, double b, double c, Rounding rounding) {
    return in_mode(
        rounding, [](double x, double y, double z) { return std::fma(x, y, z); }, a, b, c);
}

}  // namespace lockstep::numerics::directed
