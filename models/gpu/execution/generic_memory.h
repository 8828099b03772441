// SPDX-License-Identifier: Apache-2.0
// Reading a thread's memory by generic address, for what is done on the host in a thread's name.
#pragma once

#include <cstdint>
#include <string>

#include "isa/sass/state.h"

namespace lockstep::gpu {

/// Copies bytes from a lane's generic address. Throws sass::Fault, whose text says `what` was read.
void read_generic(const sass::Warp& warp, unsigned lane, std::uint64_t address, void* to,
                  std::size_t bytes, const char* what);

/// The zero-terminated string at a generic address. Throws sass::Fault.
std::string read_string(const sass::Warp& warp, unsigned lane, std::uint64_t address,
                        const char* what);

}  // namespace lockstep::gpu
