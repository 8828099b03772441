// SPDX-License-Identifier: Apache-2.0
// What texture and surface instructions share: handles, and the host memory of texels.
#pragma once

#include <cstddef>

#include "isa/sass/binder.h"
#include "isa/sass/texture/texture.h"

namespace lockstep::sass {

/// Finds the objects of lanes' handles; lanes mostly have the same.
class TextureHandles {
  public:
    /// Throws Fault where there is no such object.
    const Texture& find(const Warp& warp, unsigned lane, std::uint32_t handle);

  private:
    std::uint32_t handle_ = 0;
    const Texture* texture_ = nullptr;
};

/// The handle's operand in the forms with a constant (bank at 54, word at 40) or a uniform register
/// (at 40).
Operand bind_handle(Binder& binder);

/// Where the host has a texel; throws Fault where no allocation holds it.
std::byte* texel_host(const Instruction& in, const Warp& warp, unsigned lane, std::uint64_t address,
                      unsigned bytes);

/// SULD and SUST, see surface.cpp; whether a register holds the handle.
template <bool handle_in_register>
bool bind_surface_load(Binder& binder);
template <bool handle_in_register>
bool bind_surface_store(Binder& binder);

}  // namespace lockstep::sass
