// SPDX-License-Identifier: Apache-2.0
// Where the CTAs of a cluster go.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/gpu/chip/gpc_map.h"

namespace lockstep::gpu {

/// What an SM offers a cluster.
struct SmOffer {
    std::uint32_t room = 0;  ///< CTAs that it may take
    std::uint32_t load = 0;  ///< warps that it holds
};

/// SMs of one GPC for the CTAs of a cluster, by rank: of the GPC that holds least and has room,
/// each CTA on the SM that then holds least. Empty: no GPC has room.
std::vector<std::uint16_t> place_cluster(const GpcMap& map, std::span<const SmOffer> offers,
                                         std::uint32_t ctas, std::uint32_t warps_per_cta);

}  // namespace lockstep::gpu
