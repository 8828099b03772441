// SPDX-License-Identifier: Apache-2.0
// The slow and general way from a group's sum to the accumulator: fp64 holds every sum exactly
// (32 bits, times a power of two). fp32 and e8m13 truncate, subnormals included, and yet what is
// too large becomes infinity; fp16 rounds to nearest even, and to +0 (measured on an H200).
#include "isa/sass/tensor_core/round_sums.h"

#include <cmath>

#include "sim/numerics/fp32.h"

namespace lockstep::sass {
namespace {

using numerics::Rounding;
using E8m13Format = numerics::FloatFormat<8, 13>;

uint32_t round_sum(AccumulatorType type, double sum) {
    if (type == AccumulatorType::kFp16) return plus_zero(numerics::fp64_to_fp16(sum));
    const bool narrow = type == AccumulatorType::kE8m13;
    const uint32_t bits = narrow
                              ? numerics::encode<E8m13Format>(sum, Rounding::kTowardZero) << 10
                              : numerics::encode<numerics::Fp32Format>(sum, Rounding::kTowardZero);
    return std::fabs(sum) >= 0x1p128 ? (std::signbit(sum) ? 0xff800000u : 0x7f800000u) : bits;
}

}  // namespace

void round_any_sums(AccumulatorType type, const int32_t* products, const int32_t* addend,
                    const int32_t* scale, uint32_t* out) {
    for (int row = 0; row < 16; ++row) {
        const double sum = static_cast<double>(products[row]) + static_cast<double>(addend[row]);
        out[row] = round_sum(type, std::ldexp(sum, scale[row]));
    }
}

}  // namespace lockstep::sass
