// SPDX-License-Identifier: Apache-2.0
// Arrays, texture objects and surface objects.
#include "workloads/cuda_api/state/array.h"

#include "workloads/cuda_api/runtime/call.h"

namespace lockstep::cuda {
namespace {

Error with_object(abi::TextureObject handle, bool is_surface,
                  const std::function<void(const Arrays::Object&)>& read) {
    return call([&](Context& context) {
        const Arrays::Object* const object = context.arrays.find(handle, is_surface);
        if (object == nullptr) return Error::kInvalidResourceHandle;
        read(*object);
        return Error::kSuccess;
    });
}

/// `flags`, which CUDA 11 lacks, is left alone.
void copy_resource(abi::ResourceDesc& to, const abi::ResourceDesc& from) {
    to.resType = from.resType;
    to.res = from.res;
}

Error create_texture(abi::TextureObject* handle, const abi::ResourceDesc* resource,
                     const abi::TextureDesc* texture, const abi::ResourceViewDesc* view) {
    return call([&](Context& context) {
        if (!handle || !resource || !texture) return Error::kInvalidValue;
        Arrays::Object object{.has_view = view != nullptr};
        copy_resource(object.resource, *resource);
        object.texture = *texture;
        if (view) object.view = *view;
        return context.arrays.create_texture(*handle, object);
    });
}

}  // namespace

LOCKSTEP_CUDA Error cudaMallocArray(Array** array, const abi::ChannelFormatDesc* format,
                                    std::size_t width, std::size_t height, unsigned flags) {
    return call_and_wait([&](Context& context) {
        if (!array || !format) return Error::kInvalidValue;
        return context.arrays.create(*array, *format, {width, height, 0}, flags);
    });
}
LOCKSTEP_CUDA Error cudaMalloc3DArray(Array** array, const abi::ChannelFormatDesc* format,
                                      abi::Extent extent, unsigned flags) {
    return call_and_wait([&](Context& context) {
        if (!array || !format) return Error::kInvalidValue;
        return context.arrays.create(*array, *format, extent, flags);
    });
}
LOCKSTEP_CUDA Error cudaFreeArray(Array* array) {
    return call_and_wait([&](Context& context) {
        if (array) context.wait_for_all();
        return context.arrays.destroy(array);
    });
}
LOCKSTEP_CUDA Error cudaArrayGetInfo(abi::ChannelFormatDesc* format, abi::Extent* extent,
                                     unsigned* flags, Array* array) {
    return call([&](Context& context) {
        if (!context.arrays.is_array(array)) return Error::kInvalidResourceHandle;
        if (format) *format = array->format;
        if (extent) *extent = array->extent;
        if (flags) *flags = array->flags;
        return Error::kSuccess;
    });
}
LOCKSTEP_CUDA Error cudaGetChannelDesc(abi::ChannelFormatDesc* format, const Array* array) {
    return call([&](Context& context) {
        if (!format || !context.arrays.is_array(array)) return Error::kInvalidValue;
        *format = array->format;
        return Error::kSuccess;
    });
}

LOCKSTEP_CUDA Error cudaMallocMipmappedArray(MipmappedArray** mipmap,
                                             const abi::ChannelFormatDesc* format,
                                             abi::Extent extent, unsigned levels, unsigned flags) {
    return call_and_wait([&](Context& context) {
        if (!mipmap || !format) return Error::kInvalidValue;
        return context.arrays.create(*mipmap, *format, extent, levels, flags);
    });
}
LOCKSTEP_CUDA Error cudaFreeMipmappedArray(MipmappedArray* mipmap) {
    return call_and_wait([&](Context& context) {
        if (mipmap) context.wait_for_all();
        return context.arrays.destroy(mipmap);
    });
}
LOCKSTEP_CUDA Error cudaGetMipmappedArrayLevel(Array** level, const MipmappedArray* mipmap,
                                               unsigned number) {
    return call([&](Context& context) {
        if (!level || !context.arrays.is_mipmapped_array(mipmap) || number >= mipmap->levels.size())
            return Error::kInvalidValue;
        *level = mipmap->levels[number];
        return Error::kSuccess;
    });
}

LOCKSTEP_CUDA Error cudaCreateTextureObject(abi::TextureObject* handle,
                                            const abi::ResourceDesc* resource,
                                            const abi::TextureDesc* texture,
                                            const abi::ResourceViewDesc* view) {
    return create_texture(handle, resource, texture, view);
}
LOCKSTEP_CUDA Error cudaCreateTextureObject_v2(abi::TextureObject* handle,
                                               const abi::ResourceDesc* resource,
                                               const abi::TextureDesc* texture,
                                               const abi::ResourceViewDesc* view) {
    return create_texture(handle, resource, texture, view);
}
LOCKSTEP_CUDA Error cudaDestroyTextureObject(abi::TextureObject handle) {
    return call([&](Context& context) { return context.arrays.destroy_object(handle, false); });
}
LOCKSTEP_CUDA Error cudaGetTextureObjectResourceDesc(abi::ResourceDesc* resource,
                                                     abi::TextureObject handle) {
    return with_object(handle, false, [&](const Arrays::Object& object) {
        copy_resource(*resource, object.resource);
    });
}
LOCKSTEP_CUDA Error cudaGetTextureObjectTextureDesc(abi::TextureDesc* texture,
                                                    abi::TextureObject handle) {
    return with_object(handle, false,
                       [&](const Arrays::Object& object) { *texture = object.texture; });
}
LOCKSTEP_CUDA Error cudaGetTextureObjectResourceViewDesc(abi::ResourceViewDesc* view,
                                                         abi::TextureObject handle) {
    return with_object(handle, false, [&](const Arrays::Object& object) { *view = object.view; });
}

LOCKSTEP_CUDA Error cudaCreateSurfaceObject(abi::TextureObject* handle,
                                            const abi::ResourceDesc* resource) {
    return call([&](Context& context) {
        return handle && resource ? context.arrays.create_surface(*handle, *resource)
                                  : Error::kInvalidValue;
    });
}
LOCKSTEP_CUDA Error cudaDestroySurfaceObject(abi::TextureObject handle) {
    return call([&](Context& context) { return context.arrays.destroy_object(handle, true); });
}
LOCKSTEP_CUDA Error cudaGetSurfaceObjectResourceDesc(abi::ResourceDesc* resource,
                                                     abi::TextureObject handle) {
    return with_object(handle, true, [&](const Arrays::Object& object) {
        copy_resource(*resource, object.resource);
    });
}

}  // namespace lockstep::cuda
