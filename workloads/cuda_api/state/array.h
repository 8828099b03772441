// SPDX-License-Identifier: Apache-2.0
// Opaque arrays of texels, mipmaps of them, and the texture and surface objects that kernels read
// them by.
#pragma once

#include <map>
#include <memory>
#include <vector>

#include "isa/sass/texture/texture.h"
#include "workloads/cuda_api/state/abi_texture.h"
#include "workloads/cuda_api/state/operation.h"

namespace lockstep::cuda {

class Context;

class Array {
  public:
    abi::ChannelFormatDesc format{};
    abi::Extent extent{};  ///< as asked for: 0 where a dimension is missing
    unsigned flags = 0;
    sass::Image image;  ///< rows in device memory

    std::size_t texel_bytes() const { return image.texel_bytes(); }
    /// Where a texel lies: x in bytes.
    char* at(std::size_t x, std::size_t y, std::size_t z) const {
        return reinterpret_cast<char*>(image.address) + z * image.slice + y * image.pitch + x;
    }
};

class MipmappedArray {
  public:
    std::vector<Array*> levels;
};

class Arrays {
  public:
    explicit Arrays(Context& context) : context_(context) {}

    Error create(Array*& result, const abi::ChannelFormatDesc& format, abi::Extent extent,
                 unsigned flags);
    Error destroy(Array* array);
    bool is_array(const Array* array) const { return arrays_.count(array) != 0; }

    Error create(MipmappedArray*& result, const abi::ChannelFormatDesc& format, abi::Extent extent,
                 unsigned levels, unsigned flags);
    Error destroy(MipmappedArray* mipmap);
    bool is_mipmapped_array(const MipmappedArray* mipmap) const {
        return mipmaps_.count(mipmap) != 0;
    }

    struct Object {
        abi::ResourceDesc resource{};
        abi::TextureDesc texture{};
        abi::ResourceViewDesc view{};
        bool is_surface = false, has_view = false;
    };
    Error create_texture(abi::TextureObject& handle, const Object& object);
    Error create_surface(abi::TextureObject& handle, const abi::ResourceDesc& resource);
    Error destroy_object(abi::TextureObject handle, bool is_surface);
    /// Null: there is none.
    const Object* find(abi::TextureObject handle, bool is_surface) const;

    /// Forgets everything (cudaDeviceReset), which frees the memory itself.
    void clear();

  private:
    Error images_of(const abi::ResourceDesc& resource, sass::Texture& texture) const;

    Context& context_;
    std::map<const Array*, std::unique_ptr<Array>> arrays_;
    std::map<const MipmappedArray*, std::unique_ptr<MipmappedArray>> mipmaps_;
    std::map<abi::TextureObject, Object> objects_;
};

/// Where a copy begins in an array.
struct ArrayRegion {
    const Array* array = nullptr;
    std::size_t x = 0, y = 0, z = 0;  ///< x in bytes
};
/// False where the box leaves the array.
bool contains(const ArrayRegion& region, std::size_t width, std::size_t height, std::size_t depth);

}  // namespace lockstep::cuda
