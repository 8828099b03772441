// SPDX-License-Identifier: Apache-2.0
// Structured sparsity: A holds two of every four numbers of a row (one of two for tf32), and
// metadata says which column of A, so which row of B, each belongs to. The metadata layout is that
// of PTX ISA's figures for mma.sp and of CUTLASS's reorder_meta. That products keep the order of
// A's registers in the groups of the dot-product unit is assumed: no silicon vectors are published
// for it.
#include "isa/sass/semantics/tensor/sparse.h"

#include "isa/sass/semantics/tensor/float_mma.h"

namespace lockstep::sass {

SparseIndices::SparseIndices(const Row& metadata, unsigned selector, SparseKind kind,
                             unsigned kept) {
    for (unsigned row = 0; row < 16; ++row) {
        const unsigned quad = 4 * (row % 8);
        for (unsigned j = 0; j < kept; ++j) {
            unsigned bit;
            unsigned lane;
            if (kind == SparseKind::kBytes) {
                // 16 two-bit indices fill a word: rows g and g + 8 have a lane each.
                lane = (kept == 16 ? 2 * selector : 2 * (j / 16)) + row / 8;
                bit = 2 * (j % 16);
            } else {
                // Row g has the lower half of a word, row g + 8 the upper.
                const unsigned per_half = kind == SparseKind::kHalves ? 8 : 4;
                lane = kept == per_half ? selector : 2 * selector + j / per_half;
                bit = 16 * (row / 8) + 16 / per_half * (j % per_half);
            }
            const std::uint32_t bits = metadata.lane[quad + lane] >> bit;
            column[j][row] = static_cast<std::uint8_t>(
                kind == SparseKind::kWords ? 2 * j + (bits >> 1 & 1) : 4 * (j / 2) + (bits & 3));
        }
    }
}

void execute_sparse_hmma(const Instruction& in, Warp& warp) {
    const auto plan = std::bit_cast<FloatMmaPlan>(in.immediate);
    const unsigned words = 2 * plan.registers_a;
    const bool tf32 = plan.type_a == TensorType::kTf32;
    const unsigned per_word = tf32 ? 1 : 2;
    const unsigned kept = words * per_word;
    const FragmentA fragment_a(&warp.row(in.a), plan.registers_a);
    const FragmentB fragment_b(&warp.row(in.b), plan.registers_a);
    const SparseIndices indices(warp.row(in.d2), in.modifiers,
                                tf32 ? SparseKind::kWords : SparseKind::kHalves, kept);
    DecodedTile a, b;
    for (unsigned j = 0; j < kept; ++j)
        for (unsigned row = 0; row < 16; ++row)
            a.bits[j * 16 + row] =
                fragment_a.word[j / per_word][row] >> (j % per_word * 32 / per_word);
    a.decode(plan.type_a, static_cast<int>(kept * 16));

    const Row* c = &warp.row(in.c);
    FragmentC sum = plan.half() ? FragmentC::of_halves(c) : FragmentC(c, 4);
    for (unsigned n = 0; n < 8; ++n) {
        for (unsigned j = 0; j < kept; ++j) {
            for (unsigned row = 0; row < 16; ++row) {
                const unsigned k = indices.column[j][row];
                b.bits[j * 16 + row] =
                    fragment_b.word[n][k / per_word] >> (k % per_word * 32 / per_word);
            }
        }
        b.decode(plan.type_b, static_cast<int>(kept * 16));
        accumulate_rows(plan.rule(), static_cast<int>(kept), a, b, 0, sum.element[n]);
    }
    if (plan.half()) {
        sum.write_halves(&warp.row(in.d), warp.mask);
    } else {
        sum.write(&warp.row(in.d), 4, warp.mask);
    }
}

}  // namespace lockstep::sass
