// SPDX-License-Identifier: Apache-2.0
// What the floating-point MMA instructions share: the plan made at binding, and operands as tiles
// of the dot-product unit.
#pragma once

#include <bit>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "isa/sass/instruction.h"
#include "isa/sass/semantics/tensor/fragment.h"
#include "isa/sass/state.h"
#include "isa/sass/tensor_core/dot_product.h"

namespace lockstep::sass {

/// Everything execution needs to know; travels in Instruction::immediate.
struct FloatMmaPlan {
    TensorType type_a;
    TensorType type_b;
    std::uint8_t registers_a;
    std::uint8_t group;
    std::uint8_t fraction_bits;
    AccumulatorType accumulator;
    std::int16_t min_exponent;

    static FloatMmaPlan of(const DotProductRule& rule, TensorType a, TensorType b,
                           unsigned registers_a) {
        return {a,
                b,
                static_cast<std::uint8_t>(registers_a),
                static_cast<std::uint8_t>(rule.group),
                static_cast<std::uint8_t>(rule.fraction_bits),
                rule.accumulator,
                static_cast<std::int16_t>(rule.min_exponent)};
    }
    DotProductRule rule() const { return {group, fraction_bits, min_exponent, accumulator}; }
    bool half() const { return accumulator == AccumulatorType::kFp16; }
};
static_assert(sizeof(FloatMmaPlan) == sizeof(Instruction::immediate));

constexpr unsigned elements_per_word(TensorType type) {
    if (type == TensorType::kTf32) return 1;
    return type == TensorType::kFp16 || type == TensorType::kBf16 ? 2 : 4;
}

/// Bits [first, first + 32 / per_word) of each of `count` words become elements; what is above them
/// in an element's word is ignored when it is decoded.
template <unsigned per_word>
inline void spread(const std::uint32_t* words, unsigned count, unsigned stride,
                   std::uint32_t* elements) {
    for (unsigned part = 0; part < per_word; ++part)
        for (unsigned i = 0; i < count; ++i)
            elements[part * stride + i] = words[i] >> (part * 32 / per_word);
}

/// A as [k][row]; returns the depth.
template <unsigned per_word>
int load_tile_a(const FragmentA& fragment, unsigned words, DecodedTile& a) {
    for (unsigned w = 0; w < words; ++w)
        spread<per_word>(fragment.word[w], 16, 16, a.bits + w * per_word * 16);
    return static_cast<int>(words * per_word);
}

/// B as [column][k], from its registers.
template <unsigned per_word>
void load_tile_b(const Row* registers, unsigned count, DecodedTile& b) {
    using Element =
        std::conditional_t<per_word == 1, std::uint32_t,
                           std::conditional_t<per_word == 2, std::uint16_t, std::uint8_t>>;
    constexpr unsigned kRun = 4 * per_word;  // elements of a column in one register
    for (unsigned i = 0; i < count; ++i) {
        for (unsigned n = 0; n < 8; ++n) {
            Element run[kRun];
            std::memcpy(run, &registers[i].lane[4 * n], sizeof run);
            std::uint32_t* to = b.bits + (n * count + i) * kRun;
            for (unsigned j = 0; j < kRun; ++j) to[j] = run[j];
        }
    }
}

/// Calls `load` with the number of elements in a word of `type`, as a template argument.
template <typename Load>
void with_elements_per_word(TensorType type, Load&& load) {
    switch (elements_per_word(type)) {
        case 1:
            return load.template operator()<1>();
        case 2:
            return load.template operator()<2>();
        default:
            return load.template operator()<4>();
    }
}

inline void load_tile_a(TensorType type, const FragmentA& fragment, unsigned words,
                        DecodedTile& a) {
    with_elements_per_word(type,
                           [&]<unsigned kPerWord>() { load_tile_a<kPerWord>(fragment, words, a); });
}
inline void load_tile_b(TensorType type, const Row* registers, unsigned count, DecodedTile& b) {
    with_elements_per_word(
        type, [&]<unsigned kPerWord>() { load_tile_b<kPerWord>(registers, count, b); });
}

/// d = a * b + c for one instruction of 16 x 8 results.
void multiply_dense(const FloatMmaPlan& plan, const Row* a, const Row* b, const Row* c, Row* d,
                    std::uint32_t mask);

/// HMMA.SP; see sparse.cpp. `metadata` is the register, `selector` names the lanes of each quad
/// that hold the indices.
void execute_sparse_hmma(const Instruction& in, Warp& warp);

}  // namespace lockstep::sass
