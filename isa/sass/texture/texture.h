// SPDX-License-Identifier: Apache-2.0
// Texture and surface objects: images, how they are sampled, and the table by handle that a device
// keeps of them.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "isa/sass/texture/image.h"

namespace lockstep::sass {

/// What a coordinate beyond the image reads (numbers as cudaTextureAddressMode's).
enum class AddressMode : std::uint8_t { kWrap, kClamp, kMirror, kBorder };

struct Sampler {
    AddressMode address[3] = {AddressMode::kClamp, AddressMode::kClamp, AddressMode::kClamp};
    bool is_linear = false;  ///< blends neighbours; else the texel that holds the point
    bool is_linear_between_levels = false;
    bool normalized_coordinates = false;
    bool normalized_values = false;  ///< integers are read as floats in [0, 1] or [-1, 1]
    bool is_srgb = false;            ///< unsigned 8-bit channels but the fourth are sRGB
    float border[4] = {};
    float level_bias = 0, min_level = 0, max_level = 0;
};

struct Texture {
    std::vector<Image> levels;  ///< of a mipmap; else one
    Sampler sampler;
    std::uint64_t buffer_texels = 0;  ///< of linear memory; 0: an array or pitched memory
    bool reads_floats() const {
        return sampler.normalized_values || levels.front().kind == TexelKind::kFloat;
    }
};

/// The objects of a device. Handles are never used twice, so that what a kernel still in flight
/// reads stays as it was.
class TextureTable {
  public:
    std::uint32_t add(Texture texture) {
        textures_.push_back(std::move(texture));
        return kFirst + static_cast<std::uint32_t>(textures_.size() - 1);
    }
    /// Null: no such handle.
    const Texture* find(std::uint32_t handle) const {
        return handle - kFirst < textures_.size() ? &textures_[handle - kFirst] : nullptr;
    }

  private:
    static constexpr std::uint32_t kFirst = 1;
    std::deque<Texture> textures_;
};

}  // namespace lockstep::sass
