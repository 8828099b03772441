// SPDX-License-Identifier: Apache-2.0
// Arrays, texture and surface objects as they cross the runtime's interface.
#pragma once

#include "workloads/cuda_api/state/abi.h"

namespace lockstep::cuda {

class Array;
class MipmappedArray;

namespace abi {

using TextureObject = unsigned long long;

enum ArrayFlag : unsigned {
    kArrayLayered = 1,
    kArraySurfaceLoadStore = 2,
    kArrayCubemap = 4,
    kArrayTextureGather = 8
};
enum ChannelKind : int { kChannelSigned, kChannelUnsigned, kChannelFloat };
enum ResourceType : int {
    kResourceArray,
    kResourceMipmappedArray,
    kResourceLinear,
    kResourcePitch2D
};

/// cudaResourceDesc; `flags` from CUDA 12 on.
struct ResourceDesc {
    ResourceType resType;
    union {
        struct {
            Array* array;
        } array;
        struct {
            MipmappedArray* mipmap;
        } mipmap;
        struct {
            void* devPtr;
            ChannelFormatDesc desc;
            std::size_t sizeInBytes;
        } linear;
        struct {
            void* devPtr;
            ChannelFormatDesc desc;
            std::size_t width, height, pitchInBytes;
        } pitch2D;
        int reserved[32];
    } res;
    unsigned flags;
};

/// cudaTextureDesc; `seamlessCubemap` from CUDA 11.8 on.
struct TextureDesc {
    int addressMode[3];
    int filterMode;  ///< 1: linear
    int readMode;    ///< 1: normalised floats
    int sRGB;
    float borderColor[4];
    int normalizedCoords;
    unsigned maxAnisotropy;
    int mipmapFilterMode;
    float mipmapLevelBias, minMipmapLevelClamp, maxMipmapLevelClamp;
    int disableTrilinearOptimization;
    int seamlessCubemap;
};

/// cudaResourceViewDesc
struct ResourceViewDesc {
    int format;  ///< 0: the resource's own
    std::size_t width, height, depth;
    unsigned firstMipmapLevel, lastMipmapLevel, firstLayer, lastLayer;
    unsigned reserved[16];
};

}  // namespace abi
}  // namespace lockstep::cuda
