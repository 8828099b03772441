// SPDX-License-Identifier: Apache-2.0
// "The L2 Request Coalescer (LRC) processes incoming requests for L2 and tries to coalesce read
// requests before forwarding them to the L2 cache" (Nsight Compute, Profiling Guide). It stands
// between the slices and the crossbar (its counters lrc__lts2lrc_... and lrc__xbar2gpc_...), and an
// entry takes a bounded number of requests (Accel-Sim 2.0, configuration of H100: 4). What is
// merged is the read of the slice; each SM's answer takes its part of the GPC's port: on H200 sets
// come at 9.8 to 10.3 TB/s whether many SMs read them at once or few (gpu-benches, gpu-l2-cache).
// One packet for several SMs (US patent 12,020,035, claims 3 to 6) is multicast's, which a program
// asks for.
// Simplified: what joins when the data is on its way already is answered after the slice's whole
// latency.
#include "models/gpu/memory/request_coalescer.h"

namespace lockstep::gpu {

void RequestCoalescer::close_until(engine::Cycle now) {
    while (!closing_.empty() && closing_.front().at <= now) {
        const std::uint32_t number = closing_.front().entry;
        closing_.pop();
        std::uint32_t* at = &bucket(pool_[number].key);
        while (*at != number) at = &pool_[*at].next;
        *at = pool_[number].next;
        pool_.give_back(number);
        --open_;
    }
}

RequestCoalescer::Result RequestCoalescer::join(engine::Cycle now, std::uint32_t key,
                                                const RoutedRequest& routed, std::uint16_t link) {
    if (entries_ == 0) return {};
    close_until(now);
    const std::uint8_t sectors = routed.request.sectors;
    for (std::uint32_t i = bucket(key); i != kNone; i = pool_[i].next) {
        Entry& entry = pool_[i];
        if (entry.key != key || (sectors & ~unsigned{entry.sectors}) != 0 || entry.merged == merge_)
            continue;
        ++entry.merged;
        if (entry.is_answered) return {Joined::kAnswered, kNone};
        const std::uint32_t follower =
            followers_.take({.at = now, .id = routed.request.id, .link = link, .sectors = sectors});
        (entry.first == kNone ? entry.first : followers_[entry.last].next) = follower;
        entry.last = follower;
        return {Joined::kWaits, kNone};
    }
    if (open_ == entries_) return {};
    const std::uint32_t number = pool_.take({.key = key, .next = bucket(key), .sectors = sectors});
    bucket(key) = number;
    ++open_;
    return {Joined::kLeads, number};
}

void RequestCoalescer::clear() {
    close_until(engine::kNever);
}

}  // namespace lockstep::gpu
