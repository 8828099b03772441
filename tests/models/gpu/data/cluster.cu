// SPDX-License-Identifier: Apache-2.0
// CTAs of clusters that use each other's shared memory. Compiled to the cubin beside this file with
//   nvcc -std=c++17 -cubin -gencode arch=compute_90a,code=sm_90a -maxrregcount 168
//        -o cluster_sm_90a.cubin cluster.cu
#include <cooperative_groups.h>

#include <cstdint>

namespace cg = cooperative_groups;

namespace {

__device__ std::uint32_t shared_address(const void* p) {
    return static_cast<std::uint32_t>(__cvta_generic_to_shared(p));
}
__device__ std::uint32_t mapa(std::uint32_t address, unsigned rank) {
    std::uint32_t mapped;
    asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(mapped) : "r"(address), "r"(rank));
    return mapped;
}
__device__ void init_barrier(std::uint32_t barrier, unsigned count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(barrier), "r"(count) : "memory");
}
__device__ void expect_bytes(std::uint32_t barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(barrier), "r"(bytes)
                 : "memory");
}
__device__ void wait_for_barrier(std::uint32_t barrier) {
    std::uint32_t done = 0;
    while (done == 0)
        asm volatile(
            "{.reg .pred q; mbarrier.try_wait.parity.acquire.cluster.shared::cta.b64 q, [%1], 0;"
            " selp.b32 %0, 1, 0, q;}"
            : "=r"(done)
            : "r"(barrier)
            : "memory");
}

}  // namespace

