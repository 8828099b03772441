// SPDX-License-Identifier: Apache-2.0
// Chains of functions of one value: what map kernels do, and what happens to a product's sums.
// Comparisons and choices follow C's, so that a NaN goes where the reference executor lets it go.
#pragma once

#include "elements.cuh"

namespace lockstep::kernels {

/// The long ones, once in a kernel's code.
__device__ __noinline__ float long_function(Function function, float v, float a) {
    switch (function) {
        case Function::kSigmoid:
            return 1.0f / (1.0f + expf(-v));
        case Function::kTanh:
            return tanhf(v);
        case Function::kExp:
            return expf(v);
        case Function::kLog:
            return logf(v);
        case Function::kErf:
            return erff(v);
        case Function::kGelu:
            return v * (1.0f + erff(v * 0.70710678f)) * 0.5f;
        case Function::kGeluTanh:
            return v * (1.0f + tanhf(0.79788456f * (v + 0.044715f * v * v * v))) * 0.5f;
        case Function::kSoftplus:
            return (v > 0.0f ? v : 0.0f) + log1pf(expf(-fabsf(v)));
        case Function::kSoftsign:
            return v / (1.0f + fabsf(v));
        case Function::kElu:
            return v < 0.0f ? a * expm1f(v) : v;
        case Function::kSin:
            return sinf(v);
        case Function::kCos:
            return cosf(v);
        case Function::kTan:
            return tanf(v);
        case Function::kSinh:
            return sinhf(v);
        case Function::kCosh:
            return coshf(v);
        case Function::kAsin:
            return asinf(v);
        case Function::kAcos:
            return acosf(v);
        default:
            return atanf(v);
    }
}

__device__ __forceinline__ float remainder_of(float x, float by) {
    const float rest = fmodf(x, by);
    return rest == 0.0f || (rest < 0.0f) == (by < 0.0f) ? rest : rest + by;
}
__device__ __noinline__ float long_binary(Function function, float v, float x) {
    switch (function) {
        case Function::kPower:
            return powf(v, x);
        case Function::kPowerOf:
            return powf(x, v);
        case Function::kRemainder:
            return remainder_of(v, x);
        case Function::kRemainderOf:
            return remainder_of(x, v);
        case Function::kTruncatedRemainder:
            return fmodf(v, x);
        default:
            return fmodf(x, v);
    }
}

/// v = function(v, x, y), element by element.
template <int W>
__device__ __forceinline__ void apply(const Step& step, float (&v)[W], const float (&x)[W],
                                      const float (&y)[W]) {
    const float a = step.a, b = step.b;
    const auto each = [&](auto f) {
#pragma unroll
        for (int i = 0; i < W; ++i) v[i] = f(v[i], x[i], y[i]);
    };
    switch (step.function) {
        case Function::kAdd:
            return each([](float v, float x, float) { return v + x; });
        case Function::kSubtract:
            return each([](float v, float x, float) { return v - x; });
        case Function::kSubtractFrom:
            return each([](float v, float x, float) { return x - v; });
        case Function::kMultiply:
            return each([](float v, float x, float) { return v * x; });
        case Function::kDivide:
            return each([](float v, float x, float) { return v / x; });
        case Function::kDivideInto:
            return each([](float v, float x, float) { return x / v; });
        case Function::kMaximum:
            return each([](float v, float x, float) { return v < x ? x : v; });
        case Function::kMinimum:
            return each([](float v, float x, float) { return x < v ? x : v; });
        case Function::kEqual:
            return each([](float v, float x, float) { return v == x ? 1.0f : 0.0f; });
        case Function::kLess:
            return each([](float v, float x, float) { return v < x ? 1.0f : 0.0f; });
        case Function::kLessOrEqual:
            return each([](float v, float x, float) { return v <= x ? 1.0f : 0.0f; });
        case Function::kGreater:
            return each([](float v, float x, float) { return v > x ? 1.0f : 0.0f; });
        case Function::kGreaterOrEqual:
            return each([](float v, float x, float) { return v >= x ? 1.0f : 0.0f; });
        case Function::kAnd:
            return each([](float v, float x, float) { return v != 0 && x != 0 ? 1.0f : 0.0f; });
        case Function::kOr:
            return each([](float v, float x, float) { return v != 0 || x != 0 ? 1.0f : 0.0f; });
        case Function::kXor:
            return each([](float v, float x, float) { return (v != 0) != (x != 0) ? 1.0f : 0.0f; });
        case Function::kSlope:
            return each([](float v, float x, float) { return v < 0 ? v * x : v; });
        case Function::kSlopeOf:
            return each([](float v, float x, float) { return x < 0 ? v * x : x; });
        case Function::kChoose:
            return each([](float v, float x, float y) { return v != 0 ? x : y; });
        case Function::kChooseThen:
            return each([](float v, float x, float y) { return x != 0 ? v : y; });
        case Function::kChooseElse:
            return each([](float v, float x, float y) { return x != 0 ? y : v; });
        case Function::kConstant:
            return each([=](float, float, float) { return a; });
        case Function::kScale:
            return each([=](float v, float, float) { return a * v + b; });
        case Function::kAbsolute:
            return each([](float v, float, float) { return fabsf(v); });
        case Function::kNegate:
            return each([](float v, float, float) { return -v; });
        case Function::kSign:
            return each([](float v, float, float) { return v > 0 ? 1.0f : v < 0 ? -1.0f : v; });
        case Function::kRelu:
            return each([](float v, float, float) { return v < 0 ? 0.0f : v; });
        case Function::kLeakyRelu:
            return each([=](float v, float, float) { return v < 0 ? a * v : v; });
        case Function::kClip:
            return each([=](float v, float, float) {
                v = v < a ? a : v;
                return b < v ? b : v;
            });
        case Function::kHardSigmoid:
            return each([=](float v, float, float) {
                v = a * v + b;
                v = v < 0.0f ? 0.0f : v;
                return v > 1.0f ? 1.0f : v;
            });
        case Function::kHardSwish:
            return each([](float v, float, float) {
                float part = v / 6.0f + 0.5f;
                part = part < 0.0f ? 0.0f : part;
                return v * (part > 1.0f ? 1.0f : part);
            });
        case Function::kNot:
            return each([](float v, float, float) { return v == 0 ? 1.0f : 0.0f; });
        case Function::kIsInfinite:
            return each([=](float v, float, float) { return isinf(v) ? (v < 0 ? a : b) : 0.0f; });
        case Function::kIsNaN:
            return each([](float v, float, float) { return v != v ? 1.0f : 0.0f; });
        case Function::kReciprocal:
            return each([](float v, float, float) { return 1.0f / v; });
        case Function::kSquareRoot:
            return each([](float v, float, float) { return sqrtf(v); });
        case Function::kCeiling:
            return each([](float v, float, float) { return ceilf(v); });
        case Function::kFloor:
            return each([](float v, float, float) { return floorf(v); });
        case Function::kRound:
            return each([](float v, float, float) { return rintf(v); });
        case Function::kQuantise:
            return each([=](float v, float x, float y) {
                const float steps = rintf(v / x);
                return steps > a - y ? fminf(steps, b - y) + y : a;
            });
        case Function::kRoundFp16:
            return each([](float v, float, float) { return __half2float(__float2half_rn(v)); });
        case Function::kRoundBf16:
            return each(
                [](float v, float, float) { return __bfloat162float(__float2bfloat16_rn(v)); });
        case Function::kPower:
        case Function::kPowerOf:
        case Function::kRemainder:
        case Function::kRemainderOf:
        case Function::kTruncatedRemainder:
        case Function::kTruncatedRemainderOf:
            return each([&](float v, float x, float) { return long_binary(step.function, v, x); });
        default:
            return each([&](float v, float, float) { return long_function(step.function, v, a); });
    }
}

/// All steps; operand(slot, x) gives the elements of a slot.
template <int W, class OperandAt>
__device__ __forceinline__ void run_chain(const Step* steps, int count, float (&v)[W],
                                          OperandAt&& operand) {
    for (int s = 0; s < count; ++s) {
        const Step& step = steps[s];
        float x[W], y[W];
#pragma unroll
        for (int i = 0; i < W; ++i) {
            x[i] = step.a;
            y[i] = step.b;
        }
        if (step.x >= 0) operand(step.x, x);
        if (step.y >= 0) operand(step.y, y);
        apply(step, v, x, y);
    }
}

}  // namespace lockstep::kernels
