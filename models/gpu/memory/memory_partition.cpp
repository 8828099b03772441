// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/memory/memory_partition.h"

#include <algorithm>

namespace lockstep::gpu {

using engine::Cycle;
using engine::kNever;

MemoryPartition::MemoryPartition(engine::Simulation& simulation, const MemoryParameters& parameters,
                                 const LineMap&, std::uint32_t l2_partition, std::uint32_t number)
    : Tile(simulation, fmt::format("l2_{}.partition{}", l2_partition, number), parameters.clock),
      parameters_(parameters) {}

/// Takes what arrives in this window, in the order of arrival.
void MemoryPartition::gather(Cycle until) {
    for (std::uint32_t i = 0; i < links_.size(); ++i) {
        engine::Receiver<RoutedRequest>& requests = links_[i]->requests;
        for (Cycle at = requests.next_ready(); at < until; at = requests.next_ready())
            arrivals_.push_back({at, i, requests.receive(at)});
    }
    std::sort(arrivals_.begin(), arrivals_.end(), [](const Arrival& a, const Arrival& b) {
        return std::pair(a.at, a.link) < std::pair(b.at, b.link);
    });
}

Cycle MemoryPartition::advance(Cycle, Cycle until) {
    gather(until);
    for (const Arrival& arrival : arrivals_) {
        const MemoryRequest& request = arrival.request.request;
        ++counters_.requests;
        links_[arrival.link]->replies.send(arrival.at + parameters_.slice_latency,
                                           {request.id, request.kind, request.sectors});
    }
    arrivals_.clear();
    return kNever;
}

std::string MemoryPartition::explain_wait() const {
    return fmt::format("{} replies under way", replies_.size());
}

}  // namespace lockstep::gpu