extern "C" {

/// Each thread gets what its mirror image in the other CTA has put down.
__global__ void __cluster_dims__(2, 1, 1) exchange(int* out) {
    __shared__ int mine[32];
    const cg::cluster_group cluster = cg::this_cluster();
    mine[threadIdx.x] = cluster.block_rank() * 100 + threadIdx.x;
    cluster.sync();
    const int* theirs = cluster.map_shared_rank(mine, cluster.block_rank() ^ 1);
    out[blockIdx.x * 32 + threadIdx.x] = theirs[31 - threadIdx.x];
    cluster.sync();
}

/// Eight words for each CTA of a grid of any shape.
__global__ void identities(std::uint32_t* out) {
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned cta = blockIdx.x + gridDim.x * (blockIdx.y + gridDim.y * blockIdx.z);
    std::uint32_t* to = out + 8 * cta;
    if (threadIdx.x == 0) {
        to[0] = cluster.block_rank();
        to[1] = cluster.num_blocks();
        to[2] = cluster.block_index().x;
        to[3] = cluster.block_index().y;
        asm("mov.u32 %0, %%clusterid.x;" : "=r"(to[4]));
        asm("mov.u32 %0, %%clusterid.y;" : "=r"(to[5]));
        asm("mov.u32 %0, %%nclusterid.x;" : "=r"(to[6]));
        asm("{.reg .pred p; mov.pred p, %%is_explicit_cluster; selp.b32 %0, 1, 0, p;}"
            : "=r"(to[7]));
    }
    cluster.sync();
}

/// All CTAs add to the counters of all, by integer and floating-point atomics.
__global__ void __cluster_dims__(4, 1, 1) atomics(int* sums, float* floats) {
    __shared__ int sum[32];
    __shared__ float number[32];
    const cg::cluster_group cluster = cg::this_cluster();
    sum[threadIdx.x] = 0;
    number[threadIdx.x] = 0;
    cluster.sync();
    for (unsigned rank = 0; rank < 4; ++rank) {
        atomicAdd(cluster.map_shared_rank(sum, rank) + threadIdx.x, int(cluster.block_rank()) + 1);
        atomicAdd(cluster.map_shared_rank(number, rank) + threadIdx.x % 4, 1.0f);
    }
    cluster.sync();
    sums[blockIdx.x * 32 + threadIdx.x] = sum[threadIdx.x];
    floats[blockIdx.x * 32 + threadIdx.x] = number[threadIdx.x];
}

/// st.async of 16 bytes a thread to the next CTA, red.async to all others; both end phases of the
/// receivers' mbarriers.
__global__ void __cluster_dims__(4, 1, 1) asynchronous(std::uint32_t* out) {
    __shared__ alignas(16) std::uint32_t data[32 * 4];
    __shared__ std::uint32_t sum[4];
    __shared__ alignas(8) std::uint64_t stored, reduced;
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank();
    if (threadIdx.x == 0) {
        init_barrier(shared_address(&stored), 1);
        init_barrier(shared_address(&reduced), 1);
        for (std::uint32_t& s : sum) s = 0;
        asm volatile("fence.mbarrier_init.release.cluster;" ::: "memory");
        expect_bytes(shared_address(&stored), 32 * 16);
        expect_bytes(shared_address(&reduced), 3 * 32 * 4);
    }
    cluster.sync();
    const unsigned next = (rank + 1) % 4;
    asm volatile(
        "st.async.shared::cluster.mbarrier::complete_tx::bytes.v4.u32 [%0], {%1, %1, %1, %1}, "
        "[%2];" ::"r"(mapa(shared_address(data + threadIdx.x * 4), next)),
        "r"(rank * 1000 + threadIdx.x), "r"(mapa(shared_address(&stored), next))
        : "memory");
    for (unsigned i = 1; i < 4; ++i) {
        const unsigned to = (rank + i) % 4;
        asm volatile(
            "red.async.relaxed.cluster.shared::cluster.mbarrier::complete_tx::bytes.add.u32 "
            "[%0], %1, [%2];" ::"r"(mapa(shared_address(sum + threadIdx.x % 4), to)),
            "r"(rank + 1), "r"(mapa(shared_address(&reduced), to))
            : "memory");
    }
    wait_for_barrier(shared_address(&stored));
    wait_for_barrier(shared_address(&reduced));
    out[blockIdx.x * 64 + threadIdx.x] = data[threadIdx.x * 4 + 3];
    if (threadIdx.x < 4) out[blockIdx.x * 64 + 32 + threadIdx.x] = sum[threadIdx.x];
    cluster.sync();
}

/// A word goes to the first CTA, then its mbarrier gets an arrival from each thread of the second.
__global__ void __cluster_dims__(2, 1, 1) remote_arrival(int* out) {
    __shared__ alignas(8) std::uint64_t barrier;
    __shared__ int word;
    const cg::cluster_group cluster = cg::this_cluster();
    if (threadIdx.x == 0) init_barrier(shared_address(&barrier), 32);
    cluster.sync();
    if (cluster.block_rank() == 1) {
        *cluster.map_shared_rank(&word, 0) = 77;
        asm volatile("mbarrier.arrive.release.cluster.shared::cluster.b64 _, [%0];" ::"r"(
                         mapa(shared_address(&barrier), 0))
                     : "memory");
    } else {
        wait_for_barrier(shared_address(&barrier));
        out[threadIdx.x] = word;
    }
    cluster.sync();
}

/// The first warpgroup releases registers, the other two ask for 240.
__global__ void __launch_bounds__(384, 1) hand_over_registers(int* out) {
    if (threadIdx.x >= 128) {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
        out[threadIdx.x] = 1;
    } else {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 24;");
        out[threadIdx.x] = 2;
    }
}
__global__ void __launch_bounds__(384, 1) hand_over_too_few(int* out) {
    if (threadIdx.x >= 128) {
        asm volatile("setmaxnreg.inc.sync.aligned.u32 240;");
        out[threadIdx.x] = 1;
    } else {
        asm volatile("setmaxnreg.dec.sync.aligned.u32 160;");
        out[threadIdx.x] = 2;
    }
}

/// Reads the memory of a CTA that has exited.
__global__ void __cluster_dims__(2, 1, 1) reads_after_exit(int* out) {
    __shared__ int mine[32];
    const cg::cluster_group cluster = cg::this_cluster();
    mine[threadIdx.x] = threadIdx.x;
    cluster.sync();
    if (cluster.block_rank() == 1) return;
    for (int i = 0; i < 1000; ++i) __nanosleep(100);
    out[threadIdx.x] = *cluster.map_shared_rank(mine + threadIdx.x, 1);
}

/// Stores to the other CTA, which does the same at the same time and then has enough to do not to
/// have exited when the store comes.
__global__ void __cluster_dims__(2, 1, 1) stores_before_exit(int* out) {
    __shared__ int mine[32];
    const cg::cluster_group cluster = cg::this_cluster();
    cluster.sync();
    int* const there = cluster.map_shared_rank(mine + threadIdx.x, cluster.block_rank() ^ 1);
    *static_cast<volatile int*>(there) = 1;
    float x = threadIdx.x;
#pragma unroll 1
    for (int i = 0; i < 800; ++i) asm volatile("fma.rn.f32 %0, %0, %0, %0;" : "+f"(x));
    out[blockIdx.x * 32 + threadIdx.x] = x != 0.125f;
}

/// What `exchange` does with a barrier too few: the reader may come before the writer, or, with
/// `early`, before the other CTA has started.
__global__ void __cluster_dims__(2, 1, 1) races(int* out, int early) {
    __shared__ int mine[32];
    const cg::cluster_group cluster = cg::this_cluster();
    if (early == 0) cluster.sync();
    mine[threadIdx.x] = cluster.block_rank() * 100 + threadIdx.x;
    out[blockIdx.x * 32 + threadIdx.x] =
        cluster.map_shared_rank(mine, cluster.block_rank() ^ 1)[31 - threadIdx.x];
    cluster.sync();
}

/// Reads what nobody has written.
__global__ void __cluster_dims__(2, 1, 1) reads_unwritten(int* out) {
    __shared__ int mine[32];
    const cg::cluster_group cluster = cg::this_cluster();
    if (cluster.block_rank() == 0) mine[threadIdx.x] = threadIdx.x;
    cluster.sync();
    out[blockIdx.x * 32 + threadIdx.x] =
        cluster.map_shared_rank(mine, cluster.block_rank() ^ 1)[threadIdx.x];
    cluster.sync();
}

/// Block 0 multicasts 128 bytes to both blocks, block 1 sends its own on to block 0. `early`: block
/// 1 looks at what comes before it has waited.
__global__ void __cluster_dims__(2, 1, 1) copies_to_others(const int* in, int* out, int early) {
    __shared__ alignas(128) int tile[32], from_other[32];
    __shared__ alignas(8) std::uint64_t loaded, sent;
    const cg::cluster_group cluster = cg::this_cluster();
    const unsigned rank = cluster.block_rank();
    if (threadIdx.x == 0) {
        init_barrier(shared_address(&loaded), 1);
        init_barrier(shared_address(&sent), 1);
        asm volatile("fence.mbarrier_init.release.cluster;\nfence.proxy.async;" ::: "memory");
        expect_bytes(shared_address(&loaded), 128);
        expect_bytes(shared_address(&sent), rank == 0 ? 128 : 0);
    }
    cluster.sync();
    if (rank == 0 && threadIdx.x == 0)
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster "
            "[%0], [%1], 128, [%2], 3;" ::"r"(shared_address(tile)),
            "l"(in), "r"(shared_address(&loaded))
            : "memory");
    if (early != 0) {
        cluster.sync();
        if (rank == 1) out[threadIdx.x] = static_cast<volatile int*>(tile)[threadIdx.x];
    }
    wait_for_barrier(shared_address(&loaded));
    if (rank == 1 && threadIdx.x == 0)
        asm volatile(
            "cp.async.bulk.shared::cluster.shared::cta.mbarrier::complete_tx::bytes [%0], [%1], "
            "128, [%2];" ::"r"(mapa(shared_address(from_other), 0)),
            "r"(shared_address(tile)), "r"(mapa(shared_address(&sent), 0))
            : "memory");
    wait_for_barrier(shared_address(&sent));
    out[blockIdx.x * 32 + threadIdx.x] = rank == 0 ? from_other[threadIdx.x] : tile[threadIdx.x];
    cluster.sync();
}

