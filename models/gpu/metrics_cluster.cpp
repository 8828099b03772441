// SPDX-License-Identifier: Apache-2.0
// Metrics of clusters. What Nsight Compute counts of the SM-to-SM network is not documented.
#include "models/gpu/metric_groups.h"

namespace lockstep::gpu {

void add_cluster_metrics(MetricList& list, const LaunchShape& launch, const Measurement& measured) {
    if (!launch.is_clustered) return;
    list.count("launch__cluster_size", launch.cluster_ctas);
    list.count("launch__cluster_max_active", launch.active_clusters);
    list.count("lockstep__cluster_requests.sum", measured.cluster.requests);
    list.count("lockstep__cluster_bytes_sent.sum", measured.cluster.bytes_sent);
    list.count("lockstep__cluster_bytes_received.sum", measured.cluster.bytes_received);
    list.count("lockstep__cluster_barrier_releases.sum", measured.cluster.barriers);
}

}  // namespace lockstep::gpu
