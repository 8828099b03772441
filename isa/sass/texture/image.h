// SPDX-License-Identifier: Apache-2.0
// Where the texels of a texture or surface lie and how they are stored.
#pragma once

#include <cstddef>
#include <cstdint>

namespace lockstep::sass {

enum class TexelKind : std::uint8_t { kUnsigned, kSigned, kFloat };

/// One level of a mipmap, or all there is. Rows of texels, `pitch` bytes apart, in slices of a
/// volume or layers. An opaque array's rows lie in memory like everything's, so that copies are
/// plain ones; the machine that times accesses sees the addresses of a block-linear layout.
struct Image {
    std::uint64_t address = 0;
    std::uint32_t width = 0, height = 1;  ///< texels
    std::uint32_t depth = 1;              ///< texels of a volume; layers (of a cube: faces) else
    std::uint64_t pitch = 0, slice = 0;   ///< bytes
    std::uint8_t channels = 1;            ///< 1, 2 or 4
    std::uint8_t channel_bytes = 4;       ///< 1, 2 or 4
    TexelKind kind = TexelKind::kUnsigned;
    bool is_block_linear = false;

    unsigned texel_bytes() const { return unsigned{channels} * channel_bytes; }
    std::uint64_t address_of(std::uint32_t x, std::uint32_t y, std::uint32_t z) const {
        return address + z * slice + y * pitch + std::uint64_t{x} * texel_bytes();
    }
    /// For timing: where hardware has the texel's bytes.
    std::uint64_t timed_address_of(std::uint32_t x, std::uint32_t y, std::uint32_t z) const;
};

/// Rows of an array are padded to multiples of these.
constexpr std::uint64_t kBlockBytes = 64;  ///< of a GOB's row
constexpr std::uint32_t kBlockRows = 8;    ///< rows of a GOB
/// Sets pitch and slice for an array; returns the bytes of all slices.
std::uint64_t lay_out_array(Image& image);

/// A texel as its channels are in registers: floats' bits, or integers extended to 32 bits.
/// Channels that the image lacks read 0, of floats the fourth reads 1.
struct Texel {
    std::uint32_t channel[4] = {};
};
/// `bytes`: of the texel in memory.
Texel load_texel(const Image& image, const std::byte* bytes);
/// Integers of 8 or 16 bits to [0, 1] or [-1, 1], as floats' bits.
Texel normalized(const Image& image, const Texel& texel);

}  // namespace lockstep::sass