/// A kernel that lets the next one begin, works on, and writes at its end; the next one counts how
/// long it waits for that.
__global__ void primary(int* word, long long* times) {
    if (threadIdx.x == 0) times[0] = clock64();
    asm volatile("griddepcontrol.launch_dependents;");
    for (int i = 0; i < 40; ++i) __nanosleep(500);
    if (threadIdx.x == 0) {
        *word = 7;
        times[1] = clock64();
    }
}
__global__ void secondary(const int* word, int* out, long long* times) {
    if (threadIdx.x == 0) times[2] = clock64();
    asm volatile("griddepcontrol.wait;" ::: "memory");
    if (threadIdx.x == 0) {
        *out = *word;
        times[3] = clock64();
    }
}

/// Addresses a CTA that the cluster does not have.
__global__ void __cluster_dims__(2, 1, 1) reads_nobody(int* out) {
    __shared__ int mine[32];
    const cg::cluster_group cluster = cg::this_cluster();
    cluster.sync();
    out[threadIdx.x] = *cluster.map_shared_rank(mine + threadIdx.x, 3);
    cluster.sync();
}

/// The second CTA waits at a barrier of its own for a thread that waits for the cluster.
__global__ void __cluster_dims__(2, 1, 1) never_all_there(int* out) {
    const cg::cluster_group cluster = cg::this_cluster();
    if (cluster.block_rank() == 0 || threadIdx.x < 32)
        cluster.sync();
    else
        __syncthreads();
    out[threadIdx.x] = 1;
}

}  // extern "C"
