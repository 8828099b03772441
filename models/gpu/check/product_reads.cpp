// SPDX-License-Identifier: Apache-2.0
// A row of A and a column of B are 32 bytes along k in all types, B's twice that where A is sparse.
// Only 16-bit numbers may lie along m or n.
#include "models/gpu/check/product_reads.h"

#include <bit>

#include "isa/sass/fault.h"
#include "isa/sass/semantics/tensor/warpgroup.h"

namespace lockstep::gpu::check {

namespace {

constexpr unsigned kKBytes = 32, kHalfBytes = 2;
constexpr unsigned kPiece = sass::SharedMatrix::kPieceBytes;

struct Extent {
    unsigned first = 0, count = 0;
};

void pieces_of(const sass::SharedMatrix& matrix, Extent lines, Extent pieces,
               const sass::Warp& warp, const std::function<void(std::uint32_t)>& f) {
    for (unsigned line = lines.first; line < lines.first + lines.count; ++line)
        for (unsigned piece = pieces.first; piece < pieces.first + pieces.count; ++piece)
            f(static_cast<std::uint32_t>(matrix.piece(line, piece) - warp.cta->shared));
}

}  // namespace

void for_each_piece(const sass::Word& word, const sass::Instruction& in, const sass::Warp& warp,
                    const std::function<void(std::uint32_t)>& f) {
    using sass::Major;
    const auto product = std::bit_cast<sass::WarpgroupProduct>(in.modifiers);
    if (product.slices == 0) return;
    const sass::Row* const rows = &warp.row(in.b);
    const auto matrix = [&](unsigned index, bool is_mn_major) {
        const std::uint64_t descriptor =
            rows[2 * index].lane[0] | std::uint64_t{rows[2 * index + 1].lane[0]} << 32;
        return sass::SharedMatrix(descriptor, is_mn_major ? Major::kMn : Major::kK, warp);
    };
    const unsigned in_group = warp.index % sass::kWarpgroupWarps;
    const unsigned b_bytes = kKBytes * (product.is_sparse ? 2 : 1);
    const unsigned columns = sass::warpgroup_columns(word), first_row = in_group * sass::kWarpRows;
    constexpr unsigned kHalves = kPiece / kHalfBytes;  // of a piece
    try {
        if (product.a_in_shared && product.a_is_mn_major)
            pieces_of(matrix(0, true), {0, kKBytes / kHalfBytes},
                      {first_row / kHalves, sass::kWarpRows / kHalves}, warp, f);
        else if (product.a_in_shared)
            pieces_of(matrix(0, false), {first_row, sass::kWarpRows}, {0, kKBytes / kPiece}, warp,
                      f);
        if (in_group != 0) return;
        if (product.b_is_mn_major)
            pieces_of(matrix(1, true), {0, b_bytes / kHalfBytes}, {0, columns / kHalves}, warp, f);
        else
            pieces_of(matrix(1, false), {0, columns}, {0, b_bytes / kPiece}, warp, f);
    } catch (const sass::Fault&) {
        return;
    }
}

}  // namespace lockstep::gpu::check
