// SPDX-License-Identifier: Apache-2.0
// Host executables and shared objects: where nvcc put the fatbins.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

namespace lockstep::cubin {

enum class FileKind { kCubin, kFatbin, kExecutable, kPtx, kUnknown };

/// What a file is, by its first bytes (kExecutable: an ELF file of any CPU).
FileKind identify(std::span<const uint8_t> bytes);

/// The fatbins in a host executable or shared object, in the order of its sections: .nv_fatbin,
/// __nv_relfatbin, and any that lie in other data. Each span starts at a fatbin header and may hold
/// several. Throws InputError where the file is malformed or not 64-bit x86.
struct EmbeddedFatbin {
    std::span<const uint8_t> bytes;
    uint64_t file_offset;
};
std::vector<EmbeddedFatbin> find_fatbins(std::span<const uint8_t> bytes,
                                         std::string_view file_name);

/// Throws InputError unless the file is a 64-bit x86 ELF executable that is linked dynamically.
void check_runnable(std::span<const uint8_t> bytes, std::string_view file_name);

}  // namespace lockstep::cubin
