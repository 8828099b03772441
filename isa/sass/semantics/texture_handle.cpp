// SPDX-License-Identifier: Apache-2.0
#include "isa/sass/semantics/texture_handle.h"

#include <fmt/format.h>

#include "isa/sass/semantics/access.h"

namespace lockstep::sass {

const Texture& TextureHandles::find(const Warp& warp, unsigned lane, std::uint32_t handle) {
    if (texture_ != nullptr && handle == handle_) return *texture_;
    const TextureTable* const table = warp.cta->launch->textures;
    texture_ = table == nullptr ? nullptr : table->find(handle);
    handle_ = handle;
    if (texture_ == nullptr)
        throw Fault{.kind = FaultKind::kIllegalAddress,
                    .what = fmt::format("{:#x} is no texture or surface object", handle),
                    .lane = lane};
    return *texture_;
}

Operand bind_handle(Binder& binder) {
    if (binder.word.uniform()) return binder.source_uniform(40);
    return binder.constant(static_cast<unsigned>(binder.word.bits(54, 5)),
                           static_cast<std::uint32_t>(binder.word.bits(40, 14)) * 4);
}

std::byte* texel_host(const Instruction& in, const Warp& warp, unsigned lane, std::uint64_t address,
                      unsigned bytes) {
    Extent& extent = cached_extent(in, warp);
    if (!extent.contains(address, bytes)) [[unlikely]] {
        refill_extent(extent, warp, address);
        if (!extent.contains(address, bytes))
            throw Fault{.kind = FaultKind::kIllegalAddress,
                        .what = fmt::format("{}-byte texel at {:#x}: no allocation holds it", bytes,
                                            address),
                        .lane = lane,
                        .address = address,
                        .bytes = bytes};
    }
    return extent.at(address);
}

}  // namespace lockstep::sass
