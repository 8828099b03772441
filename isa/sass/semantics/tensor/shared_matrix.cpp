// SPDX-License-Identifier: Apache-2.0
// The descriptor: bits 0-13 start, 16-29 leading byte offset, 32-45 stride byte offset, all in
// units of 16 bytes; 49-51 base offset; 62-63 swizzle (CUTLASS, mma_sm90_desc.hpp).
#include "isa/sass/semantics/tensor/shared_matrix.h"

#include <fmt/format.h>

namespace lockstep::sass {

namespace {

constexpr std::uint32_t field(std::uint64_t descriptor, unsigned first, unsigned bits) {
    return static_cast<std::uint32_t>(descriptor >> first & ((1u << bits) - 1));
}

}  // namespace

SharedMatrix::SharedMatrix(std::uint64_t descriptor, Major major, const Warp& warp)
    : shared_(warp.cta->shared),
      bytes_(warp.cta->launch->shared_bytes),
      start_(field(descriptor, 0, 14) * kPieceBytes),
      base_offset_(field(descriptor, 49, 3)) {
    constexpr unsigned kWidths[] = {1, 8, 4, 2};  // no swizzle, 128 bytes, 64, 32
    width_ = kWidths[field(descriptor, 62, 2)];
    const std::uint32_t leading = field(descriptor, 16, 14) * kPieceBytes;
    const std::uint32_t stride = field(descriptor, 32, 14) * kPieceBytes;
    // Without a swizzle an mn-major matrix has its two strides the other way round.
    const bool exchanged = major == Major::kMn && width_ == 1;
    line_stride_ = exchanged ? leading : stride;
    piece_stride_ = exchanged ? stride : leading;
}

void SharedMatrix::fail(std::uint32_t address) const {
    throw Fault{
        .kind = FaultKind::kIllegalAddress,
        .what = fmt::format("a matrix descriptor leads to {:#x} in shared memory, beyond the "
                            "{:#x} bytes of the CTA",
                            address, bytes_),
        .address = address,
        .bytes = kPieceBytes,
        .space = Space::kShared};
}

}  // namespace lockstep::sass
