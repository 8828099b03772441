// SPDX-License-Identifier: Apache-2.0
// BMMA: matrices of single bits; the bits set in the AND or XOR of a row and a column are counted
// and added to a 32-bit accumulator. sm_80 and later have AND only (ptxas builds XOR from it).
#include <bit>

#include "isa/sass/semantics/tensor/fragment.h"
#include "isa/sass/semantics/tensor/tensor.h"

namespace lockstep::sass {

namespace {

template <bool is_xor, unsigned registers_a>
void execute_bmma(const Instruction& in, Warp& warp) {
    constexpr unsigned kRegistersB = (registers_a + 1) / 2;
    constexpr unsigned kRegistersC = registers_a == 1 ? 2 : 4;
    const FragmentA a(&warp.row(in.a), registers_a);
    const FragmentB b(&warp.row(in.b), kRegistersB);
    FragmentC sum(&warp.row(in.c), kRegistersC);
    for (unsigned n = 0; n < 8; ++n)
        for (unsigned w = 0; w < 4 * kRegistersB; ++w)
            for (unsigned row = 0; row < 4 * kRegistersC; ++row) {
                const std::uint32_t x = a.word[w][row];
                const std::uint32_t y = b.word[n][w];
                sum.element[n][row] +=
                    static_cast<std::uint32_t>(std::popcount(is_xor ? x ^ y : x & y));
            }
    sum.write(&warp.row(in.d), kRegistersC, warp.mask);
}

template <bool is_xor>
constexpr Execute kByShape[] = {execute_bmma<is_xor, 1>, execute_bmma<is_xor, 2>,
                                execute_bmma<is_xor, 4>};

}  // namespace

bool bind_bmma(Binder& binder) {
    const Word& word = binder.word;
    const auto shape = static_cast<unsigned>(word.bits(75, 2));  // 88128, 168128, 168256
    const auto operation = static_cast<unsigned>(word.bits(77, 2));
    const bool is_xor = operation == 0;
    const bool is_and = operation == 2;
    const bool a_by_rows = !word.bit(73);
    const bool b_by_columns = word.bit(74);
    if (shape > 2 || !(is_xor || is_and) || !word.bit(80) || !a_by_rows || !b_by_columns ||
        !accumulates_always(word))
        return false;
    const unsigned registers_a = 1u << shape;
    const unsigned registers_c = shape == 0 ? 2 : 4;
    binder.out.d = binder.dest_register(16, registers_c);
    binder.out.a = binder.source_register(24, registers_a);
    binder.out.b = binder.source_register(32, (registers_a + 1) / 2);
    binder.out.c = binder.source_register(64, registers_c);
    binder.out.execute = is_xor ? kByShape<true>[shape] : kByShape<false>[shape];
    return true;
}

}  // namespace lockstep::sass
