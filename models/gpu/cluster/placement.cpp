// SPDX-License-Identifier: Apache-2.0
// The CTAs of a cluster share a GPC (CUDA C Programming Guide). Which one gets the next cluster is
// not published: here the one that holds the fewest warps for its size, as CTAs without clusters
// are spread over SMs.
#include "models/gpu/cluster/placement.h"

#include <algorithm>

namespace lockstep::gpu {

std::vector<std::uint16_t> place_cluster(const GpcMap& map, std::span<const SmOffer> offers,
                                         std::uint32_t ctas, std::uint32_t warps_per_cta) {
    std::uint32_t best = map.gpcs();
    std::uint64_t best_load = 0, best_size = 1;
    for (std::uint32_t gpc = 0; gpc < map.gpcs(); ++gpc) {
        std::uint64_t room = 0, load = 0;
        for (const std::uint16_t sm : map.sms(gpc)) {
            room += offers[sm].room;
            load += offers[sm].load;
        }
        if (room < ctas) continue;
        const std::uint64_t size = map.sms(gpc).size();
        if (best != map.gpcs() && load * best_size >= best_load * size) continue;
        best = gpc;
        best_load = load;
        best_size = size;
    }
    std::vector<std::uint16_t> chosen;
    if (best == map.gpcs()) return chosen;
    const std::span<const std::uint16_t> sms = map.sms(best);
    std::vector<SmOffer> left;
    for (const std::uint16_t sm : sms) left.push_back(offers[sm]);
    while (chosen.size() < ctas) {
        std::size_t least = left.size();
        for (std::size_t i = 0; i < left.size(); ++i)
            if (left[i].room != 0 && (least == left.size() || left[i].load < left[least].load))
                least = i;
        chosen.push_back(sms[least]);
        --left[least].room;
        left[least].load += warps_per_cta;
    }
    return chosen;
}

}  // namespace lockstep::gpu
