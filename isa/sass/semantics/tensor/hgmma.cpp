// SPDX-License-Identifier: Apache-2.0
// HGMMA (fp16, bf16, tf32) and QGMMA (fp8): a warp's 16 rows of a warpgroup's product, eight
// columns at a time, through the dot-product unit of mma.sync (isa/sass/tensor_core). Structured
// sparsity takes, for each kept number of A, the B that its index names; that the kept numbers form
// the groups is assumed, as for mma.sp. Shapes and types by opcode bits: what ptxas 13 emits.
#include <algorithm>
#include <bit>
#include <cstring>

#include "isa/sass/semantics/tensor/float_mma.h"
#include "isa/sass/semantics/tensor/sparse.h"
#include "isa/sass/semantics/tensor/warpgroup.h"

namespace lockstep::sass {

namespace {

constexpr unsigned kKBytes = 32;    ///< of a row of A as stored
constexpr unsigned kMaxDepth = 64;  ///< of B: sparse, 8-bit

template <typename Element>
struct Tile {
    static constexpr unsigned kPerPiece = SharedMatrix::kPieceBytes / sizeof(Element);
    static constexpr unsigned kDepth = kKBytes / sizeof(Element);  ///< numbers of A in a row

    /// A as [k][row].
    static void load_a(const SharedMatrix& matrix, bool mn_major, unsigned first_row,
                       std::uint32_t* bits) {
        Element piece[kPerPiece];
        if (mn_major) {
            for (unsigned k = 0; k < kDepth; ++k)
                for (unsigned row = 0; row < kWarpRows; row += kPerPiece) {
                    std::memcpy(piece, matrix.piece(k, (first_row + row) / kPerPiece),
                                sizeof piece);
                    for (unsigned i = 0; i < kPerPiece; ++i)
                        bits[k * kWarpRows + row + i] = piece[i];
                }
            return;
        }
        for (unsigned row = 0; row < kWarpRows; ++row)
            for (unsigned k = 0; k < kDepth; k += kPerPiece) {
                std::memcpy(piece, matrix.piece(first_row + row, k / kPerPiece), sizeof piece);
                for (unsigned i = 0; i < kPerPiece; ++i) bits[(k + i) * kWarpRows + row] = piece[i];
            }
    }

    static void load_a(const Row* registers, std::uint32_t* bits) {
        const FragmentA fragment(registers, 4);
        for (unsigned word = 0; word < kKBytes / 4; ++word)
            spread<4 / sizeof(Element)>(fragment.word[word], kWarpRows, kWarpRows,
                                        bits + word * (4 / sizeof(Element)) * kWarpRows);
    }

