// SPDX-License-Identifier: Apache-2.0
// A Tensor Core aligns the products of a group and the accumulator to the largest exponent among
// them, truncates each toward zero and adds them exactly (rule.h). In fp32 lanes the product of two
// significands is exact, adding to its exponent bits aligns it, and conversion to an integer is the
// truncation; sums of W = 16 products of F = 25 fraction bits still fit 32 bits. Where the
// operands' range is small (keeps_values), products of their values are aligned by one
// multiplication. Infinities and NaNs take the element-by-element path. Source of the rule: see
// rule.cpp.
#include "isa/sass/tensor_core/dot_product.h"

#include <algorithm>
#include <bit>
#include <cmath>

#include "isa/sass/tensor_core/lanes.h"
#include "isa/sass/tensor_core/round_sums.h"
#include "sim/error/error.h"
#include "sim/numerics/bf16.h"
#include "sim/numerics/fp16.h"
#include "sim/numerics/fp32.h"
#include "sim/numerics/fp8.h"
#include "sim/numerics/tf32.h"

// Unrolled, instrumented loads take compilers minutes.
#if defined(__SANITIZE_ADDRESS__)
#define LOCKSTEP_UNROLL
#else
#define LOCKSTEP_UNROLL _Pragma("GCC unroll 32")
#endif

namespace lockstep::sass {
namespace {

// A term shifted so that one is the last bit kept, and truncated. The shift is limited so that the
// exponent bits stay those of a number; what is shifted that far is less than one anyway.
inline Ints align(Floats significand, Ints shift) {
    constexpr int32_t kFarEnough = -40;
    const Ints exponent = larger(shift, Ints{} + kFarEnough) << 23;
    return truncate(reinterpret<Floats>(reinterpret<Ints>(significand) + exponent));
}

/// 2^base, by which products of values are aligned. A base beyond this limit is that of a group
/// without a product other than zero: the largest exponent of the others is -28 at the least
/// (fp16).
inline Floats power_of_two(Ints base) {
    constexpr int32_t kLargest = 120, kSmallest = -126;  // below, every product is less than one
    const Ints limited =
        larger(Ints{} + kLargest < base ? Ints{} + kLargest : base, Ints{} + kSmallest);
    return reinterpret<Floats>((limited + 127) << 23);
}

struct Broadcast {  // one column of B for all rows
    const DecodedTile& tile;
    int at;
    const DecodedTile::Split& split = tile.split();
    // Less nothing: plus nothing would change -0.0, and take an addition.
    Floats significand(int k, int) const { return split.significand[at + k] - Floats{}; }
    Ints exponent(int k, int) const { return Ints{} + split.exponent[at + k]; }
    uint32_t bits(int k, int) const { return tile.bits[at + k]; }
};

struct PerRow {  // a column of B for each row
    const DecodedTile& tile;
    int at;
    const DecodedTile::Split& split = tile.split();
    Floats significand(int k, int row) const {
        return load<Floats>(split.significand + at + k * 16 + row);
    }
    Ints exponent(int k, int row) const { return load<Ints>(split.exponent + at + k * 16 + row); }
    uint32_t bits(int k, int row) const { return tile.bits[at + k * 16 + row]; }
};

/// One group of `width` products, k from `first` on, for all 16 rows.
template <int width, bool values, typename B>
void accumulate_group(const DotProductRule& rule, const DecodedTile::Split& a, const B& b,
                      int first, const DecodedColumn& c, uint32_t* out) {
    alignas(64) int32_t products[16];
    alignas(64) int32_t addend[16];
    alignas(64) int32_t scale[16];
    Ints unusual = {};
    for (int row = 0; row < 16; row += kLanes) {
        const Ints c_exponent = load<Ints>(c.exponent + row);
        Ints largest = larger(c_exponent, Ints{} + rule.min_exponent);
        LOCKSTEP_UNROLL
        for (int k = 0; k < width; ++k) {
            const int at = (first + k) * 16 + row;
            largest = larger(largest, load<Ints>(a.exponent + at) + b.exponent(first + k, row));
        }
        const Ints base = rule.fraction_bits - largest;
        const Floats unit = power_of_two(base);
        Ints sum = {};
        LOCKSTEP_UNROLL
        for (int k = 0; k < width; ++k) {
            const int at = (first + k) * 16 + row;
            const Floats product = load<Floats>(a.significand + at) * b.significand(first + k, row);
            if constexpr (values) {
                sum += truncate(product * unit);
            } else {
                const Ints shift = load<Ints>(a.exponent + at) + b.exponent(first + k, row) + base;
                sum += align(product, shift);
            }
        }
        const Ints c_term = align(load<Floats>(c.significand + row), c_exponent + base);
        unusual |= round_usual_sums(rule.accumulator, sum, c_term, -base, out + row);
        store(products + row, sum);
        store(addend + row, c_term);
        store(scale + row, -base);
    }
    if (any(unusual)) [[unlikely]]
        round_any_sums(rule.accumulator, products, addend, scale, out);
}

float to_float(TensorType type, uint32_t bits) {
    switch (type) {
        case TensorType::kFp16:
            return numerics::fp16_to_fp32(static_cast<uint16_t>(bits));
        case TensorType::kBf16:
            return numerics::bf16_to_fp32(static_cast<uint16_t>(bits));
        case TensorType::kTf32:
            return numerics::tf32_operand(bits);
        case TensorType::kE4m3:
            return numerics::e4m3_to_fp32(static_cast<uint8_t>(bits));
        case TensorType::kE5m2:
            return numerics::e5m2_to_fp32(static_cast<uint8_t>(bits));
    }
    return 0;
}

/// What infinities and NaNs among the terms of a sum make of it.
class SpecialTerms {
  public:
    void add_product(float a, float b) {
        if (std::isfinite(a) && std::isfinite(b)) return;
        add(a * b);
    }
    void add(float term) {
        nan_ |= std::isnan(term);
        plus_ |= std::isinf(term) && term > 0;
        minus_ |= std::isinf(term) && term < 0;
    }
    bool decides() const { return nan_ || plus_ || minus_; }
    uint32_t result(bool half) const {
        if (nan_ || (plus_ && minus_)) return half ? numerics::kFp16Nan : numerics::kFp32Nan;
        if (half) return plus_ ? 0x7c00u : 0xfc00u;
        return plus_ ? 0x7f800000u : 0xff800000u;
    }

