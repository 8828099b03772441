// SPDX-License-Identifier: Apache-2.0
// "The L2 Request Coalescer (LRC) processes incoming requests for L2 and tries to coalesce read
// requests before forwarding them to the L2 cache" (Nsight Compute, Profiling Guide). It stands
// between the slices and the crossbar (its counters lrc__lts2lrc_... and lrc__xbar2gpc_...), and an
// entry takes a bounded number of requests (Accel-Sim 2.0, configuration of H100: 4). That it
// merges what waits for the slice, and not what is under way, is inferred: in products on an H200
// (programs.csv of validation/measured/h200) a fifth to a third of the sectors that SMs ask for do
// not reach a slice, where two thirds are asked for while another SM's read of them is under way.
// Reads that pass L1 by (LDGSTS.BYPASS, TMA) are merged where L2 is busy alone, as if they had no
// window: a tf32 product on H100 takes 69% of L2's bandwidth (Nsight Compute) where its SMs receive
// 96% of it, others of its family, whose SMs receive 20 to 37%, take as much as without merging
// (ahmadsharif1/cuda_study), and two products of samples on H200 look up 1,417,338 and 6,273,487
// sectors, 1,545,520 and 6,092,148 here where none is merged and 1,181,560 of the first where they
// merge as others do; of TMA's products in fast.cu (4096 cubed) steps 5, 6 and 8 look up 51, 51 and
// 40 million, 46, 40 and 31 here, 41, 32 and 27 with a window. What is merged is the read of the
// slice; each SM's answer takes its part of the GPC's port: on H200 sets come at 9.8 to 10.3 TB/s
// whether many SMs read them at once or few (gpu-benches, gpu-l2-cache). One packet for several SMs
// (US patent 12,020,035, claims 3 to 6) is multicast's, which a program asks for.
#include "models/gpu/memory/request_coalescer.h"

namespace lockstep::gpu {

using engine::Cycle;

RequestCoalescer::Result RequestCoalescer::take(Cycle now, Cycle at, std::uint32_t key,
                                                const Follower& read) {
    if (entries_ == 0) return {};
    std::uint32_t* link = &buckets_[(key ^ key >> 7) % kBuckets];
    while (*link != kNone) {
        const std::uint32_t number = *link;
        Read& leader = reads_[number];
        if (leader.until < at) {  // reads come in the order of their arrival: nothing follows it
            *link = leader.next;
            leader.is_open = false;
            --open_;
            if (leader.is_answered) reads_.give_back(number);
            continue;
        }
        const Cycle until = read.must_wait ? leader.taken : leader.until;
        if (leader.key == key && leader.gpc == read.gpc && at <= until && leader.merged < merge_ &&
            (read.sectors & ~unsigned{leader.sectors}) == 0) {
            ++leader.merged;
            if (leader.is_answered) return {Taken::kAnswered, kNone};
            const std::uint32_t follower = followers_.take(read);
            (leader.first == kNone ? leader.first : followers_[leader.last].next) = follower;
            leader.last = follower;
            return {Taken::kFollows, kNone};
        }
        link = &leader.next;
    }
    if (open_ == entries_) return {};
    std::uint32_t& bucket = buckets_[(key ^ key >> 7) % kBuckets];
    const std::uint32_t number = reads_.take({.taken = now,
                                              .until = read.must_wait ? now : now + window_,
                                              .key = key,
                                              .next = bucket,
                                              .gpc = read.gpc,
                                              .sectors = read.sectors});
    bucket = number;
    ++open_;
    return {Taken::kLeads, number};
}

}  // namespace lockstep::gpu
