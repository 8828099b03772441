// SPDX-License-Identifier: Apache-2.0
// The values of `l1.replacement` and `l2.replacement`.
#pragma once

#include <cstdint>

#include "sim/config/schema.h"

namespace lockstep::gpu {

enum class ReplacementPolicy : std::uint8_t { kLru, kFifo, kRandom, kTreePlru };
inline constexpr config::Choice kReplacementPolicies[] = {
    {"lru", "the least recently used"},
    {"fifo", "the one that came first"},
    {"random", "any, by a generator that always starts alike"},
    {"tree_plru", "by a tree of bits that point away from what was used"},
};

}  // namespace lockstep::gpu
