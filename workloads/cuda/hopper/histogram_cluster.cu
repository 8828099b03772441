// SPDX-License-Identifier: Apache-2.0
// counts[b] += number of x[i] == b, for 0 <= b < bins; other values are not counted. The bins are
// shared out over the blocks of a cluster (dynamic shared memory: 4 bytes for each bin of a block,
// bins / N rounded up), so that N times as many fit; threads count in whichever block has the bin.
#include <cooperative_groups.h>

namespace cg = cooperative_groups;

template <int kBlocks>
__device__ __forceinline__ void histogram_cluster(const int* x, int* counts, int n, int bins) {
    extern __shared__ int own_counts[];
    const cg::cluster_group cluster = cg::this_cluster();
    const int own = (bins + kBlocks - 1) / kBlocks;
    for (int b = threadIdx.x; b < own; b += blockDim.x) own_counts[b] = 0;
    cluster.sync();
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        const int bin = x[i];
        if (static_cast<unsigned>(bin) < static_cast<unsigned>(bins)) {
            atomicAdd(cluster.map_shared_rank(own_counts, bin / own) + bin % own, 1);
        }
    }
    cluster.sync();
    const int first = cluster.block_rank() * own;
    for (int b = threadIdx.x; b < own && first + b < bins; b += blockDim.x) {
        if (own_counts[b] != 0) atomicAdd(&counts[first + b], own_counts[b]);
    }
}

#define HISTOGRAM_CLUSTER(N)                                                                \
    extern "C" __global__ void __cluster_dims__(N, 1, 1)                                    \
        histogram_cluster_##N(const int* x, int* counts, int n, int bins) {                 \
        histogram_cluster<N>(x, counts, n, bins);                                           \
    }
HISTOGRAM_CLUSTER(1) HISTOGRAM_CLUSTER(2) HISTOGRAM_CLUSTER(4) HISTOGRAM_CLUSTER(8)
