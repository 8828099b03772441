// SPDX-License-Identifier: Apache-2.0
// Which texels a point reads and what they weigh, by the formulas of the CUDA C++ Programming
// Guide, "Texture Fetching".
#include "isa/sass/texture/sample.h"

#include <gtest/gtest.h>

#include <bit>
#include <cstring>
#include <set>

namespace lockstep::sass {
namespace {

constexpr std::uint32_t kWidth = 8, kHeight = 4;

Texture texture_of(AddressMode mode, bool is_linear, bool normalized) {
    Texture texture;
    texture.levels = {{.address = 0x1000,
                       .width = kWidth,
                       .height = kHeight,
                       .pitch = 32,
                       .slice = 128,
                       .kind = TexelKind::kFloat}};
    texture.sampler.address[0] = texture.sampler.address[1] = mode;
    texture.sampler.is_linear = is_linear;
    texture.sampler.normalized_coordinates = normalized;
    return texture;
}

/// Column of the only texel of a point; -1: the border's colour.
int column(AddressMode mode, bool normalized, float x) {
    const Texture texture = texture_of(mode, false, normalized);
    const Taps taps =
        sampled(texture, TextureShape::k2D, {.coordinate = {x, normalized ? 0.1f : 0.5f}});
    EXPECT_EQ(taps.count, 1u);
    return taps.tap[0].is_border ? -1 : static_cast<int>((taps.tap[0].address - 0x1000) / 4);
}

TEST(TextureSample, PointsBeyondTheImageFollowTheAddressMode) {
    using enum AddressMode;
    EXPECT_EQ(column(kClamp, false, 3.99f), 3);
    EXPECT_EQ(column(kClamp, false, -2.5f), 0);
    EXPECT_EQ(column(kClamp, false, 1e30f), 7);
    EXPECT_EQ(column(kBorder, false, -0.01f), -1);
    EXPECT_EQ(column(kBorder, false, 8.0f), -1);
    EXPECT_EQ(column(kWrap, true, 1.25f), 2);
    EXPECT_EQ(column(kWrap, true, -0.125f), 7);
    EXPECT_EQ(column(kMirror, true, 1.0625f), 7);
    EXPECT_EQ(column(kMirror, true, -0.25f), 1);
    // Without normalised coordinates there is nothing to wrap.
    EXPECT_EQ(column(kWrap, false, 9.5f), 7);
}

TEST(TextureSample, LinearWeightsHaveEightBitsOfFraction) {
    const Texture texture = texture_of(AddressMode::kClamp, true, false);
    const Taps taps = sampled(texture, TextureShape::k2D, {.coordinate = {2.8f, 1.5f}});
    ASSERT_EQ(taps.count, 4u);
    // 2.8 - 0.5 = 2.3; 0.3 * 256 = 76.8.
    EXPECT_EQ(taps.tap[0].weight, 1 - 77 / 256.0);
    EXPECT_EQ(taps.tap[1].weight, 77 / 256.0);
    EXPECT_EQ(taps.tap[2].weight, 0);
    EXPECT_EQ(taps.tap[0].address, 0x1000u + 32 + 2 * 4);
    EXPECT_EQ(taps.tap[1].address, 0x1000u + 32 + 3 * 4);
    // Just below the next texel's centre the weight is 1: it is rounded.
    const Taps next = sampled(texture, TextureShape::k2D, {.coordinate = {3.4999f, 1.5f}});
    EXPECT_EQ(next.tap[0].weight, 1);
    EXPECT_EQ(next.tap[0].address, 0x1000u + 32 + 3 * 4);
}

TEST(TextureSample, LinearFiltersBlendTheBorder) {
    const Texture texture = texture_of(AddressMode::kBorder, true, false);
    const Taps taps = sampled(texture, TextureShape::k2D, {.coordinate = {0.0f, 0.5f}});
    EXPECT_TRUE(taps.tap[0].is_border);
    EXPECT_FALSE(taps.tap[1].is_border);
    EXPECT_EQ(taps.tap[1].weight, 0.5);
}

TEST(TextureSample, LevelsAreChosenOrBlended) {
    Texture texture = texture_of(AddressMode::kClamp, false, true);
    Image small = texture.levels[0];
    small.address = 0x2000;
    small.width = small.height = 2;
    texture.levels.push_back(small);
    texture.sampler.max_level = 8;
    const auto taps = [&](float level) {
        return sampled(texture, TextureShape::k2D, {.coordinate = {0, 0}, .level = level});
    };
    EXPECT_EQ(taps(-32).tap[0].address, 0x1000u);
    EXPECT_EQ(taps(0.6f).tap[0].address, 0x2000u);
    EXPECT_EQ(taps(7).tap[0].address, 0x2000u);
    texture.sampler.is_linear_between_levels = true;
    ASSERT_EQ(taps(0.25f).count, 2u);
    EXPECT_EQ(taps(0.25f).tap[0].weight, 0.75);
    EXPECT_EQ(taps(0.25f).tap[1].address, 0x2000u);
    texture.sampler.max_level = 0;
    EXPECT_EQ(taps(7).tap[0].address, 0x1000u);
}

TEST(TextureSample, DerivativesChooseTheLevel) {
    const Texture texture = texture_of(AddressMode::kClamp, false, true);
    EXPECT_EQ(level_of(texture, 2, {0.25f, 0, 0}, {0, 0.25f, 0}), 1);  // two texels a step
}

TEST(TextureSample, FacesOfACubeAreThoseOfTheGuide) {
    Texture texture = texture_of(AddressMode::kClamp, false, false);
    texture.levels[0].height = kWidth;
    texture.levels[0].slice = 256;
    texture.levels[0].depth = 6;
    const auto face = [&](float x, float y, float z) {
        const Taps taps = sampled(texture, TextureShape::kCube, {.coordinate = {x, y, z}});
        return (taps.tap[0].address - 0x1000) / 256;
    };
    EXPECT_EQ(face(1, 0.2f, 0.3f), 0u);
    EXPECT_EQ(face(-1, 0.2f, 0.3f), 1u);
    EXPECT_EQ(face(0.1f, 2, 0.3f), 2u);
    EXPECT_EQ(face(0.1f, -2, 0.3f), 3u);
    EXPECT_EQ(face(0.1f, 0.2f, 0.3f), 4u);
    EXPECT_EQ(face(0.1f, 0.2f, -0.3f), 5u);
}

TEST(TextureSample, FetchesBeyondTheImageReadNothing) {
    Texture texture = texture_of(AddressMode::kClamp, false, false);
    texture.buffer_texels = 5;
    EXPECT_EQ(fetched(texture, TextureShape::k1D, {4, 0, 0}, 0, 0).count, 1u);
    EXPECT_EQ(fetched(texture, TextureShape::k1D, {5, 0, 0}, 0, 0).count, 0u);
    EXPECT_EQ(fetched(texture, TextureShape::k1D, {-1, 0, 0}, 0, 0).count, 0u);
    EXPECT_EQ(fetched(texture, TextureShape::k1D, {0, 0, 0}, 0, 1).count, 0u);
}

TEST(TextureImage, TexelsAreExtendedOrNormalized) {
    const auto load = [](TexelKind kind, std::uint8_t bytes, std::uint32_t raw) {
        const Image image{.channel_bytes = bytes, .kind = kind};
        std::byte memory[4];
        std::memcpy(memory, &raw, 4);
        return std::pair(image, load_texel(image, memory));
    };
    const auto [s8, minus_one] = load(TexelKind::kSigned, 1, 0xff);
    EXPECT_EQ(minus_one.channel[0], ~0u);
    EXPECT_EQ(std::bit_cast<float>(normalized(s8, minus_one).channel[0]), -1 / 127.0f);
    const auto [u16, most] = load(TexelKind::kUnsigned, 2, 0xffff);
    EXPECT_EQ(most.channel[0], 0xffffu);
    EXPECT_EQ(std::bit_cast<float>(normalized(u16, most).channel[0]), 1);
    const auto [f16, one] = load(TexelKind::kFloat, 2, 0x3c00);
    EXPECT_EQ(std::bit_cast<float>(one.channel[0]), 1);
}

TEST(TextureImage, EachTexelHasAnAddressOfItsOwnInTheBlocks) {
    Image image{.address = 0x10000, .width = 37, .height = 21, .depth = 2, .channels = 2};
    const std::uint64_t bytes = lay_out_array(image);
    EXPECT_EQ(bytes, 2u * 320 * 32);
    std::set<std::uint64_t> addresses;
    for (std::uint32_t z = 0; z < 2; ++z)
        for (std::uint32_t y = 0; y < 21; ++y)
            for (std::uint32_t x = 0; x < 37; ++x) {
                const std::uint64_t address = image.timed_address_of(x, y, z);
                EXPECT_LE(address + 8, image.address + bytes);
                addresses.insert(address);
            }
    EXPECT_EQ(addresses.size(), 37u * 21 * 2);
    // A sector holds 16 bytes of two rows.
    EXPECT_EQ(image.timed_address_of(0, 0, 0) / 32, image.timed_address_of(1, 1, 0) / 32);
    EXPECT_NE(image.timed_address_of(0, 0, 0) / 32, image.timed_address_of(2, 0, 0) / 32);
}

}  // namespace
}  // namespace lockstep::sass
