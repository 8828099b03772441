// SPDX-License-Identifier: Apache-2.0
// An array's rows lie in device memory, so that copies to and from it are boxes like any other.
// What a texture needs to be sampled is handed to the device when the object is made.
#include "workloads/cuda_api/state/array.h"

#include <algorithm>

#include "workloads/cuda_api/state/context.h"

namespace lockstep::cuda {
namespace {

/// False where no texel has this format.
bool set_format(sass::Image& image, const abi::ChannelFormatDesc& format) {
    const int bits[] = {format.x, format.y, format.z, format.w};
    unsigned channels = 0;
    while (channels < 4 && bits[channels] != 0) ++channels;
    for (unsigned c = 0; c < 4; ++c)
        if (bits[c] != (c < channels ? bits[0] : 0)) return false;
    if ((channels != 1 && channels != 2 && channels != 4) ||
        (bits[0] != 8 && bits[0] != 16 && bits[0] != 32))
        return false;
    if (format.f < abi::kChannelSigned || format.f > abi::kChannelFloat ||
        (format.f == abi::kChannelFloat && bits[0] == 8))
        return false;
    constexpr sass::TexelKind kKinds[] = {sass::TexelKind::kSigned, sass::TexelKind::kUnsigned,
                                          sass::TexelKind::kFloat};
    image.channels = static_cast<std::uint8_t>(channels);
    image.channel_bytes = static_cast<std::uint8_t>(bits[0] / 8);
    image.kind = kKinds[format.f];
    return true;
}

/// Another reading of the same texels: 24 formats of 1, 2 or 4 channels each.
bool set_view(sass::Image& image, int format) {
    constexpr int kFormats = 24;
    if (format < 1 || format > kFormats) return false;
    constexpr std::uint8_t kChannels[] = {1, 2, 4}, kBytes[] = {1, 1, 2, 2, 4, 4, 2, 4};
    constexpr sass::TexelKind kUnsigned = sass::TexelKind::kUnsigned,
                              kSigned = sass::TexelKind::kSigned, kFloat = sass::TexelKind::kFloat;
    constexpr sass::TexelKind kKinds[] = {kUnsigned, kSigned, kUnsigned, kSigned,
                                          kUnsigned, kSigned, kFloat,    kFloat};
    const unsigned bytes = image.texel_bytes();
    image.channels = kChannels[(format - 1) % 3];
    image.channel_bytes = kBytes[(format - 1) / 3];
    image.kind = kKinds[(format - 1) / 3];
    return image.texel_bytes() == bytes;
}

std::size_t at_least_1(std::size_t size) {
    return std::max<std::size_t>(size, 1);
}

}  // namespace

Error Arrays::create(Array*& result, const abi::ChannelFormatDesc& format, abi::Extent extent,
                     unsigned flags) {
    constexpr std::size_t kMostTexels = 1u << 27;
    auto array = std::make_unique<Array>();
    if (!set_format(array->image, format)) return Error::kInvalidChannelDescriptor;
    const bool is_cube = (flags & abi::kArrayCubemap) != 0;
    if (extent.width == 0 || extent.width > kMostTexels || extent.height > kMostTexels ||
        extent.depth > kMostTexels)
        return Error::kInvalidValue;
    if (is_cube && (extent.width != extent.height || extent.depth == 0 || extent.depth % 6 != 0))
        return Error::kInvalidValue;
    array->format = format;
    array->extent = extent;
    array->flags = flags;
    array->image.width = static_cast<std::uint32_t>(extent.width);
    array->image.height = static_cast<std::uint32_t>(at_least_1(extent.height));
    array->image.depth = static_cast<std::uint32_t>(at_least_1(extent.depth));
    void* memory = nullptr;
    const Error error =
        context_.memory.allocate(&memory, sass::lay_out_array(array->image), MemoryKind::kDevice);
    if (error != Error::kSuccess) return error;
    array->image.address = reinterpret_cast<std::uint64_t>(memory);
    result = array.get();
    arrays_[result] = std::move(array);
    return Error::kSuccess;
}

Error Arrays::destroy(Array* array) {
    if (!array) return Error::kSuccess;
    const auto it = arrays_.find(array);
    if (it == arrays_.end()) return Error::kInvalidResourceHandle;
    const Error error = context_.memory.free_device(reinterpret_cast<void*>(array->image.address));
    arrays_.erase(it);
    return error;
}

Error Arrays::create(MipmappedArray*& result, const abi::ChannelFormatDesc& format,
                     abi::Extent extent, unsigned levels, unsigned flags) {
    const bool is_layered = (flags & (abi::kArrayLayered | abi::kArrayCubemap)) != 0;
    std::size_t largest = std::max({extent.width, extent.height, is_layered ? 0 : extent.depth});
    unsigned most = 0;
    for (; largest != 0; largest /= 2) ++most;
    auto mipmap = std::make_unique<MipmappedArray>();
    for (unsigned level = 0; level < std::clamp(levels, 1u, std::max(most, 1u)); ++level) {
        Array* array = nullptr;
        const Error error = create(array, format, extent, flags);
        if (error != Error::kSuccess) {
            for (Array* made : mipmap->levels) destroy(made);
            return error;
        }
        mipmap->levels.push_back(array);
        extent.width = at_least_1(extent.width / 2);
        if (extent.height != 0) extent.height = at_least_1(extent.height / 2);
        if (extent.depth != 0 && !is_layered) extent.depth = at_least_1(extent.depth / 2);
    }
    result = mipmap.get();
    mipmaps_[result] = std::move(mipmap);
    return Error::kSuccess;
}

Error Arrays::destroy(MipmappedArray* mipmap) {
    if (!mipmap) return Error::kSuccess;
    const auto it = mipmaps_.find(mipmap);
    if (it == mipmaps_.end()) return Error::kInvalidResourceHandle;
    for (Array* level : mipmap->levels) destroy(level);
    mipmaps_.erase(it);
    return Error::kSuccess;
}

Error Arrays::images_of(const abi::ResourceDesc& resource, sass::Texture& texture) const {
    const auto& r = resource.res;
    sass::Image image;
    switch (resource.resType) {
        case abi::kResourceArray:
            if (!is_array(r.array.array)) return Error::kInvalidResourceHandle;
            texture.levels = {r.array.array->image};
            return Error::kSuccess;
        case abi::kResourceMipmappedArray:
            if (!is_mipmapped_array(r.mipmap.mipmap)) return Error::kInvalidResourceHandle;
            for (const Array* level : r.mipmap.mipmap->levels)
                texture.levels.push_back(level->image);
            return Error::kSuccess;
        case abi::kResourceLinear: {
            if (!set_format(image, r.linear.desc)) return Error::kInvalidChannelDescriptor;
            if (!context_.memory.accessible(r.linear.devPtr, r.linear.sizeInBytes, true))
                return Error::kInvalidValue;
            texture.buffer_texels = r.linear.sizeInBytes / image.texel_bytes();
            if (texture.buffer_texels == 0) return Error::kInvalidValue;
            image.address = reinterpret_cast<std::uint64_t>(r.linear.devPtr);
            image.width = static_cast<std::uint32_t>(
                std::min<std::uint64_t>(texture.buffer_texels, ~std::uint32_t{0}));
            texture.levels = {image};
            return Error::kSuccess;
        }
        case abi::kResourcePitch2D: {
            if (!set_format(image, r.pitch2D.desc)) return Error::kInvalidChannelDescriptor;
            if (r.pitch2D.width == 0 || r.pitch2D.height == 0 ||
                r.pitch2D.pitchInBytes < r.pitch2D.width * image.texel_bytes())
                return Error::kInvalidValue;
            const std::size_t bytes = (r.pitch2D.height - 1) * r.pitch2D.pitchInBytes +
                                      r.pitch2D.width * image.texel_bytes();
            if (!context_.memory.accessible(r.pitch2D.devPtr, bytes, true))
                return Error::kInvalidValue;
            image.address = reinterpret_cast<std::uint64_t>(r.pitch2D.devPtr);
            image.width = static_cast<std::uint32_t>(r.pitch2D.width);
            image.height = static_cast<std::uint32_t>(r.pitch2D.height);
            image.pitch = r.pitch2D.pitchInBytes;
            texture.levels = {image};
            return Error::kSuccess;
        }
    }
    return Error::kInvalidValue;
}

Error Arrays::create_texture(abi::TextureObject& handle, const Object& object) {
    sass::Texture texture;
    if (const Error error = images_of(object.resource, texture); error != Error::kSuccess)
        return error;
    const bool is_linear_memory = object.resource.resType == abi::kResourceLinear;
    if (object.has_view) {
        const abi::ResourceViewDesc& view = object.view;
        const auto last = std::min<std::size_t>(view.lastMipmapLevel, texture.levels.size() - 1);
        if (view.firstMipmapLevel > last || view.firstLayer > view.lastLayer)
            return Error::kInvalidValue;
        texture.levels = {texture.levels.begin() + view.firstMipmapLevel,
                          texture.levels.begin() + static_cast<std::ptrdiff_t>(last) + 1};
        for (sass::Image& image : texture.levels) {
            if (view.format != 0 && !set_view(image, view.format)) return Error::kInvalidValue;
            if (view.lastLayer == 0) continue;
            if (view.lastLayer >= image.depth) return Error::kInvalidValue;
            image.address += view.firstLayer * image.slice;
            image.depth = view.lastLayer - view.firstLayer + 1;
        }
    }
    const abi::TextureDesc& d = object.texture;
    const sass::Image& image = texture.levels.front();
    sass::Sampler& s = texture.sampler;
    const auto is_choice = [](int value, int choices) { return value >= 0 && value < choices; };
    if (!is_choice(d.filterMode, 2) || !is_choice(d.readMode, 2) ||
        !is_choice(d.mipmapFilterMode, 2))
        return Error::kInvalidValue;
    s.normalized_values = d.readMode == 1 && image.kind != sass::TexelKind::kFloat;
    if (s.normalized_values && image.channel_bytes == 4) return Error::kInvalidNormSetting;
    s.is_linear = d.filterMode == 1 && !is_linear_memory;
    if (s.is_linear && !texture.reads_floats()) return Error::kInvalidFilterSetting;
    for (unsigned axis = 0; axis < 3; ++axis) {
        if (!is_choice(d.addressMode[axis], 4)) return Error::kInvalidValue;
        s.address[axis] = static_cast<sass::AddressMode>(d.addressMode[axis]);
    }
    // Compilers read a one-dimensional array as a row of two dimensions.
    const bool is_row = object.resource.resType == abi::kResourceArray &&
                        object.resource.res.array.array->extent.height == 0;
    if (is_row) s.address[1] = s.address[2] = sass::AddressMode::kClamp;
    s.normalized_coordinates = d.normalizedCoords != 0;
    s.is_srgb = d.sRGB != 0;
    s.is_linear_between_levels = d.mipmapFilterMode == 1;
    s.level_bias = d.mipmapLevelBias;
    s.min_level = d.minMipmapLevelClamp;
    s.max_level = d.maxMipmapLevelClamp;
    std::copy_n(d.borderColor, 4, s.border);
    handle = context_.device().add_texture(std::move(texture));
    if (handle == 0) return Error::kNotSupported;
    objects_[handle] = object;
    return Error::kSuccess;
}

Error Arrays::create_surface(abi::TextureObject& handle, const abi::ResourceDesc& resource) {
    if (resource.resType != abi::kResourceArray) return Error::kInvalidValue;
    sass::Texture surface;
    if (const Error error = images_of(resource, surface); error != Error::kSuccess) return error;
    if ((resource.res.array.array->flags & abi::kArraySurfaceLoadStore) == 0)
        return Error::kInvalidValue;
    handle = context_.device().add_texture(std::move(surface));
    if (handle == 0) return Error::kNotSupported;
    objects_[handle] = {.resource = resource, .is_surface = true};
    return Error::kSuccess;
}

Error Arrays::destroy_object(abi::TextureObject handle, bool is_surface) {
    if (handle == 0) return Error::kSuccess;
    if (find(handle, is_surface) == nullptr) return Error::kInvalidResourceHandle;
    objects_.erase(handle);
    return Error::kSuccess;
}

const Arrays::Object* Arrays::find(abi::TextureObject handle, bool is_surface) const {
    const auto it = objects_.find(handle);
    return it == objects_.end() || it->second.is_surface != is_surface ? nullptr : &it->second;
}

void Arrays::clear() {
    objects_.clear();
    mipmaps_.clear();
    arrays_.clear();
}

bool contains(const ArrayRegion& region, std::size_t width, std::size_t height, std::size_t depth) {
    const sass::Image& image = region.array->image;
    const auto fits = [](std::size_t at, std::size_t size, std::size_t whole) {
        return at <= whole && size <= whole - at;
    };
    return fits(region.x, width, image.width * std::size_t{image.texel_bytes()}) &&
           fits(region.y, height, image.height) && fits(region.z, depth, image.depth);
}

}  // namespace lockstep::cuda
