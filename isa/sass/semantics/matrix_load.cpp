// SPDX-License-Identifier: Apache-2.0
// LDSM and STSM (ldmatrix, stmatrix): 8x8 matrices of 16-bit elements between shared memory and the
// fragment layout of the Tensor Core. Lane 8i+r holds the address of row r of matrix i; register i
// of lane l holds elements 2(l%4) and 2(l%4)+1 of row l/4, or of column l/4 with .trans (MT88).
// The layouts M816 and M832 (8- and 4-bit elements) are not executed.
#include <array>
#include <cstring>

#include "isa/sass/semantics/access.h"
#include "isa/sass/semantics/async_copy.h"

namespace lockstep::sass {

namespace {

constexpr unsigned kRowBytes = 16;  ///< of a matrix
constexpr unsigned kMatrixRows = 8;
constexpr std::uint32_t kTranspose = 1u << kAddressBits;

/// A matrix, row by row; without transposition also register i of the fragment, lane by lane.
union Matrix {
    Row fragment;
    std::uint16_t element[kMatrixRows][kMatrixRows];
};

/// Element pairs across: what was row r, column c is row c, column r.
void transpose(Row& to, const Row& from) {
#if defined(__AVX512BW__)
    alignas(64) static constexpr auto kIndex = [] {
        std::array<std::uint16_t, 64> index{};
        for (unsigned r = 0; r < 8; ++r)
            for (unsigned c = 0; c < 8; ++c)
                index[8 * r + c] = static_cast<std::uint16_t>(8 * c + r);
        return index;
    }();
    const __m512i low = _mm512_load_si512(from.lane), high = _mm512_load_si512(from.lane + 16);
    _mm512_store_si512(to.lane,
                       _mm512_permutex2var_epi16(low, _mm512_load_si512(kIndex.data()), high));
    _mm512_store_si512(to.lane + 16,
                       _mm512_permutex2var_epi16(low, _mm512_load_si512(kIndex.data() + 32), high));
#else
    Matrix a, b;
    a.fragment = from;
    for (unsigned r = 0; r < kMatrixRows; ++r)
        for (unsigned c = 0; c < kMatrixRows; ++c) b.element[r][c] = a.element[c][r];
    to = b.fragment;
#endif
}

/// Checks the row addresses that the lanes hold; inactive lanes hold none.
std::uintptr_t begin_matrices(const Instruction& in, Warp& warp, Direction direction,
                              unsigned matrices) {
    compute_addresses(in, warp);
    const std::uint32_t mask = warp.mask;
    const unsigned rows = matrices * kMatrixRows;
    warp.mask &= rows == kWarpSize ? kAllLanes : (1u << rows) - 1;
    if (warp.mask != (rows == kWarpSize ? kAllLanes : (1u << rows) - 1))
        throw Fault{.kind = FaultKind::kIllegalInstruction,
                    .what = "a matrix access needs the addresses of all its rows",
                    .lane = static_cast<unsigned>(std::countr_zero(mask)),
                    .space = Space::kShared};
    note_access(warp, Space::kShared, direction, kRowBytes);
    const Target target = shared_target(warp, kRowBytes, direction);
    warp.mask = mask;
    return target.base;
}

template <unsigned kMatrices>
void execute_ldsm(const Instruction& in, Warp& warp) {
    const std::uintptr_t base = begin_matrices(in, warp, Direction::kLoad, kMatrices);
    Row* const d = &warp.row(in.d);
    for (unsigned i = 0; i < kMatrices; ++i) {
        Row rows;
        for (unsigned r = 0; r < kMatrixRows; ++r)
            std::memcpy(rows.lane + 4 * r, host_at(base, warp.access.address[kMatrixRows * i + r]),
                        kRowBytes);
        if (in.modifiers & kTranspose) transpose(rows, Row(rows));
        copy_lanes(d[i], rows, warp.mask);
    }
}

template <unsigned kMatrices>
void execute_stsm(const Instruction& in, Warp& warp) {
    const std::uintptr_t base = begin_matrices(in, warp, Direction::kStore, kMatrices);
    const Row* const b = &warp.row(in.b);
    for (unsigned i = 0; i < kMatrices; ++i) {
        Row rows = b[i];
        if (in.modifiers & kTranspose) transpose(rows, b[i]);
        for (unsigned r = 0; r < kMatrixRows; ++r)
            std::memcpy(host_at(base, warp.access.address[kMatrixRows * i + r]), rows.lane + 4 * r,
                        kRowBytes);
    }
}

bool bind_matrix(Binder& binder, const Execute (&by_count)[3], unsigned uniform_bit) {
    const auto count = static_cast<unsigned>(binder.word.bits(72, 2));
    const auto layout = static_cast<unsigned>(binder.word.bits(78, 2));
    if (count >= std::size(by_count) || layout > 1) return false;
    binder.out.a = binder.source_register(24);
    const bool uniform = has_uniform_address(binder);
    if (uniform) binder.out.d2 = binder.source_uniform(uniform_bit);
    set_address(binder, uniform ? AddressForm::k32PlusUniform : AddressForm::k32,
                binder.word.signed_bits(40, 24));
    if (layout == 1) binder.out.modifiers |= kTranspose;
    binder.out.width = kRowBytes;
    binder.out.execute = by_count[count];
    return true;
}

}  // namespace

bool bind_ldsm(Binder& binder) {
    constexpr Execute kByCount[] = {execute_ldsm<1>, execute_ldsm<2>, execute_ldsm<4>};
    binder.out.d = binder.dest_register(16, 1u << binder.word.bits(72, 2));
    return bind_matrix(binder, kByCount, 32);
}

bool bind_stsm(Binder& binder) {
    constexpr Execute kByCount[] = {execute_stsm<1>, execute_stsm<2>, execute_stsm<4>};
    if (binder.word.bit(75)) return false;
    binder.out.b = binder.source_register(32, 1u << binder.word.bits(72, 2));
    return bind_matrix(binder, kByCount, 64);
}

}  // namespace lockstep::sass