    /// Eight columns of B as [column][k].
    static void load_b(const SharedMatrix& matrix, bool mn_major, unsigned slice, unsigned depth,
                       std::uint32_t* bits) {
        Element piece[kPerPiece];
        if (mn_major) {
            const unsigned first = slice * kSliceColumns / kPerPiece;
            for (unsigned k = 0; k < depth; ++k) {
                std::memcpy(piece, matrix.piece(k, first), sizeof piece);
                for (unsigned n = 0; n < kSliceColumns; ++n)
                    bits[n * depth + k] = piece[n % kPerPiece];
            }
            return;
        }
        for (unsigned n = 0; n < kSliceColumns; ++n)
            for (unsigned k = 0; k < depth; k += kPerPiece) {
                std::memcpy(piece, matrix.piece(slice * kSliceColumns + n, k / kPerPiece),
                            sizeof piece);
                for (unsigned i = 0; i < kPerPiece; ++i) bits[n * depth + k + i] = piece[i];
            }
    }
};

/// For each kept number of A the B that it multiplies: [column][kept number][row] from [column][k].
void select_b(const SparseIndices& indices, unsigned kept, const std::uint32_t* column,
              std::uint32_t* selected) {
    for (unsigned j = 0; j < kept; ++j)
        for (unsigned row = 0; row < kWarpRows; ++row)
            selected[j * kWarpRows + row] = column[indices.column[j][row]];
}

template <typename Element>
void execute_float(const Instruction& in, Warp& warp) {
    using T = Tile<Element>;
    const WarpgroupOperands operands(in, warp);
    const WarpgroupProduct product = operands.product;
    const auto plan = std::bit_cast<FloatMmaPlan>(in.immediate);
    const DotProductRule rule = plan.rule();
    DecodedTile a, b;
    if (product.a_in_shared)
        T::load_a(*operands.a, product.a_is_mn_major, operands.first_row, a.bits);
    else
        T::load_a(&warp.row(in.a), a.bits);
    if (product.negates) {
        const std::uint32_t sign = 1u << (8 * sizeof(Element) - 1);
        for (unsigned i = 0; i < T::kDepth * kWarpRows; ++i) a.bits[i] ^= sign;
    }
    a.decode(plan.type_a, T::kDepth * kWarpRows);

    const unsigned depth = T::kDepth * (product.is_sparse ? 2 : 1);
    std::optional<SparseIndices> indices;
    if (product.is_sparse)
        indices.emplace(warp.row(in.d2), product.selector,
                        sizeof(Element) == 4   ? SparseKind::kWords
                        : sizeof(Element) == 2 ? SparseKind::kHalves
                                               : SparseKind::kBytes,
                        T::kDepth);
    const Row* c = &warp.row(in.c);
    Row* d = &warp.row(in.d);
    for (unsigned slice = 0; slice < product.slices; ++slice) {
        FragmentC sum;
        if (!operands.accumulates)
            std::memset(sum.element, 0, sizeof sum.element);
        else
            sum = plan.half() ? FragmentC::of_halves(c) : FragmentC(c, 4);
        if (product.is_sparse) {
            std::uint32_t columns[kSliceColumns * kMaxDepth];
            T::load_b(operands.b, product.b_is_mn_major, slice, depth, columns);
            for (unsigned n = 0; n < kSliceColumns; ++n) {
                select_b(*indices, T::kDepth, columns + n * depth, b.bits);
                b.decode(plan.type_b, T::kDepth * kWarpRows);
                accumulate_rows(rule, T::kDepth, a, b, 0, sum.element[n]);
            }
        } else {
            T::load_b(operands.b, product.b_is_mn_major, slice, depth, b.bits);
            b.decode(plan.type_b, T::kDepth * kSliceColumns);
            accumulate_tile(rule, T::kDepth, a, b, kSliceColumns, sum.element);
        }
        if (plan.half())
            sum.write_halves(d, warp.mask);
        else
            sum.write(d, 4, warp.mask);
        c += product.registers;
        d += product.registers;
    }
}

/// Binds what HGMMA and QGMMA have alike; bit 75 tells fp32 accumulators from fp16.
bool bind_float(Binder& binder, TensorType a, TensorType b) {
    const Word& word = binder.word;
    const bool half = !word.bit(75);
    if (!bind_warpgroup_product(binder, half ? 2 : 4)) return false;
    auto product = std::bit_cast<WarpgroupProduct>(binder.out.modifiers);
    product.negates = word.bit(72) != word.bit(63);
    const bool two_bytes = a == TensorType::kFp16 || a == TensorType::kBf16;
    product.a_is_mn_major = two_bytes && product.a_in_shared && word.bit(61);
    product.b_is_mn_major = two_bytes && word.bit(62);
    binder.out.modifiers = std::bit_cast<std::uint32_t>(product);
    binder.out.immediate = std::bit_cast<std::uint64_t>(
        FloatMmaPlan::of(dot_product_rule(binder.arch, a, half), a, b, 4));
    return true;
}

}  // namespace

bool bind_hgmma(Binder& binder) {
    const Word& word = binder.word;
    if (is_group_end(word)) return bind_group_end(binder);
    constexpr TensorType kTypes[] = {TensorType::kFp16, TensorType::kBf16, TensorType::kTf32};
    const auto number = static_cast<unsigned>(word.bits(76, 2));
    if (number >= std::size(kTypes)) return false;
    const TensorType type = kTypes[number];
    const bool tf32 = type == TensorType::kTf32;
    const bool sparse = word.bit(73);
    // k: bit 58 for 8 (dense tf32), bit 59 for 32 (sparse fp16 and bf16), none for 16.
    if (word.bit(58) != (tf32 && !sparse) || word.bit(59) != (!tf32 && sparse)) return false;
    const bool half = !word.bit(75);
    if (half && type != TensorType::kFp16) return false;
    if (!bind_float(binder, type, type)) return false;
    binder.out.execute = tf32 ? execute_float<std::uint32_t> : execute_float<std::uint16_t>;
    return true;
}

bool bind_qgmma(Binder& binder) {
    const Word& word = binder.word;
    if (word.bit(58) != word.bit(73)) return false;  // k: 64 where sparse
    const TensorType a = word.bit(76) ? TensorType::kE5m2 : TensorType::kE4m3;
    const TensorType b = word.bit(77) ? TensorType::kE5m2 : TensorType::kE4m3;
    if (!bind_float(binder, a, b)) return false;
    binder.out.execute = execute_float<std::uint8_t>;
    return true;
}

}  // namespace lockstep::sass
