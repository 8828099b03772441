// SPDX-License-Identifier: Apache-2.0
// Sum of n floats by clusters: each block reduces its share, then leaves its sum in the shared
// memory of the cluster's first block, which adds them up. One sum a cluster: launch it again with
// one cluster on those. Block: 256 threads; grid: any number of clusters.
#include <cooperative_groups.h>

#include "../kernels/block_reduce.cuh"

namespace cg = cooperative_groups;

template <int kBlocks>
__device__ __forceinline__ void reduce_cluster(const float* x, float* out, int n) {
    __shared__ float scratch[32];
    __shared__ float sums[kBlocks];  // of the first block: what all blocks of the cluster leave
    const cg::cluster_group cluster = cg::this_cluster();
    float sum = 0.0f;
    for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < n; i += gridDim.x * blockDim.x) {
        sum += x[i];
    }
    sum = block_reduce(sum, Sum(), scratch);
    cluster.sync();  // the first block has started
    if (threadIdx.x == 0) cluster.map_shared_rank(sums, 0)[cluster.block_rank()] = sum;
    cluster.sync();
    if (cluster.block_rank() == 0 && threadIdx.x == 0) {
        float total = 0.0f;
        for (int rank = 0; rank < kBlocks; ++rank) total += sums[rank];
        out[blockIdx.x / kBlocks] = total;
    }
}

#define REDUCE_CLUSTER(N)                                                                   \
    extern "C" __global__ void __cluster_dims__(N, 1, 1)                                    \
        reduce_cluster_##N(const float* x, float* out, int n) {                             \
        reduce_cluster<N>(x, out, n);                                                       \
    }
REDUCE_CLUSTER(1) REDUCE_CLUSTER(2) REDUCE_CLUSTER(4) REDUCE_CLUSTER(8)
