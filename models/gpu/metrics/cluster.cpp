// SPDX-License-Identifier: Apache-2.0
// Metrics of clusters. What Nsight Compute counts of the SM-to-SM network is not documented.
#include "models/gpu/metrics/groups.h"

namespace lockstep::gpu {
namespace {

template <auto kMember>
constexpr auto cluster = [](const LaunchView& l) { return l.measured.cluster.*kMember; };

}  // namespace

void add_cluster_metrics(MetricTable& table) {
    const auto add = [&](const char* name, const char* unit, const char* meaning, auto value) {
        table.count(name, unit, std::string(meaning) + "; of launches with clusters", value)
            .only_where([](const LaunchView& l) { return l.shape.is_clustered; });
    };
    add("launch__cluster_size", "CTA", "CTAs of a cluster",
        [](const LaunchView& l) { return l.shape.cluster_ctas; });
    add("launch__cluster_max_active", "cluster", "clusters that the chip holds at once",
        [](const LaunchView& l) { return l.shape.active_clusters; });
    add("lockstep__cluster_requests.sum", "request", "packets on the SM-to-SM network",
        cluster<&ClusterCounters::requests>);
    add("lockstep__cluster_bytes_sent.sum", "B", "sent on that network, headers included",
        cluster<&ClusterCounters::bytes_sent>);
    add("lockstep__cluster_bytes_received.sum", "B", "received from it, headers included",
        cluster<&ClusterCounters::bytes_received>);
    add("lockstep__cluster_barrier_releases.sum", "1", "releases by `barrier.cluster`",
        cluster<&ClusterCounters::barriers>);
}

}  // namespace lockstep::gpu
