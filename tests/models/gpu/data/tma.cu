// Kernels for tests of the tensor memory accelerator. nvcc -arch=sm_90a -cubin -o tma_sm_90a.cubin
#include <cstdint>

#include <cuda.h>

#define KERNEL extern "C" __global__ void

static __device__ unsigned shared_address(const void* p) {
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}
static __device__ void init(std::uint64_t* barrier, unsigned count) {
    asm volatile("mbarrier.init.shared::cta.b64 [%0], %1;" ::"r"(shared_address(barrier)),
                 "r"(count)
                 : "memory");
}
static __device__ void fence_async() {
    asm volatile("fence.proxy.async.shared::cta;" ::: "memory");
}
static __device__ void expect(std::uint64_t* barrier, unsigned bytes) {
    asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(
                     shared_address(barrier)),
                 "r"(bytes)
                 : "memory");
}
static __device__ void arrive(std::uint64_t* barrier) {
    asm volatile("mbarrier.arrive.shared::cta.b64 _, [%0];" ::"r"(shared_address(barrier))
                 : "memory");
}
static __device__ void wait(std::uint64_t* barrier, unsigned parity) {
    asm volatile(
        "{\n"
        ".reg .pred p;\n"
        "again: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], %1;\n"
        "@!p bra again;\n"
        "}" ::"r"(shared_address(barrier)),
        "r"(parity)
        : "memory");
}
static __device__ void load(void* tile, const CUtensorMap* map, std::uint64_t* barrier, int x,
                            int y) {
    asm volatile(
        "cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier::complete_tx::bytes [%0], "
        "[%1, {%3, %4}], [%2];" ::"r"(shared_address(tile)),
        "l"(map), "r"(shared_address(barrier)), "r"(x), "r"(y)
        : "memory");
}
static __device__ void store(const CUtensorMap* map, const void* tile, int x, int y) {
    asm volatile("cp.async.bulk.tensor.2d.global.shared::cta.bulk_group [%0, {%2, %3}], [%1];" ::"l"(
                     map),
                 "r"(shared_address(tile)), "r"(x), "r"(y)
                 : "memory");
}
static __device__ void commit() {
    asm volatile("cp.async.bulk.commit_group;" ::: "memory");
}
template <int kLeft>
static __device__ void wait_read() {
    asm volatile("cp.async.bulk.wait_group.read %0;" ::"n"(kLeft) : "memory");
}

constexpr int kTile = 32;

/// Adds one to every element of a matrix of ints, a tile by each CTA.
KERNEL add_one(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out) {
    __shared__ alignas(128) int tile[kTile][kTile];
    __shared__ std::uint64_t barrier;
    const int x = blockIdx.x * kTile, y = blockIdx.y * kTile;
    if (threadIdx.x == 0) {
        init(&barrier, 1);
        fence_async();
        expect(&barrier, sizeof tile);
        load(tile, &in, &barrier, x, y);
    }
    __syncthreads();
    wait(&barrier, 0);
    for (int i = threadIdx.x; i < kTile * kTile; i += blockDim.x) tile[i / kTile][i % kTile] += 1;
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        store(&out, tile, x, y);
        commit();
        wait_read<0>();
    }
}

/// The same without the wait for the tile: what was in shared memory before is stored.
KERNEL add_one_too_early(const __grid_constant__ CUtensorMap in,
                         const __grid_constant__ CUtensorMap out) {
    __shared__ alignas(128) int tile[kTile][kTile];
    __shared__ std::uint64_t barrier;
    const int x = blockIdx.x * kTile, y = blockIdx.y * kTile;
    if (threadIdx.x == 0) {
        init(&barrier, 1);
        fence_async();
        expect(&barrier, sizeof tile);
        load(tile, &in, &barrier, x, y);
    }
    __syncthreads();
    for (int i = threadIdx.x; i < kTile * kTile; i += blockDim.x) tile[i / kTile][i % kTile] += 1;
    fence_async();
    __syncthreads();
    if (threadIdx.x == 0) {
        store(&out, tile, x, y);
        commit();
        wait_read<0>();
    }
}

/// Stores tiles of ascending numbers from one buffer; `waits`: before it is written again.
template <bool kWaits>
static __device__ void store_rows(const CUtensorMap* out, int rows) {
    __shared__ alignas(128) int tile[kTile][kTile];
    for (int row = 0; row < rows; ++row) {
        tile[threadIdx.x / kTile][threadIdx.x % kTile] =
            row * kTile * kTile + static_cast<int>(threadIdx.x);
        fence_async();
        __syncthreads();
        if (threadIdx.x == 0) {
            store(out, tile, 0, row * kTile);
            commit();
            if (kWaits) wait_read<0>();
        }
        __syncthreads();
    }
    if (threadIdx.x == 0) wait_read<0>();
}
KERNEL store_tiles(const __grid_constant__ CUtensorMap out, int rows) {
    store_rows<true>(&out, rows);
}
KERNEL store_tiles_too_early(const __grid_constant__ CUtensorMap out, int rows) {
    store_rows<false>(&out, rows);
}

/// Stores by generic writes that no proxy fence orders before the copy.
KERNEL store_without_fence(const __grid_constant__ CUtensorMap out) {
    __shared__ alignas(128) int tile[kTile][kTile];
    tile[threadIdx.x / kTile][threadIdx.x % kTile] = static_cast<int>(threadIdx.x);
    __syncthreads();
    if (threadIdx.x == 0) {
        store(&out, tile, 0, 0);
        commit();
        wait_read<0>();
    }
}

