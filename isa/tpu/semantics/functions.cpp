// SPDX-License-Identifier: Apache-2.0
// Hardware has tables and polynomials of its own for transcendental functions, not published; ours
// are rounded correctly but for double rounding.
#include "isa/tpu/semantics/functions.h"

#include <cmath>

namespace lockstep::tpu {

namespace {

template <typename Operation>
void each(float* values, std::size_t count, const Operation& operation) {
    for (std::size_t i = 0; i < count; ++i) values[i] = operation(values[i]);
}

template <typename Operation>
void each_in_double(float* values, std::size_t count, const Operation& operation) {
    for (std::size_t i = 0; i < count; ++i)
        values[i] = static_cast<float>(operation(static_cast<double>(values[i])));
}

template <typename Operation>
void each_pair(float* values, const float* b, std::size_t step, std::size_t count,
               const Operation& operation) {
    if (step == 0) {
        const float one = *b;
        for (std::size_t i = 0; i < count; ++i) values[i] = operation(values[i], one);
    } else {
        for (std::size_t i = 0; i < count; ++i) values[i] = operation(values[i], b[i]);
    }
}

double sigmoid(double x) {
    return 1 / (1 + std::exp(-x));
}

}  // namespace

void apply(Function function, float* values, std::size_t count) {
    switch (function) {
        case Function::kRelu:
            return each(values, count, [](float x) { return x < 0 ? 0.0f : x; });
        case Function::kRelu6:
            return each(values, count, [](float x) { return x < 0 ? 0.0f : x > 6 ? 6.0f : x; });
        case Function::kSigmoid:
            return each_in_double(values, count, sigmoid);
        case Function::kTanh:
            return each_in_double(values, count, [](double x) { return std::tanh(x); });
        case Function::kExp:
            return each_in_double(values, count, [](double x) { return std::exp(x); });
        case Function::kLog:
            return each_in_double(values, count, [](double x) { return std::log(x); });
        case Function::kSqrt:
            return each(values, count, [](float x) { return std::sqrt(x); });
        case Function::kRsqrt:
            return each_in_double(values, count, [](double x) { return 1 / std::sqrt(x); });
        case Function::kReciprocal:
            return each(values, count, [](float x) { return 1 / x; });
        case Function::kNegate:
            return each(values, count, [](float x) { return -x; });
        case Function::kAbs:
            return each(values, count, [](float x) { return std::fabs(x); });
        case Function::kErf:
            return each_in_double(values, count, [](double x) { return std::erf(x); });
        case Function::kGelu:
            return each_in_double(values, count, [](double x) {
                return x * 0.5 * (1 + std::erf(x * 0.70710678118654752));
            });
        case Function::kGeluTanh:
            return each_in_double(values, count, [](double x) {
                return x * 0.5 * (1 + std::tanh(0.79788456080286536 * (x + 0.044715 * x * x * x)));
            });
        case Function::kSilu:
            return each_in_double(values, count, [](double x) { return x * sigmoid(x); });
        case Function::kHardSigmoid:
            return each(values, count, [](float x) {
                const float y = x / 6 + 0.5f;
                return y < 0 ? 0.0f : y > 1 ? 1.0f : y;
            });
        case Function::kHardSwish:
            return each(values, count, [](float x) {
                const float y = x / 6 + 0.5f;
                return x * (y < 0 ? 0.0f : y > 1 ? 1.0f : y);
            });
        case Function::kSquare:
            return each(values, count, [](float x) { return x * x; });
        case Function::kFloor:
            return each(values, count, [](float x) { return std::floor(x); });
        case Function::kSoftplus:
            return each_in_double(values, count, [](double x) {
                return std::fmax(x, 0.0) + std::log1p(std::exp(-std::fabs(x)));
            });
        case Function::kLeakyRelu:
            return each(values, count, [](float x) { return x < 0 ? 0.01f * x : x; });
        default:  // identity; two operands are the other overload's
            return;
    }
}

void apply(Function function, float* values, const float* b, std::size_t step, std::size_t count) {
    switch (function) {
        case Function::kAdd:
            return each_pair(values, b, step, count, [](float x, float y) { return x + y; });
        case Function::kSubtract:
            return each_pair(values, b, step, count, [](float x, float y) { return x - y; });
        case Function::kMultiply:
            return each_pair(values, b, step, count, [](float x, float y) { return x * y; });
        case Function::kDivide:
            return each_pair(values, b, step, count, [](float x, float y) { return x / y; });
        case Function::kMaximum:
            return each_pair(values, b, step, count,
                             [](float x, float y) { return x != x || x > y ? x : y; });
        case Function::kMinimum:
            return each_pair(values, b, step, count,
                             [](float x, float y) { return x != x || x < y ? x : y; });
        case Function::kPower:
            return each_pair(values, b, step, count, [](float x, float y) {
                return static_cast<float>(std::pow(static_cast<double>(x), static_cast<double>(y)));
            });
        case Function::kEqual:
            return each_pair(values, b, step, count,
                             [](float x, float y) { return x == y ? 1.0f : 0.0f; });
        case Function::kLess:
            return each_pair(values, b, step, count,
                             [](float x, float y) { return x < y ? 1.0f : 0.0f; });
        case Function::kShortfall:
            return each_pair(values, b, step, count,
                             [](float x, float y) { return x < y ? x - y : 0.0f; });
        default:
            return apply(function, values, count);
    }
}

}  // namespace lockstep::tpu
