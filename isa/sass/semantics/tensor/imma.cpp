// SPDX-License-Identifier: Apache-2.0
// IMMA: matrices of 8-bit and (sm_75 to sm_89) 4-bit integers, signed or not, accumulated in 32
// bits exactly; sums wrap, or with .SAT clamp to the range of int32. A is by rows, B by columns.
#include <algorithm>
#include <cmath>
#include <limits>

#include "isa/sass/semantics/tensor/fragment.h"
#include "isa/sass/semantics/tensor/sparse.h"
#include "isa/sass/semantics/tensor/tensor.h"

namespace lockstep::sass {

namespace {

struct ImmaPlan {
    std::uint8_t registers_a, registers_b;
    bool a_is_signed, b_is_signed, is_4bit, saturates, sparse;
    std::uint8_t selector;
};
static_assert(sizeof(ImmaPlan) == sizeof(Instruction::immediate));

constexpr unsigned kMaxDepth = 128;  ///< of B: sparse, 4-bit

/// Element `part` of a word as an int32.
template <unsigned bits>
inline std::int32_t element(std::uint32_t word, unsigned part, bool is_signed) {
    const std::uint32_t top = word << (32 - bits - part * bits);
    return is_signed ? static_cast<std::int32_t>(top) >> (32 - bits)
                     : static_cast<std::int32_t>(top >> (32 - bits));
}

template <unsigned bits>
void unpack_a(const FragmentA& from, unsigned words, bool is_signed, float (*to)[16]) {
    constexpr unsigned kPerWord = 32 / bits;
    for (unsigned w = 0; w < words; ++w)
        for (unsigned part = 0; part < kPerWord; ++part)
            for (unsigned row = 0; row < 16; ++row)
                to[w * kPerWord + part][row] =
                    static_cast<float>(element<bits>(from.word[w][row], part, is_signed));
}

template <unsigned bits>
void unpack_b(const FragmentB& from, unsigned words, bool is_signed, float (*to)[kMaxDepth]) {
    constexpr unsigned kPerWord = 32 / bits;
    for (unsigned n = 0; n < 8; ++n)
        for (unsigned w = 0; w < words; ++w)
            for (unsigned part = 0; part < kPerWord; ++part)
                to[n][w * kPerWord + part] =
                    static_cast<float>(element<bits>(from.word[n][w], part, is_signed));
}

inline std::uint32_t accumulate(std::uint32_t c, float sum_of_products, bool saturates) {
    const auto products = static_cast<std::int32_t>(sum_of_products);
    if (!saturates) return c + static_cast<std::uint32_t>(products);
    const std::int64_t sum = std::int64_t{static_cast<std::int32_t>(c)} + products;
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(
        sum, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
}

void execute_imma(const Instruction& in, Warp& warp) {
    const auto plan = std::bit_cast<ImmaPlan>(in.immediate);
    const FragmentA fragment_a(&warp.row(in.a), plan.registers_a);
    const FragmentB fragment_b(&warp.row(in.b), plan.registers_b);
    const unsigned words_a = 4 * ((plan.registers_a + 1) / 2);
    const unsigned words_b = 4 * plan.registers_b;
    alignas(64) float a[kMaxDepth][16];
    float b[8][kMaxDepth];
    if (plan.is_4bit) {
        unpack_a<4>(fragment_a, words_a, plan.a_is_signed, a);
        unpack_b<4>(fragment_b, words_b, plan.b_is_signed, b);
    } else {
        unpack_a<8>(fragment_a, words_a, plan.a_is_signed, a);
        unpack_b<8>(fragment_b, words_b, plan.b_is_signed, b);
    }
    const unsigned depth = words_a * (plan.is_4bit ? 8 : 4);
    const unsigned registers_c = plan.registers_a == 1 ? 2 : 4;
    FragmentC sum(&warp.row(in.c), registers_c);
    if (plan.sparse) {
        // Of 4-bit numbers, pairs are kept: two of four, as of bytes.
        const unsigned together = plan.is_4bit ? 2 : 1;
        const SparseIndices indices(warp.row(in.d2), plan.selector, SparseKind::kBytes,
                                    depth / together);
        for (unsigned n = 0; n < 8; ++n)
            for (unsigned row = 0; row < 16; ++row) {
                float products = 0;
                for (unsigned j = 0; j < depth; ++j)
                    products += a[j][row] *
                                b[n][indices.column[j / together][row] * together + j % together];
                sum.element[n][row] = accumulate(sum.element[n][row], products, plan.saturates);
            }
    } else {
        for (unsigned n = 0; n < 8; ++n) {
            alignas(64) float products[16] = {};
            for (unsigned k = 0; k < depth; ++k)
                for (unsigned row = 0; row < 16; ++row)
                    products[row] = std::fma(a[k][row], b[n][k], products[row]);
            for (unsigned row = 0; row < 4 * registers_c; ++row)
                sum.element[n][row] =
                    accumulate(sum.element[n][row], products[row], plan.saturates);
        }
    }
    sum.write(&warp.row(in.d), registers_c, warp.mask);
}

struct Shape {
    unsigned code;  ///< bits 86, 85 and 75
    bool is_4bit, sparse;
    std::uint8_t registers_a, registers_b;
};
constexpr Shape kShapes[] = {
    {0b000, false, false, 1, 1},  // 8816
    {0b100, false, false, 2, 1},  // 16816
    {0b101, false, false, 4, 2},  // 16832
    {0b010, true, false, 1, 1},   // 8832
    {0b101, true, false, 2, 1},   // 16832
    {0b110, true, false, 4, 2},   // 16864
    {0b101, false, true, 2, 2},   // SP.16832
    {0b110, false, true, 4, 4},   // SP.16864
    {0b110, true, true, 2, 2},    // SP.16864
    {0b111, true, true, 4, 4},    // SP.168128
};

}  // namespace

bool bind_imma(Binder& binder) {
    const Word& word = binder.word;
    const bool a_by_rows = !word.bit(73);
    const bool b_by_columns = word.bit(74);
    const bool same_width = word.bit(83) == word.bit(84);
    if (!a_by_rows || !b_by_columns || !same_width || word.bit(77) || word.bit(79) ||
        !accumulates_always(word))
        return false;
    const auto code = static_cast<unsigned>(word.bits(85, 2) << 1 | word.bits(75, 1));
    for (const Shape& shape : kShapes) {
        if (shape.code != code || shape.is_4bit != word.bit(83) || shape.sparse != word.bit(72))
            continue;
        const unsigned registers_c = shape.registers_a == 1 ? 2 : 4;
        binder.out.d = binder.dest_register(16, registers_c);
        binder.out.a = binder.source_register(24, shape.registers_a);
        binder.out.b = binder.source_register(32, shape.registers_b);
        binder.out.c = binder.source_register(64, registers_c);
        if (shape.sparse) binder.out.d2 = binder.source_register(40);  // the metadata
        binder.out.immediate = std::bit_cast<std::uint64_t>(ImmaPlan{
            shape.registers_a, shape.registers_b, word.bit(76), word.bit(78), shape.is_4bit,
            word.bit(82), shape.sparse, static_cast<std::uint8_t>(word.bits(48, 2))});
        binder.out.execute = execute_imma;
        return true;
    }
    return false;
}

}  // namespace lockstep::sass
