// SPDX-License-Identifier: Apache-2.0
// nvdisasm prints the exact decimal value to 20 significant digits, in scientific notation with 20
// decimals from 1e9 on, and leaves a space after special values; NaN payloads are not shown.
// Source: the output of nvdisasm 11.8, which the tests hold.
#include "isa/sass/disassembler/number_text.h"

#include <bit>
#include <cmath>
#include <cstdio>

namespace lockstep::sass {

namespace {

std::string text_of(double value, bool nan, bool negative) {
    if (nan) return negative ? "-QNAN " : "+QNAN ";
    if (std::isinf(value)) return negative ? "-INF " : "+INF ";
    if (value == 0) return negative ? "-0.0 " : "0";
    char buffer[64];
    std::snprintf(buffer, sizeof buffer, std::fabs(value) >= 1e9 ? "%.20e" : "%.20g", value);
    return buffer;
}

}  // namespace

std::string float32_text(std::uint32_t bits) {
    const float value = std::bit_cast<float>(bits);
    return text_of(value, std::isnan(value), bits >> 31);
}

std::string float64_text(std::uint32_t high_bits) {
    const double value = std::bit_cast<double>(static_cast<std::uint64_t>(high_bits) << 32);
    // Of doubles alone it tells quiet from signalling.
    if (std::isnan(value) && (high_bits >> 19 & 1) == 0)
        return high_bits >> 31 ? "-SNAN " : "+SNAN ";
    return text_of(value, std::isnan(value), high_bits >> 31);
}

std::string float16_text(std::uint16_t bits) {
    const bool negative = bits >> 15;
    const int exponent = bits >> 10 & 31, mantissa = bits & 1023;
    const bool nan = exponent == 31 && mantissa != 0;
    double value = exponent == 31  ? INFINITY
                   : exponent == 0 ? std::ldexp(mantissa, -24)
                                   : std::ldexp(mantissa + 1024, exponent - 25);
    if (negative) value = -value;
    return text_of(value, nan, negative);
}

std::string bfloat16_text(std::uint16_t bits) {
    return float32_text(static_cast<std::uint32_t>(bits) << 16);
}

}  // namespace lockstep::sass
