// SPDX-License-Identifier: Apache-2.0
// Copies of blocks by TMA, and arrivals at mbarriers: one after the other, and as many as there can be.
#include "../micro/micro.cuh"
#include "tma.cuh"

extern __shared__ __align__(128) char memory[];

static __device__ __forceinline__ void load_block(unsigned to, const char* from, unsigned bytes,
                                                  tma::Barrier& barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0], [%1], %2, [%3];" ::"r"(
            to),
        "l"(from), "r"(bytes), "r"(tma::shared_address(&barrier))
        : "memory");
}
// To the first two blocks of the cluster.
static __device__ __forceinline__ void load_for_both(unsigned to, const char* from, unsigned bytes,
                                                     tma::Barrier& barrier) {
    asm volatile(
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes.multicast::cluster [%0], "
        "[%1], %2, [%3], %4;" ::"r"(to),
        "l"(from), "r"(bytes), "r"(tma::shared_address(&barrier)), "h"((unsigned short)3)
        : "memory");
}

// Copies, waits, copies again; eight times an iteration. Blocks of one thread.
template <bool multicast>
static __device__ __forceinline__ void chain(unsigned long long* cycles, unsigned* sums,
                                             const char* from, int bytes, int iterations) {
    __shared__ tma::Barrier full;
    const unsigned to = tma::shared_address(memory);
    tma::init(full, 1);
    tma::publish();
    if (multicast)
        asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
    if (!multicast || blockIdx.x == 0) {
        unsigned parity = 0;
        TIME_LOOP(_Pragma("unroll") for (int k = 0; k < 8; ++k) {
            tma::arrive_and_expect(full, bytes);
            if (multicast)
                load_for_both(to, from, bytes, full);
            else
                load_block(to, from, bytes, full);
            tma::wait(full, parity);
            parity ^= 1;
        })
        sums[0] = *reinterpret_cast<unsigned*>(memory);
    }
    if (multicast)
        asm volatile("barrier.cluster.arrive.aligned; barrier.cluster.wait.aligned;" ::: "memory");
}
extern "C" __global__ void tma_chain(unsigned long long* cycles, unsigned* sums, const char* from,
                                     int bytes, int iterations) {
    chain<false>(cycles, sums, from, bytes, iterations);
}
extern "C" __global__ void __cluster_dims__(2, 1, 1)
    tma_multicast_chain(unsigned long long* cycles, unsigned* sums, const char* from, int bytes,
                        int iterations) {
    chain<true>(cycles, sums, from, bytes, iterations);
}

// The whole chip: 8 KiB pieces in turn by all blocks, 16 of each under way.
extern "C" __global__ void tma_read(const char* from, unsigned* sums, int pieces) {
    constexpr int kStages = 16, kPiece = 8192;
    __shared__ tma::Barrier full[kStages];
    const unsigned to = tma::shared_address(memory);
    if (threadIdx.x == 0) {
        for (int i = 0; i < kStages; ++i) tma::init(full[i], 1);
        tma::publish();
        int stage = 0, parity = 1, started = 0;
        for (int piece = blockIdx.x; piece < pieces; piece += gridDim.x) {
            if (started >= kStages) tma::wait(full[stage], parity);
            tma::arrive_and_expect(full[stage], kPiece);
            load_block(to + stage * kPiece, from + (size_t)piece * kPiece, kPiece, full[stage]);
            ++started;
            if (++stage == kStages) {
                stage = 0;
                parity ^= 1;
            }
        }
        // What is under way: each stage's last.
        for (int i = 0; i < kStages && i < started; ++i) {
            const int uses = (started - i + kStages - 1) / kStages;
            tma::wait(full[i], (uses - 1) % 2);
        }
    }
    __syncthreads();
    sums[blockIdx.x * blockDim.x + threadIdx.x] = reinterpret_cast<unsigned*>(memory)[threadIdx.x];
}

// A lane of each warp arrives at a barrier of its own, 32 times an iteration.
extern "C" __global__ void mbarrier_arrive(unsigned long long* cycles, int iterations) {
    __shared__ tma::Barrier barrier[32];
    tma::Barrier& mine = barrier[threadIdx.x / 32];
    const bool arrives = threadIdx.x % 32 == 0;
    if (arrives) tma::init(mine, 1);
    const unsigned at = tma::shared_address(&mine);
#define ARRIVE asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(at) : "memory");
    TIME_LOOP(if (arrives) { REPEAT_32(ARRIVE) })
}
