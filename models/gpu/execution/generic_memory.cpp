// SPDX-License-Identifier: Apache-2.0
// Generic addresses: windows onto shared and local memory, everything else global (see
// isa/sass/state.h for the windows and for how local memory is interleaved).
#include "models/gpu/execution/generic_memory.h"

#include <fmt/format.h>

#include <cstring>

namespace lockstep::gpu {

namespace {

/// Host address of one byte, or nullptr.
const std::byte* byte_at(const sass::Warp& warp, unsigned lane, std::uint64_t address) {
    const sass::Launch& launch = *warp.cta->launch;
    const auto offset = static_cast<std::uint32_t>(address);
    if (address - offset == sass::kSharedWindow)
        return offset < launch.shared_bytes ? warp.cta->shared + offset : nullptr;
    if (address - offset == sass::kLocalWindow) {
        if (offset >= launch.local_bytes) return nullptr;
        return warp.local + offset / 4 * sizeof(sass::Row) + lane * 4 + offset % 4;
    }
    const sass::Extent extent = launch.memory->find(address);
    return extent.contains(address, 1) ? extent.at(address) : nullptr;
}

}  // namespace

void read_generic(const sass::Warp& warp, unsigned lane, std::uint64_t address, void* to,
                  std::size_t bytes, const char* what) {
    auto* out = static_cast<std::byte*>(to);
    for (std::size_t i = 0; i < bytes; ++i) {
        const std::byte* const from = byte_at(warp, lane, address + i);
        if (from == nullptr)
            throw sass::Fault{.kind = sass::FaultKind::kIllegalAddress,
                              .what = fmt::format("{} at {:#x}: {}", what, address,
                                                  warp.cta->launch->memory->describe(address + i)),
                              .lane = lane,
                              .address = address + i,
                              .bytes = 1,
                              .space = sass::Space::kGeneric};
        out[i] = *from;
    }
}

std::string read_string(const sass::Warp& warp, unsigned lane, std::uint64_t address,
                        const char* what) {
    std::string text;
    while (true) {
        char next = 0;
        read_generic(warp, lane, address + text.size(), &next, 1, what);
        if (next == '\0') return text;
        text += next;
    }
}

}  // namespace lockstep::gpu
