// SPDX-License-Identifier: Apache-2.0
// Filtering and addressing as in the CUDA C++ Programming Guide, "Texture Fetching": a linear
// filter's weights have 8 bits of fraction, and 1 is among them, so that they are rounded, not cut
// off. Coordinates are scaled exactly here and rounded once to 8 bits of fraction, ties upwards;
// the weighted sum is rounded once (gather: sample() of the semantics). Faces of a cube are those
// of the guide's table, without filtering across edges. What hardware's intermediate precision is,
// is not published.
#include "isa/sass/texture/sample.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstddef>

namespace lockstep::sass {

namespace {

constexpr double kWeightSteps = 256;

/// Index of a texel after addressing; -1: beyond, the border's colour.
std::int64_t addressed(std::int64_t index, std::uint32_t size, AddressMode mode) {
    const std::int64_t n = size;
    if (index >= 0 && index < n) return index;
    switch (mode) {
        case AddressMode::kWrap:
            return (index % n + n) % n;
        case AddressMode::kClamp:
            return std::clamp<std::int64_t>(index, 0, n - 1);
        case AddressMode::kMirror: {
            const std::int64_t period = 2 * n, in = (index % period + period) % period;
            return in < n ? in : period - 1 - in;
        }
        case AddressMode::kBorder:
            break;
    }
    return -1;
}

/// The texels along one axis: one, or two with what the second weighs.
struct Axis {
    std::int64_t index[2] = {0, 0};
    double weight[2] = {1, 0};
    unsigned count = 1;
};

/// Wrapping and mirroring are of normalised coordinates only (Programming Guide).
AddressMode mode_of(const Sampler& sampler, unsigned axis) {
    const AddressMode mode = sampler.address[axis];
    const bool repeats = mode == AddressMode::kWrap || mode == AddressMode::kMirror;
    return repeats && !sampler.normalized_coordinates ? AddressMode::kClamp : mode;
}

Axis axis_of(const Sampler& sampler, unsigned number, std::uint32_t size, float coordinate,
             std::int32_t offset, bool is_linear) {
    const AddressMode mode = mode_of(sampler, number);
    double at = static_cast<double>(coordinate);
    if (std::isnan(at)) at = 0;
    if (sampler.normalized_coordinates) at *= size;
    // Far beyond the image every texel is the edge's; wrapping needs the exact place.
    const double far = 4.0 * size + 1024;
    if (mode == AddressMode::kWrap || mode == AddressMode::kMirror)
        at = std::isinf(at) ? 0 : std::fmod(at, 2.0 * size);
    at = std::clamp(at, -far, far) + offset;
    Axis axis;
    if (!is_linear) {
        axis.index[0] = addressed(static_cast<std::int64_t>(std::floor(at)), size, mode);
        return axis;
    }
    const double fixed = std::floor((at - 0.5) * kWeightSteps + 0.5);
    const double first = std::floor(fixed / kWeightSteps);
    const double second_weight = fixed / kWeightSteps - first;
    axis.count = 2;
    for (int i = 0; i < 2; ++i)
        axis.index[i] = addressed(static_cast<std::int64_t>(first) + i, size, mode);
    axis.weight[0] = 1 - second_weight;
    axis.weight[1] = second_weight;
    return axis;
}

/// Face of a cube and the coordinates on it, in [0, 1].
struct Face {
    std::uint32_t number;
    float s, t;
};
Face face_of(const float (&c)[3]) {
    const float x = c[0], y = c[1], z = c[2];
    const float ax = std::fabs(x), ay = std::fabs(y), az = std::fabs(z);
    std::uint32_t number = 0;
    float major = 0, s = 0, t = 0;
    if (ax >= ay && ax >= az) {
        number = x >= 0 ? 0 : 1, major = ax, s = x >= 0 ? -z : z, t = -y;
    } else if (ay >= az) {
        number = y >= 0 ? 2 : 3, major = ay, s = x, t = y >= 0 ? z : -z;
    } else {
        number = z >= 0 ? 4 : 5, major = az, s = z >= 0 ? x : -x, t = -y;
    }
    if (major == 0) return {number, 0.5f, 0.5f};
    return {number, (s / major + 1) / 2, (t / major + 1) / 2};
}

/// Coordinates and slice of a point in the shape's image.
struct Place {
    float coordinate[3];
    unsigned dimensions;
    bool has_slice;
    std::uint32_t slice;
};
Place place_of(TextureShape shape, const TexturePoint& point) {
    Place place{{point.coordinate[0], point.coordinate[1], point.coordinate[2]},
                dimensions(shape),
                is_layered(shape),
                point.layer};
    if (shape == TextureShape::kCube || shape == TextureShape::kCubeLayered) {
        const Face face = face_of(point.coordinate);
        place = {{face.s, face.t, 0}, 2, true, point.layer * 6 + face.number};
    }
    return place;
}

void add_tap(const Image& image, std::int64_t x, std::int64_t y, std::int64_t z, double weight,
             Taps& taps) {
    Tap tap{.weight = weight, .image = &image, .is_border = x < 0 || y < 0 || z < 0};
    if (!tap.is_border) {
        const auto i = static_cast<std::uint32_t>(x), j = static_cast<std::uint32_t>(y),
                   k = static_cast<std::uint32_t>(z);
        tap.address = image.address_of(i, j, k);
        tap.timed_address = image.timed_address_of(i, j, k);
    }
    taps.add(tap);
}

/// Cube maps are looked up by a direction, so that their coordinates are normalised always.
Sampler sampler_for(const Texture& texture, TextureShape shape) {
    Sampler sampler = texture.sampler;
    if (shape == TextureShape::kCube || shape == TextureShape::kCubeLayered) {
        sampler.normalized_coordinates = true;
        for (AddressMode& mode : sampler.address) mode = AddressMode::kClamp;
    }
    return sampler;
}

void sample_level(const Sampler& sampler, const Image& image, const Place& place,
                  const TexturePoint& point, double share, Taps& taps) {
    const std::uint32_t size[3] = {image.width, image.height, image.depth};
    Axis axis[3];
    for (unsigned d = 0; d < place.dimensions; ++d)
        axis[d] =
            axis_of(sampler, d, size[d], place.coordinate[d], point.offset[d], sampler.is_linear);
    if (place.has_slice)
        axis[2].index[0] = std::min<std::int64_t>(place.slice, std::int64_t{image.depth} - 1);
    for (unsigned k = 0; k < axis[2].count; ++k)
        for (unsigned j = 0; j < axis[1].count; ++j)
            for (unsigned i = 0; i < axis[0].count; ++i)
                add_tap(image, axis[0].index[i], axis[1].index[j], axis[2].index[k],
                        share * axis[0].weight[i] * axis[1].weight[j] * axis[2].weight[k], taps);
}

}  // namespace

Taps sampled(const Texture& texture, TextureShape shape, const TexturePoint& point) {
    const Sampler sampler = sampler_for(texture, shape);
    const Place place = place_of(shape, point);
    Taps taps;
    const auto last = static_cast<float>(texture.levels.size() - 1);
    const float level = std::clamp(
        std::clamp(point.level + sampler.level_bias, sampler.min_level, sampler.max_level), 0.0f,
        last);
    if (!sampler.is_linear_between_levels) {
        const auto nearest = static_cast<std::size_t>(std::floor(level + 0.5f));
        sample_level(sampler, texture.levels[nearest], place, point, 1, taps);
        return taps;
    }
    const double fixed = std::floor(static_cast<double>(level) * kWeightSteps + 0.5) / kWeightSteps;
    const auto first = static_cast<std::size_t>(fixed);
    const double share = fixed - static_cast<double>(first);
    sample_level(sampler, texture.levels[first], place, point, 1 - share, taps);
    if (share != 0) sample_level(sampler, texture.levels[first + 1], place, point, share, taps);
    return taps;
}

Taps gathered(const Texture& texture, TextureShape shape, const TexturePoint& point) {
    const Sampler sampler = sampler_for(texture, shape);
    const Place place = place_of(shape, point);
    const Image& image = texture.levels.front();
    const std::uint32_t size[2] = {image.width, image.height};
    Axis axis[2];
    for (unsigned d = 0; d < 2; ++d)
        axis[d] = axis_of(sampler, d, size[d], place.coordinate[d], point.offset[d], true);
    const std::int64_t z =
        place.has_slice ? std::min<std::int64_t>(place.slice, std::int64_t{image.depth} - 1) : 0;
    // Counterclockwise from the lower left, y upwards (PTX ISA, tld4).
    constexpr unsigned kColumn[] = {0, 1, 1, 0}, kRow[] = {1, 1, 0, 0};
    Taps taps;
    for (unsigned i = 0; i < 4; ++i)
        add_tap(image, axis[0].index[kColumn[i]], axis[1].index[kRow[i]], z, 1, taps);
    return taps;
}

Taps fetched(const Texture& texture, TextureShape shape, const std::int32_t (&coordinate)[3],
             std::uint32_t layer, std::uint32_t level) {
    Taps taps;
    if (level >= texture.levels.size()) return taps;
    const Image& image = texture.levels[level];
    const std::uint64_t size[3] = {texture.buffer_texels != 0 ? texture.buffer_texels : image.width,
                                   image.height, image.depth};
    std::uint64_t at[3] = {0, 0, is_layered(shape) ? layer : 0};
    for (unsigned d = 0; d < dimensions(shape); ++d) {
        if (coordinate[d] < 0) return taps;
        at[d] = static_cast<std::uint64_t>(coordinate[d]);
    }
    if (at[0] >= size[0] || at[1] >= size[1] || at[2] >= size[2]) return taps;
    add_tap(image, static_cast<std::int64_t>(at[0]), static_cast<std::int64_t>(at[1]),
            static_cast<std::int64_t>(at[2]), 1, taps);
    return taps;
}

float level_of(const Texture& texture, unsigned dimensions, const float (&dx)[3],
               const float (&dy)[3]) {
    const Image& image = texture.levels.front();
    const std::uint32_t size[3] = {image.width, image.height, image.depth};
    double squared[2] = {0, 0};
    for (unsigned d = 0; d < dimensions; ++d) {
        const double scale = texture.sampler.normalized_coordinates ? size[d] : 1;
        squared[0] += std::pow(static_cast<double>(dx[d]) * scale, 2);
        squared[1] += std::pow(static_cast<double>(dy[d]) * scale, 2);
    }
    return static_cast<float>(std::log2(std::max(squared[0], squared[1])) / 2);
}

Texel read_texel(const Texture& texture, const Image& image, const std::byte* bytes) {
    const Texel texel = load_texel(image, bytes);
    if (!texture.sampler.normalized_values || image.kind == TexelKind::kFloat) return texel;
    Texel result = normalized(image, texel);
    if (!texture.sampler.is_srgb) return result;
    for (unsigned c = 0; c < 3; ++c) {
        const double v = static_cast<double>(std::bit_cast<float>(result.channel[c]));
        const double linear = v <= 0.04045 ? v / 12.92 : std::pow((v + 0.055) / 1.055, 2.4);
        result.channel[c] = std::bit_cast<std::uint32_t>(static_cast<float>(linear));
    }
    return result;
}

Texel border_texel(const Texture& texture) {
    Texel texel;
    for (unsigned c = 0; c < 4; ++c) {
        const float value = texture.sampler.border[c];
        texel.channel[c] = texture.reads_floats()
                               ? std::bit_cast<std::uint32_t>(value)
                               : static_cast<std::uint32_t>(static_cast<std::int64_t>(value));
    }
    return texel;
}

}  // namespace lockstep::sass
