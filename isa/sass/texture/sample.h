// SPDX-License-Identifier: Apache-2.0
// What a texture reads at a point: the texels that take part, and what they come to.
#pragma once

#include <cstdint>

#include "isa/sass/texture/texture.h"

namespace lockstep::sass {

/// How an instruction numbers its coordinates.
enum class TextureShape : std::uint8_t {
    k1D,
    k2D,
    k3D,
    kCube,
    k1DLayered,
    k2DLayered,
    kCubeLayered
};

/// Coordinates that the shape takes, the layer not counted.
constexpr unsigned dimensions(TextureShape shape) {
    constexpr unsigned kDimensions[] = {1, 2, 3, 3, 1, 2, 3};
    return kDimensions[static_cast<unsigned>(shape)];
}
constexpr bool is_layered(TextureShape shape) {
    return shape >= TextureShape::k1DLayered;
}

/// Where a point is looked up.
struct TexturePoint {
    float coordinate[3] = {};
    std::int32_t offset[3] = {};  ///< texels
    std::uint32_t layer = 0;
    float level = 0;
};

/// A texel and its share of the result. Beyond the image: the border's colour.
struct Tap {
    std::uint64_t address = 0, timed_address = 0;
    double weight = 1;
    const Image* image = nullptr;
    bool is_border = false;
};

/// Two levels of eight texels at most.
struct Taps {
    static constexpr unsigned kCapacity = 16;
    unsigned count = 0;
    Tap tap[kCapacity];
    void add(const Tap& tap_to_add) { tap[count++] = tap_to_add; }
};

/// TEX: the texels by the sampler's filter.
Taps sampled(const Texture& texture, TextureShape shape, const TexturePoint& point);
/// TLD4: the four that a linear filter blends, in the order of the result.
Taps gathered(const Texture& texture, TextureShape shape, const TexturePoint& point);
/// TLD: one texel by integer coordinates; none (count 0) beyond the image.
Taps fetched(const Texture& texture, TextureShape shape, const std::int32_t (&coordinate)[3],
             std::uint32_t layer, std::uint32_t level);

/// The level whose texels are as large as a step of the derivatives (in coordinates, by axis: along
/// the screen's x and y).
float level_of(const Texture& texture, unsigned dimensions, const float (&dx)[3],
               const float (&dy)[3]);

/// A texel in registers as the texture reads it: extended, normalised or of sRGB.
Texel read_texel(const Texture& texture, const Image& image, const std::byte* bytes);
Texel border_texel(const Texture& texture);

}  // namespace lockstep::sass
