// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace lockstep {

/// What copies and fills do with memory.
enum class Transfer : std::uint8_t { kRead, kWrite };

}  // namespace lockstep