/// Sums columns of a matrix: one warp loads tiles into a ring, the others add them up.
constexpr int kStages = 3, kConsumers = 4;
KERNEL ring(const __grid_constant__ CUtensorMap in, int* sums, int tiles) {
    __shared__ alignas(128) int stage[kStages][kTile][kTile];
    __shared__ std::uint64_t full[kStages], empty[kStages];
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) {
        for (int s = 0; s < kStages; ++s) {
            init(&full[s], 1);
            init(&empty[s], kConsumers);
        }
        fence_async();
    }
    __syncthreads();
    const int x = blockIdx.x * kTile;
    if (warp == kConsumers) {
        if (lane != 0) return;
        for (int t = 0; t < tiles; ++t) {
            const int s = t % kStages, round = t / kStages;
            if (round != 0) wait(&empty[s], (round - 1) & 1);
            expect(&full[s], sizeof stage[s]);
            load(stage[s], &in, &full[s], x, t * kTile);
        }
        return;
    }
    int sum = 0;
    for (int t = 0; t < tiles; ++t) {
        const int s = t % kStages;
        wait(&full[s], t / kStages & 1);
        for (int y = warp; y < kTile; y += kConsumers) sum += stage[s][y][lane];
        __syncwarp();
        if (lane == 0) arrive(&empty[s]);
    }
    atomicAdd(&sums[x + lane], sum);
}

/// Each CTA adds a block of ones to the same floats, and a block of 2s to the same ints.
KERNEL reduce_blocks(float* floats, int* ints) {
    __shared__ alignas(128) float ones[64];
    __shared__ alignas(128) int twos[64];
    ones[threadIdx.x] = 1;
    twos[threadIdx.x] = 2;
    fence_async();
    __syncthreads();
    if (threadIdx.x != 0) return;
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.f32 [%0], [%1], 256;" ::"l"(
                     floats),
                 "r"(shared_address(ones))
                 : "memory");
    asm volatile("cp.reduce.async.bulk.global.shared::cta.bulk_group.add.u32 [%0], [%1], 256;" ::"l"(
                     ints),
                 "r"(shared_address(twos))
                 : "memory");
    commit();
    asm volatile("cp.async.bulk.wait_group 0;" ::: "memory");
}

/// test_wait, arrive with counts, arrive_drop, pending_count: states as they come.
KERNEL mbarrier_states(int* out) {
    __shared__ std::uint64_t barrier;
    if (threadIdx.x != 0) return;
    const unsigned b = shared_address(&barrier);
    std::uint64_t state;
    int pending, done;
    init(&barrier, 5);
    asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1], 2;" : "=l"(state) : "r"(b) : "memory");
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(state));
    out[0] = pending;
    asm volatile("mbarrier.arrive_drop.shared::cta.b64 %0, [%1], 2;"
                 : "=l"(state)
                 : "r"(b)
                 : "memory");
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(state));
    out[1] = pending;
    asm volatile(
        "{.reg .pred p; mbarrier.test_wait.shared::cta.b64 p, [%1], %2; selp.b32 %0, 1, 0, p;}"
        : "=r"(done)
        : "r"(b), "l"(state)
        : "memory");
    out[2] = done;
    asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1];" : "=l"(state) : "r"(b) : "memory");
    asm volatile(
        "{.reg .pred p; mbarrier.test_wait.shared::cta.b64 p, [%1], %2; selp.b32 %0, 1, 0, p;}"
        : "=r"(done)
        : "r"(b), "l"(state)
        : "memory");
    out[3] = done;
    // Three are left in the second phase; bytes keep it open.
    asm volatile("mbarrier.expect_tx.relaxed.cta.shared::cta.b64 [%0], 64;" ::"r"(b) : "memory");
    asm volatile("mbarrier.arrive.shared::cta.b64 %0, [%1], 3;" : "=l"(state) : "r"(b) : "memory");
    asm volatile("mbarrier.pending_count.b64 %0, %1;" : "=r"(pending) : "l"(state));
    out[4] = pending;
    asm volatile(
        "{.reg .pred p; mbarrier.try_wait.parity.shared::cta.b64 p, [%1], 1, 100; selp.b32 %0, 1, "
        "0, p;}"
        : "=r"(done)
        : "r"(b)
        : "memory");
    out[5] = done;
    asm volatile("mbarrier.complete_tx.relaxed.cta.shared::cta.b64 [%0], 64;" ::"r"(b) : "memory");
    asm volatile(
        "{.reg .pred p; mbarrier.test_wait.parity.shared::cta.b64 p, [%1], 1; selp.b32 %0, 1, 0, "
        "p;}"
        : "=r"(done)
        : "r"(b)
        : "memory");
    out[6] = done;
    asm volatile("mbarrier.inval.shared::cta.b64 [%0];" ::"r"(b) : "memory");
}

/// Copies a tile whose left edge is at column x.
KERNEL copy_at(const __grid_constant__ CUtensorMap in, const __grid_constant__ CUtensorMap out,
               int x) {
    __shared__ alignas(128) int tile[kTile][kTile];
    __shared__ std::uint64_t barrier;
    if (threadIdx.x == 0) {
        init(&barrier, 1);
        fence_async();
        expect(&barrier, sizeof tile);
        load(tile, &in, &barrier, x, 0);
    }
    __syncthreads();
    wait(&barrier, 0);
    if (threadIdx.x == 0) {
        store(&out, tile, x, 0);
        commit();
        wait_read<0>();
    }
}
