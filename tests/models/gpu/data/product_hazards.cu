// SPDX-License-Identifier: Apache-2.0
// wgmma that reads what plain stores have written with and without a fence, and what a copy has yet
// to bring; stores and copies into what a wgmma reads. Block: 128 threads.
// nvcc 13.0 -O3 -arch=sm_90a -cubin
__device__ unsigned address(const void* pointer) {
    return static_cast<unsigned>(__cvta_generic_to_shared(pointer));
}
// Of a tile without a swizzle whose 8x8 blocks (128 bytes) follow each other along k.
__device__ unsigned long long descriptor(const void* tile) {
    constexpr unsigned long long kLeading = 128 / 16, kStride = 256 / 16;
    return (address(tile) & 0x3ffff) / 16 | kLeading << 16 | kStride << 32;
}
__device__ void multiply(float (&sum)[4], const void* a, const void* b) {
    asm volatile(
        "wgmma.fence.sync.aligned;\n"
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %4, %5, 1, 1, 1, 0, "
        "0;\n"
        "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 0;"
        : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
        : "l"(descriptor(a)), "l"(descriptor(b))
        : "memory");
}

struct Tiles {
    unsigned short a[64 * 16], b[8 * 16];
};

template <bool fences, class Write>
__device__ void product(float* out, Write write) {
    __shared__ __align__(1024) Tiles tiles;
    write(tiles);
    if (fences) asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    float sum[4] = {};
    multiply(sum, tiles.a, tiles.b);
    for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = sum[i];
}
__device__ void fill(Tiles& tiles, unsigned short value) {
    for (int i = threadIdx.x; i < 64 * 16; i += 128) tiles.a[i] = value;
    tiles.b[threadIdx.x] = value;
}

// Starts a copy that completes at a barrier.
__device__ __forceinline__ void copy(const void* to, const void* in, unsigned long long& barrier) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(address(&barrier)) : "memory");
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    asm volatile(
        "mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], 256;\n"
        "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%1], [%2], 256, "
        "[%0];" ::"r"(address(&barrier)),
        "r"(address(to)), "l"(in)
        : "memory");
}

extern "C" __global__ void fenced(float* out) {
    product<true>(out, [](Tiles& tiles) { fill(tiles, 0x3c00); });
}
extern "C" __global__ void not_fenced(float* out) {
    product<false>(out, [](Tiles& tiles) { fill(tiles, 0x3c00); });
}
extern "C" __global__ void filled_by_cp_async(float* out, const void* in) {  // the same 16 bytes
    product<false>(out, [in](Tiles& tiles) {
        for (int i = threadIdx.x; i < int(sizeof tiles / 16); i += 128)
            asm volatile(
                "cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(address(&tiles) + i * 16), "l"(in)
                : "memory");
        asm volatile("cp.async.wait_all;" ::: "memory");
    });
}
extern "C" __global__ void not_awaited(float* out, const void* in) {
    __shared__ unsigned long long barrier;
    product<true>(out, [&](Tiles& tiles) {
        fill(tiles, 0x3c00);
        if (threadIdx.x == 0) copy(tiles.b, in, barrier);
    });
}

// Two products, the first of which has been waited for when `reuse` gets both pairs of tiles.
template <class Reuse>
__device__ void reused(float* out, Reuse reuse) {
    __shared__ __align__(1024) Tiles tiles[2];
    fill(tiles[0], 0x3c00);
    fill(tiles[1], 0x3c00);
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
    __syncthreads();
    float sum[4], other[4];
    asm volatile(
        "wgmma.fence.sync.aligned;\n"
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%0, %1, %2, %3}, %8, %9, 0, 1, 1, 0, "
        "0;\n"
        "wgmma.commit_group.sync.aligned;\n"
        "wgmma.mma_async.sync.aligned.m64n8k16.f32.f16.f16 {%4, %5, %6, %7}, %10, %11, 0, 1, 1, "
        "0, 0;\n"
        "wgmma.commit_group.sync.aligned;\nwgmma.wait_group.sync.aligned 1;"
        : "=f"(sum[0]), "=f"(sum[1]), "=f"(sum[2]), "=f"(sum[3]), "=f"(other[0]), "=f"(other[1]),
          "=f"(other[2]), "=f"(other[3])
        : "l"(descriptor(tiles[0].a)), "l"(descriptor(tiles[0].b)), "l"(descriptor(tiles[1].a)),
          "l"(descriptor(tiles[1].b))
        : "memory");
    reuse(tiles[0], tiles[1]);
    asm volatile("wgmma.wait_group.sync.aligned 0;" ::: "memory");
    for (int i = 0; i < 4; ++i) out[threadIdx.x * 4 + i] = sum[i] + other[i];
}

extern "C" __global__ void reused_in_time(float* out) {
    reused(out, [](Tiles& done, Tiles&) { done.b[threadIdx.x] = 0; });
}
extern "C" __global__ void stored_too_early(float* out) {
    reused(out, [](Tiles&, Tiles& pending) { pending.b[threadIdx.x] = 0; });
}
extern "C" __global__ void copied_too_early(float* out, const void* in) {
    __shared__ unsigned long long barrier;
    reused(out, [&](Tiles&, Tiles& pending) {
        if (threadIdx.x == 0) copy(pending.b, in, barrier);
    });
}
