// SPDX-License-Identifier: Apache-2.0
// The driver's descriptors of arrays, textures and surfaces, with the names of cuda.h.
#pragma once

#include "workloads/cuda_api/driver/abi.h"
#include "workloads/cuda_api/state/abi_texture.h"

namespace lockstep::cuda::driver {

/// CUDA_ARRAY_DESCRIPTOR
struct ArrayDescriptor {
    std::size_t Width, Height;
    unsigned Format, NumChannels;
};
/// CUDA_ARRAY3D_DESCRIPTOR
struct Array3DDescriptor {
    std::size_t Width, Height, Depth;
    unsigned Format, NumChannels, Flags;
};
/// CUDA_RESOURCE_DESC
struct ResourceDescriptor {
    abi::ResourceType resType;
    union {
        struct {
            Array* hArray;
        } array;
        struct {
            MipmappedArray* hMipmappedArray;
        } mipmap;
        struct {
            Pointer devPtr;
            unsigned format, numChannels;
            std::size_t sizeInBytes;
        } linear;
        struct {
            Pointer devPtr;
            unsigned format, numChannels;
            std::size_t width, height, pitchInBytes;
        } pitch2D;
        int reserved[32];
    } res;
    unsigned flags;
};
/// CUDA_TEXTURE_DESC
struct TextureDescriptor {
    int addressMode[3];
    int filterMode;
    unsigned flags, maxAnisotropy;
    int mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    float borderColor[4];
    int reserved[12];
};

}  // namespace lockstep::cuda::driver
