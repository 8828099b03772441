// SPDX-License-Identifier: Apache-2.0
// Formatting of device printf.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>

namespace lockstep::gpu {

/// What formatting needs of a thread's memory.
struct PrintfArguments {
    /// Reads `bytes` (4 or 8) at a byte offset of the argument buffer.
    std::function<std::uint64_t(std::uint64_t offset, unsigned bytes)> read;
    /// The string at a generic address; null pointers do not get here.
    std::function<std::string(std::uint64_t address)> string_at;
};

/// Appends the formatted text; returns what CUDA's printf returns: the number of arguments used.
int format_printf(std::string_view format, const PrintfArguments& arguments, std::string& text);

}  // namespace lockstep::gpu
