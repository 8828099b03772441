// SPDX-License-Identifier: Apache-2.0
// Block-linear layout: GOBs of 64 bytes by 8 rows, stacked in blocks of up to 16; within a GOB
// sectors of 16 bytes by 2 rows. Source: NVIDIA Tegra X1 Technical Reference Manual, "Block
// Linear"; which block height a driver chooses is not published, here the smallest power of two
// that holds the rows.
#include "isa/sass/texture/image.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "sim/numerics/fp16.h"

namespace lockstep::sass {

namespace {

constexpr std::uint32_t kGobBytes = kBlockBytes * kBlockRows;
constexpr std::uint32_t kMostGobs = 16;

std::uint32_t block_rows(std::uint32_t height) {
    const std::uint32_t gobs = (height + kBlockRows - 1) / kBlockRows;
    return kBlockRows * std::min(kMostGobs, std::bit_ceil(gobs));
}

std::uint64_t round_up(std::uint64_t value, std::uint64_t to) {
    return (value + to - 1) / to * to;
}

}  // namespace

std::uint64_t lay_out_array(Image& image) {
    image.is_block_linear = true;
    image.pitch = round_up(std::uint64_t{image.width} * image.texel_bytes(), kBlockBytes);
    image.slice = image.pitch * round_up(image.height, block_rows(image.height));
    return image.slice * image.depth;
}

std::uint64_t Image::timed_address_of(std::uint32_t x, std::uint32_t y, std::uint32_t z) const {
    if (!is_block_linear) return address_of(x, y, z);
    const std::uint64_t byte = std::uint64_t{x} * texel_bytes();
    const std::uint32_t rows = block_rows(height);
    const std::uint64_t block = y / rows * (pitch / kBlockBytes) + byte / kBlockBytes;
    const std::uint64_t gob = block * (rows / kBlockRows) + y % rows / kBlockRows;
    const std::uint64_t column = byte % kBlockBytes, row = y % kBlockRows;
    return address + z * slice + gob * kGobBytes + column / 32 * 256 + row / 2 * 64 +
           column % 32 / 16 * 32 + row % 2 * 16 + column % 16;
}

Texel load_texel(const Image& image, const std::byte* bytes) {
    Texel texel;
    if (image.kind == TexelKind::kFloat) texel.channel[3] = std::bit_cast<std::uint32_t>(1.0f);
    for (unsigned c = 0; c < image.channels; ++c) {
        std::uint32_t raw = 0;
        std::memcpy(&raw, bytes + c * image.channel_bytes, image.channel_bytes);
        const unsigned unused = 32 - 8 * image.channel_bytes;
        if (image.kind == TexelKind::kFloat && image.channel_bytes == 2)
            raw = std::bit_cast<std::uint32_t>(
                numerics::fp16_to_fp32(static_cast<std::uint16_t>(raw)));
        else if (image.kind == TexelKind::kSigned)
            raw = static_cast<std::uint32_t>(static_cast<std::int32_t>(raw << unused) >>
                                             static_cast<int>(unused));
        texel.channel[c] = raw;
    }
    return texel;
}

Texel normalized(const Image& image, const Texel& texel) {
    Texel result;
    result.channel[3] = std::bit_cast<std::uint32_t>(1.0f);
    const unsigned bits = 8 * image.channel_bytes;
    for (unsigned c = 0; c < image.channels; ++c) {
        const float value =
            image.kind == TexelKind::kSigned
                ? std::max(-1.0f, static_cast<float>(static_cast<std::int32_t>(texel.channel[c])) /
                                      static_cast<float>((1u << (bits - 1)) - 1))
                : static_cast<float>(texel.channel[c]) / static_cast<float>((1u << bits) - 1);
        result.channel[c] = std::bit_cast<std::uint32_t>(value);
    }
    return result;
}

}  // namespace lockstep::sass
