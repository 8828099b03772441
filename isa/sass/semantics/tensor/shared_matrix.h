// SPDX-License-Identifier: Apache-2.0
// A matrix in shared memory as the warpgroup's matrix instructions see it: a 64-bit descriptor says
// where it starts, how it is laid out and how it is swizzled.
#pragma once

#include <cstddef>
#include <cstdint>

#include "isa/sass/state.h"

namespace lockstep::sass {

/// Which index of the matrix runs within 16 bytes: k (of the dot product), or m of A and n of B.
enum class Major : std::uint8_t { kK, kMn };

/// The canonical layouts of wgmma (PTX ISA, "Shared Memory Matrix Layout"; CUTLASS,
/// mma_traits_sm90_gmma.hpp). A line holds pieces of 16 bytes: by k-major one row of A or column of
/// B, its pieces along k; by mn-major one k, its pieces along m or n. Eight lines and a swizzle's
/// width of pieces (1, 2, 4, 8) are an atom of consecutive bytes; the descriptor's two strides lead
/// from atom to atom.
class SharedMatrix {
  public:
    static constexpr unsigned kPieceBytes = 16;

    SharedMatrix(std::uint64_t descriptor, Major major, const Warp& warp);

    /// The bytes of one piece. Throws Fault where they lie outside the CTA's shared memory.
    const std::byte* piece(unsigned line, unsigned number) const {
        const std::uint32_t offset =
            line % kAtomLines * (width_ * kPieceBytes) + line / kAtomLines * line_stride_ +
            number % width_ * kPieceBytes + number / width_ * piece_stride_;
        const std::uint32_t address = swizzled(start_ + offset);
        if (address + kPieceBytes > bytes_) [[unlikely]]
            fail(address);
        return shared_ + address;
    }

  private:
    static constexpr unsigned kAtomLines = 8;
    static constexpr unsigned kLineBits = 7;  ///< the swizzle takes the line from this bit on

    /// Pieces of a line are permuted by its number, which is taken from the address: of an atom
    /// that does not begin at a multiple of its size, the descriptor tells the number of the first.
    std::uint32_t swizzled(std::uint32_t address) const {
        return address ^ ((((address >> kLineBits) - base_offset_) & (width_ - 1)) << 4);
    }
    [[noreturn]] void fail(std::uint32_t address) const;

    const std::byte* shared_;
    std::uint64_t bytes_;  ///< of the CTA's shared memory
    std::uint32_t start_;
    std::uint32_t base_offset_;
    std::uint32_t line_stride_;   ///< bytes, between atoms
    std::uint32_t piece_stride_;  ///< likewise
    unsigned width_;              ///< pieces of a line in an atom
};

}  // namespace lockstep::sass
