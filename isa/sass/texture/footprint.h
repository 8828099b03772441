// SPDX-License-Identifier: Apache-2.0
// Which texels a texture instruction reads, for the machine that times it.
#pragma once

#include <array>
#include <cstdint>

#include "isa/sass/row.h"
#include "isa/sass/texture/sample.h"

namespace lockstep::sass {

struct TexelFootprint {
    unsigned taps = 0;  ///< of a lane at most
    std::uint8_t texel_bytes = 0;
    std::uint32_t lanes[Taps::kCapacity] = {};  ///< by tap: those that read one, not the border
    std::array<std::uint64_t, kWarpSize> address[Taps::kCapacity];
};

}  // namespace lockstep::sass