  private:
    bool nan_ = false;
    bool plus_ = false;
    bool minus_ = false;
};

template <typename B>
void overrule_specials(bool half, int width, const DecodedTile& a, const B& b, int first,
                       const uint32_t* c, uint32_t* out) {
    for (int row = 0; row < 16; ++row) {
        SpecialTerms terms;
        for (int k = first; k < first + width; ++k) {
            terms.add_product(to_float(a.type, a.bits[k * 16 + row]),
                              to_float(b.tile.type, b.bits(k, row)));
        }
        terms.add(half ? to_float(TensorType::kFp16, c[row]) : std::bit_cast<float>(c[row]));
        if (terms.decides()) out[row] = terms.result(half);
    }
}

/// The groups of k from `first` on and before `end`.
template <int width, typename B>
void accumulate_groups(const DotProductRule& rule, int first, int end, const DecodedTile& a,
                       const B& b, uint32_t* c) {
    const bool half = rule.accumulator == AccumulatorType::kFp16;
    const DecodedTile::Split& split = a.split();
    DecodedColumn column;
    for (; first < end; first += width) {
        alignas(64) uint32_t out[16];
        column.decode(half, c);
        if (keeps_values(a.type))
            accumulate_group<width, true>(rule, split, b, first, column, out);
        else
            accumulate_group<width, false>(rule, split, b, first, column, out);
        if (split.special || b.split.special || column.special) [[unlikely]] {
            overrule_specials(half, width, a, b, first, c, out);
        }
        std::copy_n(out, 16, c);
    }
}

template <typename B>
void accumulate(const DotProductRule& rule, int width, int first, int end, const DecodedTile& a,
                const B& b, uint32_t* c) {
    switch (width) {
        case 4:
            return accumulate_groups<4>(rule, first, end, a, b, c);
        case 8:
            return accumulate_groups<8>(rule, first, end, a, b, c);
        case 16:
            return accumulate_groups<16>(rule, first, end, a, b, c);
        case 32:
            return accumulate_groups<32>(rule, first, end, a, b, c);
        default:
            LOCKSTEP_CHECK(false, "no dot product of {}", width);
    }
}

int width_of(const DotProductRule& rule, int depth, const DecodedTile& a, const DecodedTile& b) {
    const int width = std::min(rule.group, depth);
    LOCKSTEP_CHECK(keeps_values(a.type) == keeps_values(b.type), "operands of two ranges");
    LOCKSTEP_CHECK(depth % width == 0, "{} products in groups of {}", depth, width);
    return width;
}

/// What the fast way leaves to the general one.
struct GeneralWay {
    const DotProductRule& rule;
    int width, depth, b_at;
    const DecodedTile &a, &b;
    uint32_t (*c)[16];

    static void run(void* context, int column, int first) {
        const auto& [rule, width, depth, b_at, a, b, c] = *static_cast<GeneralWay*>(context);
        accumulate(rule, width, first, first + width, a, Broadcast{b, b_at + column * depth},
                   c[column]);
    }
};

void accumulate_columns(const DotProductRule& rule, int depth, const DecodedTile& a,
                        const DecodedTile& b, int b_at, int columns, uint32_t (*c)[16]) {
    const int width = width_of(rule, depth, a, b);
    if (a.is_narrow() && b.is_narrow()) {
        GeneralWay general{rule, width, depth, b_at, a, b, c};
        const NarrowOperand operand = b.narrow();
        return accumulate_narrow(rule, width, depth, columns, a.narrow(),
                                 {operand.value + b_at, operand.exponent + b_at}, c,
                                 GeneralWay::run, &general);
    }
    for (int n = 0; n < columns; ++n)
        accumulate(rule, width, 0, depth, a, Broadcast{b, b_at + n * depth}, c[n]);
}

}  // namespace

void accumulate_column(const DotProductRule& rule, int depth, const DecodedTile& a,
                       const DecodedTile& b, int b_at, uint32_t* c) {
    accumulate_columns(rule, depth, a, b, b_at, 1, reinterpret_cast<uint32_t(*)[16]>(c));
}

void accumulate_tile(const DotProductRule& rule, int depth, const DecodedTile& a,
                     const DecodedTile& b, int columns, uint32_t (*c)[16]) {
    accumulate_columns(rule, depth, a, b, 0, columns, c);
}

void accumulate_rows(const DotProductRule& rule, int depth, const DecodedTile& a,
                     const DecodedTile& b, int b_at, uint32_t* c) {
    accumulate(rule, width_of(rule, depth, a, b), 0, depth, a, PerRow{b, b_at}, c);
}

}  // namespace lockstep::sass
