// SPDX-License-Identifier: Apache-2.0
// The parameters of clusters: a row each. Architectures before sm_90 have none and read none.
#include "models/gpu/cluster/cluster_parameters.h"

namespace lockstep::gpu {

using config::Row;

std::span<const Row<ClusterParameters>> cluster_rows() {
    using P = ClusterParameters;
    static const std::vector<Row<P>> kRows{
        {"cluster.hop_latency", &P::hop_latency, "cycle", 2, 10000,
         "from an SM to another one of its GPC"},
        {"cluster.port_bandwidth", &P::port_bandwidth, "B", 0.01, 4096,
         "bytes a cycle that leave an SM for others of its GPC, and that come to it"},
        {"cluster.load_request", &P::load_request, "B", 0, 4096,
         "bytes on the network that ask for 128 bytes of another CTA's shared memory"},
        {"cluster.load_header", &P::load_header, "B", 0, 4096,
         "bytes on the network that come with 128 bytes of loaded data"},
        {"cluster.store_header", &P::store_header, "B", 0, 4096,
         "bytes on the network that go with 128 bytes of stored data"},
        {"cluster.acknowledgement", &P::acknowledgement, "B", 0, 4096,
         "bytes on the network that acknowledge 128 bytes of stored data"},
        {"cluster.barrier_latency", &P::barrier_latency, "cycle", 0, 10000,
         "from the arrival of a cluster's last CTA at its GPC's barrier unit to the release"},
        {"cluster.port_queue", &P::port_queue, "1", 1, 4096,
         "stores that wait for an SM's port when its memory unit stands still"},
        {"cluster.channel_messages", &P::channel_messages, "1", 1, 4096,
         "messages under way from an SM to the network or back"},
    };
    return kRows;
}

}  // namespace lockstep::gpu
