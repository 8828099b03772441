// SPDX-License-Identifier: Apache-2.0
// Sends calls of functions inside of a loaded object elsewhere: each begins with a jump from then
// on, and what it did before never runs.
#pragma once

#include <cstdint>
#include <span>

namespace lockstep::cuda {

struct Redirection {
    std::uintptr_t from = 0, to = 0;
};

/// Bytes that a jump to any address takes.
inline constexpr std::size_t kJumpBytes = 14;

/// Writes the jumps; pages are writable only meanwhile. False where memory cannot be changed.
bool redirect(std::span<const Redirection> redirections);

}  // namespace lockstep::cuda
