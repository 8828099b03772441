// SPDX-License-Identifier: Apache-2.0
// IGMMA (8-bit integers) and BGMMA (single bits): a warp's 16 rows of a warpgroup's product, eight
// columns at a time, exact in 32 bits; sums wrap, or with .SAT clamp to the range of int32. Shapes
// and types by opcode bits: what ptxas 13 emits.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <limits>
#include <optional>

#include "isa/sass/semantics/tensor/fragment.h"
#include "isa/sass/semantics/tensor/sparse.h"
#include "isa/sass/semantics/tensor/warpgroup.h"

namespace lockstep::sass {

namespace {

constexpr unsigned kKBytes = 32;  ///< of a row of A as stored
constexpr unsigned kMaxKBytes = 64;

/// Travels in Instruction::immediate.
struct IntegerPlan {
    bool a_is_signed, b_is_signed, saturates;
};

/// A warp's rows of A: 32 bytes each.
void load_a(const Instruction& in, const Warp& warp, const WarpgroupOperands& operands,
            std::uint8_t (*rows)[kKBytes]) {
    if (operands.a) {
        for (unsigned row = 0; row < kWarpRows; ++row)
            for (unsigned piece = 0; piece < 2; ++piece)
                std::memcpy(rows[row] + piece * SharedMatrix::kPieceBytes,
                            operands.a->piece(operands.first_row + row, piece),
                            SharedMatrix::kPieceBytes);
        return;
    }
    const FragmentA fragment(&warp.row(in.a), 4);
    for (unsigned row = 0; row < kWarpRows; ++row)
        for (unsigned word = 0; word < kKBytes / 4; ++word)
            std::memcpy(rows[row] + 4 * word, &fragment.word[word][row], 4);
}

void load_b(const SharedMatrix& matrix, unsigned column, unsigned bytes, std::uint8_t* to) {
    for (unsigned piece = 0; piece < bytes / SharedMatrix::kPieceBytes; ++piece)
        std::memcpy(to + piece * SharedMatrix::kPieceBytes, matrix.piece(column, piece),
                    SharedMatrix::kPieceBytes);
}

inline float value(std::uint8_t byte, bool is_signed) {
    return is_signed ? static_cast<float>(static_cast<std::int8_t>(byte))
                     : static_cast<float>(byte);
}

inline std::uint32_t add(std::uint32_t c, std::int32_t products, bool saturates) {
    if (!saturates) return c + static_cast<std::uint32_t>(products);
    const std::int64_t sum = std::int64_t{static_cast<std::int32_t>(c)} + products;
    return static_cast<std::uint32_t>(std::clamp<std::int64_t>(
        sum, std::numeric_limits<std::int32_t>::min(), std::numeric_limits<std::int32_t>::max()));
}

/// Calls f(column, sums of 16 rows) for all columns, and moves the sums in and out.
template <typename F>
void for_each_column(const Instruction& in, Warp& warp, const WarpgroupOperands& operands, F&& f) {
    const Row* c = &warp.row(in.c);
    Row* d = &warp.row(in.d);
    for (unsigned slice = 0; slice < operands.product.slices; ++slice, c += 4, d += 4) {
        FragmentC sum;
        if (operands.accumulates)
            sum = FragmentC(c, 4);
        else
            std::memset(sum.element, 0, sizeof sum.element);
        for (unsigned n = 0; n < kSliceColumns; ++n) f(slice * kSliceColumns + n, sum.element[n]);
        sum.write(d, 4, warp.mask);
    }
}

void execute_igmma(const Instruction& in, Warp& warp) {
    const WarpgroupOperands operands(in, warp);
    IntegerPlan plan;
    std::memcpy(&plan, &in.immediate, sizeof plan);
    std::uint8_t rows[kWarpRows][kKBytes];
    load_a(in, warp, operands, rows);
    // Sums of 32 products of bytes are exact in fp32.
    alignas(64) float a[kKBytes][kWarpRows];
    for (unsigned k = 0; k < kKBytes; ++k)
        for (unsigned row = 0; row < kWarpRows; ++row)
            a[k][row] = value(rows[row][k], plan.a_is_signed);

    const bool sparse = operands.product.is_sparse;
    std::optional<SparseIndices> indices;
    if (sparse)
        indices.emplace(warp.row(in.d2), operands.product.selector, SparseKind::kBytes, kKBytes);
    for_each_column(in, warp, operands, [&](unsigned column, std::uint32_t* sum) {
        std::uint8_t bytes[kMaxKBytes];
        float b[kMaxKBytes];
        const unsigned depth = sparse ? kMaxKBytes : kKBytes;
        load_b(operands.b, column, depth, bytes);
        for (unsigned k = 0; k < depth; ++k) b[k] = value(bytes[k], plan.b_is_signed);
        alignas(64) float products[kWarpRows] = {};
        for (unsigned k = 0; k < kKBytes; ++k) {
            if (sparse) {
                for (unsigned row = 0; row < kWarpRows; ++row)
                    products[row] += a[k][row] * b[indices->column[k][row]];
            } else {
                for (unsigned row = 0; row < kWarpRows; ++row)
                    products[row] = std::fma(a[k][row], b[k], products[row]);
            }
        }
        for (unsigned row = 0; row < kWarpRows; ++row)
            sum[row] = add(sum[row], static_cast<std::int32_t>(products[row]), plan.saturates);
    });
}

void execute_bgmma(const Instruction& in, Warp& warp) {
    const WarpgroupOperands operands(in, warp);
    std::uint8_t rows[kWarpRows][kKBytes];
    load_a(in, warp, operands, rows);
    for_each_column(in, warp, operands, [&](unsigned column, std::uint32_t* sum) {
        std::uint64_t b[kKBytes / 8], a[kKBytes / 8];
        load_b(operands.b, column, kKBytes, reinterpret_cast<std::uint8_t*>(b));
        for (unsigned row = 0; row < kWarpRows; ++row) {
            std::memcpy(a, rows[row], sizeof a);
            for (unsigned i = 0; i < std::size(a); ++i)
                sum[row] += static_cast<std::uint32_t>(std::popcount(a[i] & b[i]));
        }
    });
}

}  // namespace

bool bind_igmma(Binder& binder) {
    const Word& word = binder.word;
    const bool sparse = word.bit(73);
    const auto shape = static_cast<unsigned>(word.bits(53, 6));
    if (shape % 3 != (sparse ? 1u : 0u)) return false;
    if (word.bit(77) || word.bit(83)) return false;  // 4-bit types
    if (!bind_warpgroup_product(binder, 4)) return false;
    const IntegerPlan plan{word.bit(76), word.bit(82), word.bit(75)};
    std::memcpy(&binder.out.immediate, &plan, sizeof plan);
    binder.out.execute = execute_igmma;
    return true;
}

bool bind_bgmma(Binder& binder) {
    const Word& word = binder.word;
    constexpr unsigned kAnd = 2;
    if (word.bits(77, 2) != kAnd || !word.bit(80) || word.bit(73)) return false;
    if (!bind_warpgroup_product(binder, 4)) return false;
    binder.out.execute = execute_bgmma;
    return true;
}

}  // namespace lockstep::sass
