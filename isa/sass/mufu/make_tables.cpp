// SPDX-License-Identifier: Apache-2.0
// Computes tables.inc: for each segment the quadratic that is nearest to the function once its
// coefficients are rounded to the widths of the hardware's tables (Oberman and Siu, "A
// High-Performance Area-Efficient Multifunction Interpolator", ARITH 2005: C1 is rounded first, C2
// is fitted again to what remains, then C0). Run by hand; its output is in the repository.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <functional>
#include <vector>

namespace {

using Real = long double;
using Function = std::function<Real(Real)>;

struct Width {
    int c0, c1, c2;  ///< binary digits behind the point
};

Real quantise(Real value, int digits) {
    return std::ldexp(std::nearbyint(std::ldexp(value, digits)), -digits);
}

/// Middle and half-width of f(t) - c1 t - c2 t^2 over [0, h].
struct Range {
    Real middle, radius;
};
Range residual(const Function& f, Real c1, Real c2, Real h) {
    Real low = INFINITY, high = -INFINITY;
    for (int i = 0; i <= 256; ++i) {
        const Real t = h * i / 256;
        const Real r = f(t) - c1 * t - c2 * t * t;
        low = std::min(low, r);
        high = std::max(high, r);
    }
    return {(low + high) / 2, (high - low) / 2};
}

/// f over [0, h]; exact_at_zero: the quadratic must give f(0) there; more than `above` at `last`.
void segment(const Function& f, Real h, Width width, bool exact_at_zero, Real last, Real above) {
    // Interpolation at the Chebyshev nodes is within a few per cent of the best quadratic.
    const Real t0 = h / 2 * (1 - std::sqrt(Real{3}) / 2), t1 = h / 2,
               t2 = h / 2 * (1 + std::sqrt(Real{3}) / 2);
    const Real d01 = (f(t1) - f(t0)) / (t1 - t0), d12 = (f(t2) - f(t1)) / (t2 - t1);
    const Real curvature = (d12 - d01) / (t2 - t0);
    const Real slope = d01 - curvature * (t0 + t1);
    Real best_error = INFINITY, best[3] = {};
    const Real c1_step = std::ldexp(Real{1}, -width.c1), c2_step = std::ldexp(Real{1}, -width.c2);
    for (int i = -4; i <= 4; ++i) {
        const Real c1 = quantise(slope, width.c1) + i * c1_step;
        const Real refit = curvature + (slope - c1) / h;
        for (int j = -4; j <= 4; ++j) {
            const Real c2 = quantise(refit, width.c2) + j * c2_step;
            const Range range = residual(f, c1, c2, h);
            const Real c0 = quantise(exact_at_zero ? f(0) : range.middle, width.c0);
            const Real error = range.radius + std::fabs(range.middle - c0);
            if (c0 + last * (c1 + last * c2) <= above) continue;
            if (error < best_error) {
                best_error = error;
                best[0] = c0;
                best[1] = c1;
                best[2] = c2;
            }
        }
    }
    std::printf("    {%lld, %lld, %lld},\n", static_cast<long long>(std::ldexp(best[0], width.c0)),
                static_cast<long long>(std::ldexp(best[1], width.c1)),
                static_cast<long long>(std::ldexp(best[2], width.c2)));
}

/// segments of f over [begin, begin + length); t is x - x0 scaled so that `length` is 1.
/// last_above: what the result for the last 23-bit fraction must exceed.
void table(const char* name, const Function& f, Real begin, Real length, int segments, Width width,
           Real last_above = -INFINITY) {
    std::printf("// digits behind the point: %d, %d, %d\n", width.c0, width.c1, width.c2);
    std::printf("constexpr Segment %s[%d] = {\n", name, segments);
    for (int i = 0; i < segments; ++i) {
        const Real x0 = begin + length * i / segments;
        const Real h = Real{1} / segments;
        segment([&](Real t) { return f(x0 + t * length); }, h, width, i == 0,
                h - std::ldexp(Real{1}, -23), i == segments - 1 ? last_above : -INFINITY);
    }
    std::printf("};\n");
}

}  // namespace

int main() {
    const Real half_pi = std::acos(Real{-1}) / 2;
    std::printf("// SPDX-License-Identifier: Apache-2.0\n// Written by make_tables.cpp.\n");
    // Newton's step rounds the reciprocal of the largest mantissa right only if it starts above the
    // middle between 1/2 and the next number.
    table(
        "kReciprocal", [](Real x) { return 1 / x; }, 1, 1, 128, {26, 16, 10},
        0.5L + std::ldexp(Real{1}, -25));
    table("kReciprocalRoot1", [](Real x) { return 1 / std::sqrt(x); }, 1, 1, 64, {26, 17, 11});
    table("kReciprocalRoot2", [](Real x) { return 1 / std::sqrt(x); }, 2, 2, 64, {26, 17, 11});
    table("kExponential", [](Real x) { return std::exp2(x); }, 0, 1, 64, {25, 15, 11});
    table("kLogarithm", [](Real x) { return std::log2(x); }, 1, 1, 64, {26, 15, 10});
    table("kSine", [=](Real x) { return std::sin(x * half_pi); }, 0, 1, 64, {26, 14, 10});
    for (int e = -5; e < 3; ++e) {
        const Real begin = std::ldexp(Real{1}, e);
        char name[32];
        std::snprintf(name, sizeof name, "kTangent%d", e + 5);
        table(name, [](Real x) { return std::tanh(x); }, begin, begin, 8, {26, 15, 10});
    }
}
