// SPDX-License-Identifier: Apache-2.0
// Splitting numbers for the dot-product unit. Subnormals of every format are honoured; they are not
// normalised, which shows in the alignment of sums (reference: MATLAB-tensor-core, MMA-Sim).
#include "isa/sass/tensor_core/decoded_tile.h"

#include "isa/sass/tensor_core/lanes.h"
#include "sim/error/error.h"

namespace lockstep::sass {
namespace {

template <int exponent_bits, int mantissa_bits, bool has_infinity, bool keeps_values = false>
struct Format {
    // Returns all ones in the lanes that hold infinity or NaN.
    static Ints lanes(Words bits, float* significand_out, int32_t* exponent_out) {
        constexpr int32_t kBias = (1 << (exponent_bits - 1)) - 1;
        constexpr int32_t kHidden = 1 << mantissa_bits;
        constexpr int32_t kMagnitude =
            static_cast<int32_t>((1u << (exponent_bits + mantissa_bits)) - 1);
        constexpr int32_t kFirstSpecial = has_infinity ? kMagnitude & ~(kHidden - 1) : kMagnitude;
        const Ints magnitude = reinterpret<Ints>(bits) & kMagnitude;
        const Words sign = bits << (31 - exponent_bits - mantissa_bits) & 0x80000000u;
        const Ints biased = magnitude >> mantissa_bits;
        const Ints mantissa = magnitude & (kHidden - 1);
        const Ints zero = magnitude == 0;
        // A zero is a one far below everything: adding to the exponent bits of 0.0 would not do.
        const Ints hidden = (biased > 0) | zero;
        const Ints whole = mantissa | (hidden & kHidden);
        Floats significand = to_floats(whole) * (1.0f / kHidden);
        const Ints exponent = larger(biased, Ints{} + 1) - kBias;
        if constexpr (keeps_values) {
            const Ints power = ~zero & (exponent + 127) << 23;
            significand = significand * reinterpret<Floats>(power);
        }
        store(significand_out, reinterpret<Words>(significand) | sign);
        store(exponent_out, zero ? Ints{} + kZeroExponent : exponent);
        return magnitude >= kFirstSpecial;
    }
};

template <typename F, int discarded_bits = 0>
bool decode_all(int count, const uint32_t* bits, float* significand, int32_t* exponent) {
    Ints special = {};
    for (int at = 0; at < count; at += kLanes) {
        special |=
            F::lanes(load<Words>(bits + at) >> discarded_bits, significand + at, exponent + at);
    }
    return any(special);
}

using Fp32 = Format<8, 23, true>;
using Fp16 = Format<5, 10, true>;
using Fp16Value = Format<5, 10, true, true>;
using Bf16 = Format<8, 7, true>;
using Tf32 = Format<8, 10, true>;
using E4m3Value = Format<4, 3, false, true>;
using E5m2Value = Format<5, 2, true, true>;

}  // namespace

void DecodedTile::decode(TensorType from, int count) {
    type = from;
    count_ = count;
    LOCKSTEP_CHECK(count % 16 == 0 && count <= kCapacity, "tile of {} numbers", count);
    is_narrow_ = decode_narrow(type, count, bits, value_, small_exponent_);
    is_split_ = false;
}

const DecodedTile::Split& DecodedTile::split() const {
    if (is_split_) return split_;
    is_split_ = true;
    const int count = count_;
    auto& [significand, exponent, special] = split_;
    switch (type) {
        case TensorType::kFp16:
            special = decode_all<Fp16Value>(count, bits, significand, exponent);
            break;
        case TensorType::kBf16:
            special = decode_all<Bf16>(count, bits, significand, exponent);
            break;
        case TensorType::kTf32:
            special = decode_all<Tf32, 13>(count, bits, significand, exponent);
            break;
        case TensorType::kE4m3:
            special = decode_all<E4m3Value>(count, bits, significand, exponent);
            break;
        case TensorType::kE5m2:
            special = decode_all<E5m2Value>(count, bits, significand, exponent);
            break;
    }
    return split_;
}

void DecodedColumn::decode(bool half, const uint32_t* bits) {
    special = half ? decode_all<Fp16>(16, bits, significand, exponent)
                   : decode_all<Fp32>(16, bits, significand, exponent);
}

}  // namespace lockstep::sass
