// SPDX-License-Identifier: Apache-2.0
// Arrays, texture objects and surface objects: the runtime's, under the driver's descriptors.
#include "workloads/cuda_api/state/array.h"

#include <algorithm>

#include "workloads/cuda_api/driver/abi_array.h"
#include "workloads/cuda_api/driver/call.h"

namespace lockstep::cuda::driver {
namespace {

struct Format {
    unsigned code;  ///< CUarray_format
    int bits;
    abi::ChannelKind kind;
};
constexpr Format kFormats[] = {{0x01, 8, abi::kChannelUnsigned},  {0x02, 16, abi::kChannelUnsigned},
                               {0x03, 32, abi::kChannelUnsigned}, {0x08, 8, abi::kChannelSigned},
                               {0x09, 16, abi::kChannelSigned},   {0x0a, 32, abi::kChannelSigned},
                               {0x10, 16, abi::kChannelFloat},    {0x20, 32, abi::kChannelFloat}};

/// All zero, which no array takes, where there is no such format.
abi::ChannelFormatDesc channels(unsigned format, unsigned count) {
    for (const Format& f : kFormats) {
        if (f.code != format) continue;
        const auto bits = [&](unsigned channel) { return channel < count ? f.bits : 0; };
        return {bits(0), bits(1), bits(2), bits(3), f.kind};
    }
    return {};
}

Array3DDescriptor descriptor_of(const Array& array) {
    Array3DDescriptor d{array.extent.width,   array.extent.height, array.extent.depth, 0,
                        array.image.channels, array.flags};
    for (const Format& f : kFormats)
        if (f.bits == array.format.x && f.kind == array.format.f) d.Format = f.code;
    return d;
}

Error create(cuda::Context& context, Array** array, const Array3DDescriptor* d) {
    if (!array || !d) return Error::kInvalidValue;
    const Error error = context.arrays.create(*array, channels(d->Format, d->NumChannels),
                                              {d->Width, d->Height, d->Depth}, d->Flags);
    return error == Error::kInvalidChannelDescriptor ? Error::kInvalidValue : error;
}

abi::ResourceDesc resource_of(const ResourceDescriptor& d) {
    abi::ResourceDesc r{.resType = d.resType};
    switch (d.resType) {
        case abi::kResourceArray:
            r.res.array.array = d.res.array.hArray;
            break;
        case abi::kResourceMipmappedArray:
            r.res.mipmap.mipmap = d.res.mipmap.hMipmappedArray;
            break;
        case abi::kResourceLinear: {
            const auto& l = d.res.linear;
            r.res.linear = {host_pointer(l.devPtr), channels(l.format, l.numChannels),
                            l.sizeInBytes};
            break;
        }
        case abi::kResourcePitch2D: {
            const auto& p = d.res.pitch2D;
            r.res.pitch2D = {host_pointer(p.devPtr), channels(p.format, p.numChannels), p.width,
                             p.height, p.pitchInBytes};
            break;
        }
    }
    return r;
}

abi::TextureDesc texture_of(const TextureDescriptor& d) {
    constexpr unsigned kAsInteger = 0x01, kNormalizedCoordinates = 0x02, kSrgb = 0x10;
    abi::TextureDesc t{};
    std::copy_n(d.addressMode, 3, t.addressMode);
    t.filterMode = d.filterMode;
    t.readMode = (d.flags & kAsInteger) == 0;
    t.sRGB = (d.flags & kSrgb) != 0;
    std::copy_n(d.borderColor, 4, t.borderColor);
    t.normalizedCoords = (d.flags & kNormalizedCoordinates) != 0;
    t.maxAnisotropy = d.maxAnisotropy;
    t.mipmapFilterMode = d.mipmapFilterMode;
    t.mipmapLevelBias = d.mipmapLevelBias;
    t.minMipmapLevelClamp = d.minMipmapLevelClamp;
    t.maxMipmapLevelClamp = d.maxMipmapLevelClamp;
    return t;
}

/// Integers of 32 bits are read as such, whatever the flags say.
void settle_read_mode(abi::TextureDesc& texture, const abi::ResourceDesc& resource) {
    const abi::ChannelFormatDesc* format = nullptr;
    if (resource.resType == abi::kResourceArray) format = &resource.res.array.array->format;
    if (resource.resType == abi::kResourceMipmappedArray)
        format = &resource.res.mipmap.mipmap->levels.front()->format;
    if (resource.resType == abi::kResourceLinear) format = &resource.res.linear.desc;
    if (resource.resType == abi::kResourcePitch2D) format = &resource.res.pitch2D.desc;
    if (format != nullptr && format->x == 32) texture.readMode = 0;
}

bool is_known(cuda::Context& context, const abi::ResourceDesc& resource) {
    if (resource.resType == abi::kResourceArray)
        return context.arrays.is_array(resource.res.array.array);
    if (resource.resType == abi::kResourceMipmappedArray)
        return context.arrays.is_mipmapped_array(resource.res.mipmap.mipmap);
    return true;
}

/// The bytes from `at` on in the first row, as the driver's copies of a line take them.
Result copy_line(Array* array, std::size_t at, std::size_t bytes,
                 const std::function<Copy(char*)>& copy, Stream* stream, Waits waits) {
    return in_context(
        [&](cuda::Context& context) {
            if (!context.arrays.is_array(array) || !contains({array, at}, bytes, 1, 1))
                return Error::kInvalidValue;
            return context.streams.submit(
                stream, copy(array->at(at, 0, 0)),
                waits == Waits::kYes ? Returns::kWhenDone : Returns::kWhenSubmitted);
        },
        waits);
}

Copy run(void* dst, const void* src, std::size_t bytes, abi::MemcpyKind kind) {
    return {dst, src, bytes, 1, 1, bytes, bytes, bytes, bytes, kind};
}

Result to_array(Array* array, std::size_t at, const void* src, std::size_t bytes,
                abi::MemcpyKind kind, Stream* stream, Waits waits) {
    return copy_line(
        array, at, bytes, [&](char* place) { return run(place, src, bytes, kind); }, stream, waits);
}

Result from_array(void* dst, Array* array, std::size_t at, std::size_t bytes, abi::MemcpyKind kind,
                  Stream* stream, Waits waits) {
    return copy_line(
        array, at, bytes, [&](char* place) { return run(dst, place, bytes, kind); }, stream, waits);
}

}  // namespace

LOCKSTEP_DRIVER(cuArrayCreate_v2, (Array * *array, const ArrayDescriptor* d)) {
    return in_context([&](cuda::Context& context) {
        if (!d) return Error::kInvalidValue;
        const Array3DDescriptor whole{d->Width, d->Height, 0, d->Format, d->NumChannels, 0};
        return create(context, array, &whole);
    });
}
LOCKSTEP_DRIVER(cuArray3DCreate_v2, (Array * *array, const Array3DDescriptor* d)) {
    return in_context([&](cuda::Context& context) { return create(context, array, d); });
}
LOCKSTEP_DRIVER(cuArrayDestroy, (Array * array)) {
    return in_context(
        [&](cuda::Context& context) {
            context.wait_for_all();
            return array ? context.arrays.destroy(array) : Error::kInvalidResourceHandle;
        },
        Waits::kYes);
}
LOCKSTEP_DRIVER(cuArrayGetDescriptor_v2, (ArrayDescriptor * d, Array* array)) {
    return in_context([&](cuda::Context& context) {
        if (!context.arrays.is_array(array)) return Error::kInvalidResourceHandle;
        const Array3DDescriptor whole = descriptor_of(*array);
        return store(d,
                     ArrayDescriptor{whole.Width, whole.Height, whole.Format, whole.NumChannels});
    });
}
LOCKSTEP_DRIVER(cuArray3DGetDescriptor_v2, (Array3DDescriptor * d, Array* array)) {
    return in_context([&](cuda::Context& context) {
        if (!context.arrays.is_array(array)) return Error::kInvalidResourceHandle;
        return store(d, descriptor_of(*array));
    });
}
LOCKSTEP_DRIVER(cuMipmappedArrayCreate,
                (MipmappedArray * *mipmap, const Array3DDescriptor* d, unsigned levels)) {
    return in_context([&](cuda::Context& context) {
        if (!mipmap || !d) return Error::kInvalidValue;
        const Error error =
            context.arrays.create(*mipmap, channels(d->Format, d->NumChannels),
                                  {d->Width, d->Height, d->Depth}, levels, d->Flags);
        return error == Error::kInvalidChannelDescriptor ? Error::kInvalidValue : error;
    });
}
LOCKSTEP_DRIVER(cuMipmappedArrayGetLevel,
                (Array * *level, MipmappedArray* mipmap, unsigned number)) {
    return in_context([&](cuda::Context& context) {
        if (!context.arrays.is_mipmapped_array(mipmap)) return Error::kInvalidResourceHandle;
        if (number >= mipmap->levels.size()) return Error::kInvalidValue;
        return store(level, mipmap->levels[number]);
    });
}
LOCKSTEP_DRIVER(cuMipmappedArrayDestroy, (MipmappedArray * mipmap)) {
    return in_context(
        [&](cuda::Context& context) {
            context.wait_for_all();
            return mipmap ? context.arrays.destroy(mipmap) : Error::kInvalidResourceHandle;
        },
        Waits::kYes);
}

LOCKSTEP_DRIVER(cuTexObjectCreate,
                (abi::TextureObject * handle, const ResourceDescriptor* resource,
                 const TextureDescriptor* texture, const abi::ResourceViewDesc* view)) {
    return in_context([&](cuda::Context& context) {
        if (!handle || !resource || !texture) return Error::kInvalidValue;
        Arrays::Object object{.resource = resource_of(*resource),
                              .texture = texture_of(*texture),
                              .has_view = view != nullptr};
        if (!is_known(context, object.resource)) return Error::kInvalidValue;
        settle_read_mode(object.texture, object.resource);
        if (view) object.view = *view;
        const Error error = context.arrays.create_texture(*handle, object);
        return error == Error::kSuccess || error == Error::kNotSupported ? error
                                                                         : Error::kInvalidValue;
    });
}
LOCKSTEP_DRIVER(cuTexObjectDestroy, (abi::TextureObject handle)) {
    return in_context(
        [&](cuda::Context& context) { return context.arrays.destroy_object(handle, false); });
}
LOCKSTEP_DRIVER(cuSurfObjectCreate,
                (abi::TextureObject * handle, const ResourceDescriptor* resource)) {
    return in_context([&](cuda::Context& context) {
        if (!handle || !resource) return Error::kInvalidValue;
        return context.arrays.create_surface(*handle, resource_of(*resource));
    });
}
LOCKSTEP_DRIVER(cuSurfObjectDestroy, (abi::TextureObject handle)) {
    return in_context(
        [&](cuda::Context& context) { return context.arrays.destroy_object(handle, true); });
}

LOCKSTEP_DRIVER(cuMemcpyHtoA_v2,
                (Array * dst, std::size_t at, const void* src, std::size_t bytes)) {
    return to_array(dst, at, src, bytes, abi::kHostToDevice, nullptr, Waits::kYes);
}
LOCKSTEP_DRIVER(cuMemcpyHtoAAsync_v2,
                (Array * dst, std::size_t at, const void* src, std::size_t bytes, Stream* stream)) {
    return to_array(dst, at, src, bytes, abi::kHostToDevice, stream, Waits::kNo);
}
LOCKSTEP_DRIVER(cuMemcpyAtoH_v2, (void* dst, Array* src, std::size_t at, std::size_t bytes)) {
    return from_array(dst, src, at, bytes, abi::kDeviceToHost, nullptr, Waits::kYes);
}
LOCKSTEP_DRIVER(cuMemcpyAtoHAsync_v2,
                (void* dst, Array* src, std::size_t at, std::size_t bytes, Stream* stream)) {
    return from_array(dst, src, at, bytes, abi::kDeviceToHost, stream, Waits::kNo);
}
LOCKSTEP_DRIVER(cuMemcpyDtoA_v2, (Array * dst, std::size_t at, Pointer src, std::size_t bytes)) {
    return to_array(dst, at, host_pointer(src), bytes, abi::kDeviceToDevice, nullptr, Waits::kYes);
}
LOCKSTEP_DRIVER(cuMemcpyAtoD_v2, (Pointer dst, Array* src, std::size_t at, std::size_t bytes)) {
    return from_array(host_pointer(dst), src, at, bytes, abi::kDeviceToDevice, nullptr,
                      Waits::kYes);
}

}  // namespace lockstep::cuda::driver
