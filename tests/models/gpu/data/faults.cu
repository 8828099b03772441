// SPDX-License-Identifier: Apache-2.0
// What checks of emulated programs have to find, and beside it what they must not mind. Built by:
//   nvcc -cubin -lineinfo -arch=sm_XX faults.cu -o faults_sm_XX.cubin

#include <cooperative_groups.h>
#include <cuda/barrier>

__device__ int load(const int* p) {
    return *const_cast<const volatile int*>(p);
}
__device__ void store(int* p, int value) {
    *const_cast<volatile int*>(p) = value;
}
/// Runs long enough that a branch around it is no predicate.
__device__ int work(int x) {
#pragma unroll 1
    for (int i = 0; i < x % 7 + 3; ++i) x = x * 5 + i;
    return x;
}

// --- Races in shared memory ----------------------------------------------------------------------

extern "C" __global__ void read_after_write(int* out, int has_barrier) {
    __shared__ int s[256];
    s[threadIdx.x] = threadIdx.x;
    if (has_barrier) __syncthreads();
    out[threadIdx.x] = s[threadIdx.x ^ 32];
}

extern "C" __global__ void write_after_read(int* out, int has_barrier) {
    __shared__ int s[256];
    s[threadIdx.x] = threadIdx.x;
    __syncthreads();
    const int x = s[threadIdx.x ^ 32];
    if (has_barrier) __syncthreads();
    s[threadIdx.x] = x + 1;
    out[threadIdx.x] = s[threadIdx.x];
}

// kind: 0 another value, 1 the same value, 2 by one thread.
extern "C" __global__ void write_after_write(int* out, int kind) {
    __shared__ int s[2];
    if (kind != 2 || threadIdx.x == 0) s[0] = kind == 0 ? threadIdx.x / 32 : 5;
    __syncthreads();
    out[threadIdx.x] = s[0];
}

extern "C" __global__ void write_in_one_instruction(int* out, int same) {
    __shared__ int s[1];
    s[0] = same ? 3 : threadIdx.x;
    __syncthreads();
    out[threadIdx.x] = s[0];
}

// Halves of a warp that have parted, with and without meeting in between.
extern "C" __global__ void parted_lanes(int* out, int meets) {
    __shared__ int s[32];
    const int lane = threadIdx.x;
    int x = 0;
    if (lane < 16) {
        s[lane] = work(lane);
        if (meets) __syncwarp();
        x = 1;
    } else {
        x = work(lane + 3);
        if (meets) __syncwarp();
        x += s[lane - 16];
    }
    out[lane] = x;
}

// Each thread has a byte of its own, or its neighbour's too.
extern "C" __global__ void bytes(int* out, int shift) {
    __shared__ char s[260];
    s[threadIdx.x] = static_cast<char>(threadIdx.x);
    out[threadIdx.x] = s[threadIdx.x + shift];
}

// A lock in shared memory; the counter behind it is written without it where `takes` is 0.
extern "C" __global__ void shared_lock(int* out, int takes) {
    __shared__ int lock, counter;
    if (threadIdx.x == 0) lock = counter = 0;
    __syncthreads();
    if (threadIdx.x % 32 == 0) {
        if (takes)
            while (atomicCAS(&lock, 0, 1) != 0) {
            }
        __threadfence_block();
        store(&counter, load(&counter) + 1);
        __threadfence_block();
        if (takes) atomicExch(&lock, 0);
    }
    __syncthreads();
    out[threadIdx.x] = counter;
}

// Producers arrive at a named barrier, consumers wait at it; or at another one.
extern "C" __global__ void named_barriers(int* out, int number) {
    __shared__ int s[64];
    if (threadIdx.x < 64) {
        s[threadIdx.x] = threadIdx.x;
        __threadfence_block();
        asm volatile("bar.arrive 3, 128;" ::: "memory");
        asm volatile("bar.sync 4, 64;" ::: "memory");
    } else {
        if (number == 3)
            asm volatile("bar.sync 3, 128;" ::: "memory");
        else
            asm volatile("bar.sync 5, 64;" ::: "memory");
        out[threadIdx.x] = s[threadIdx.x - 64];
    }
}

#pragma nv_diag_suppress static_var_with_dynamic_init
extern "C" __global__ void mbarriers(int* out, int waits) {
    __shared__ cuda::barrier<cuda::thread_scope_block> barrier;
    __shared__ int s[128];
    if (threadIdx.x == 0) init(&barrier, blockDim.x);
    __syncthreads();
    for (int r = 0; r < 3; ++r) {
        s[threadIdx.x] = threadIdx.x + r;
        auto token = barrier.arrive();
        if (waits) barrier.wait(std::move(token));
        const int x = s[threadIdx.x ^ 64];
        if (waits)
            barrier.arrive_and_wait();
        else
            __syncthreads();
        out[threadIdx.x] = x;
    }
}

extern "C" __global__ void histogram(const int* in, int* out, int n) {
    __shared__ int bins[32];
    if (threadIdx.x < 32) bins[threadIdx.x] = 0;
    __syncthreads();
    for (int i = threadIdx.x; i < n; i += blockDim.x) atomicAdd(&bins[in[i] & 31], 1);
    __syncthreads();
    if (threadIdx.x < 32) atomicAdd(&out[threadIdx.x], bins[threadIdx.x]);
}

// --- Races in global memory ----------------------------------------------------------------------

// In place from a neighbour: within the CTA and beyond it.
extern "C" __global__ void shift_in_place(int* x) {
    const int i = blockIdx.x * blockDim.x + threadIdx.x;
    x[i] = x[i + 1] + 1;
}

extern "C" __global__ void count_plainly(int* counter) {
    if (threadIdx.x == 0) counter[0] = counter[0] + 1;
}

// A flag with or without a fence before it.
extern "C" __global__ void hand_over(int* data, int* flag, int* out, int has_fence) {
    if (blockIdx.x == 0) {
        data[threadIdx.x] = threadIdx.x;
        if (has_fence) __threadfence();
        __syncthreads();
        if (threadIdx.x == 0) atomicExch(flag, 1);
    } else {
        if (threadIdx.x == 0)
            while (atomicAdd(flag, 0) == 0) {
            }
        __syncthreads();
        out[threadIdx.x] = data[threadIdx.x ^ 32];
    }
}

extern "C" __global__ void grid_sync(int* x, int* out) {
    const auto grid = cooperative_groups::this_grid();
    const int i = static_cast<int>(grid.thread_rank()), n = static_cast<int>(grid.size());
    for (int r = 0; r < 3; ++r) {
        x[i] = i + r;
        grid.sync();
        out[i] = x[n - 1 - i];
        grid.sync();
    }
}

// --- Memory never written ------------------------------------------------------------------------

extern "C" __global__ void copy_ints(const int* from, int* to) {
    to[threadIdx.x] = from[threadIdx.x];
}

extern "C" __global__ void add_ints(int* to) {
    atomicAdd(&to[threadIdx.x], 1);
}

extern "C" __global__ void unwritten_shared(int* out, int written) {
    __shared__ int s[64];
    if (threadIdx.x < written) s[threadIdx.x] = 1;
    __syncthreads();
    out[threadIdx.x] = s[threadIdx.x];
}

extern "C" __global__ void unwritten_local(int* out, int written, int at) {
    int array[32];
#pragma unroll 1
    for (int i = 0; i < written; ++i) array[i * 3 % 32] = i;
    out[threadIdx.x] = array[(at + threadIdx.x) % 32];
}

struct alignas(16) Padded {
    int a;
    alignas(8) int b;
};

// b is set by one kernel and the whole structure is copied by another.
extern "C" __global__ void set_padded(Padded* p) {
    p[threadIdx.x].a = 1;
    p[threadIdx.x].b = 2;
}
extern "C" __global__ void copy_padded(const int4* from, int4* to) {
    to[threadIdx.x] = from[threadIdx.x];
}

extern "C" __global__ void read_bytes(const unsigned char* from, int* to) {
    to[threadIdx.x] = from[threadIdx.x];
}

// --- Misuse of barriers --------------------------------------------------------------------------

extern "C" __global__ void exit_before_barrier(int* out, int n) {
    if (threadIdx.x >= n) return;
    __shared__ int s[256];
    s[threadIdx.x] = work(threadIdx.x);
    __syncthreads();
    out[threadIdx.x] = s[0];
}

extern "C" __global__ void wrong_counts(int* out, int second) {
    if (threadIdx.x < 32)
        asm volatile("bar.sync 2, 64;" ::: "memory");
    else if (second == 64)
        asm volatile("bar.sync 2, 64;" ::: "memory");
    else
        asm volatile("bar.arrive 2, 96;" ::: "memory");
    out[threadIdx.x] = 1;
}

// The halves of a warp come to a barrier from two places: bar.sync, which wants them together, or
// barrier.sync, which does not.
extern "C" __global__ void two_places(int* out, int aligned) {
    const int lane = threadIdx.x % 32;
    int x = work(lane);
    if (lane < 16) {
        x += work(x);
        if (aligned)
            asm volatile("bar.sync 0;" ::: "memory");
        else
            asm volatile("barrier.sync 0;" ::: "memory");
        x += work(x + 2);
    } else {
        x += work(x + 1);
        if (aligned)
            asm volatile("bar.sync 0;" ::: "memory");
        else
            asm volatile("barrier.sync 0;" ::: "memory");
        x += work(x + 4);
    }
    out[threadIdx.x] = x;
}

extern "C" __global__ void sync_warp(int* out, unsigned mask) {
    const int lane = threadIdx.x;
    int x = 0;
    if (lane < 8) {
        x = work(lane);
        __syncwarp(mask);
        x += 1;
    }
    out[lane] = x;
}

// Vectors of 16 bytes, each written by one thread, and words of them read or written by others.
extern "C" __global__ void vectors(int* out, int what) {
    __shared__ int4 vector[256];
    int* const words = reinterpret_cast<int*>(vector);
    const unsigned self = threadIdx.x, other = (self + 32) % 256;
    const int x = work(self);
    const bool shares = what == 3 || what == 4;  // each with the warp 128 threads further on
    vector[shares ? self % 128 : self] =
        make_int4(1, 2, 3, what == 3 ? 4 : what == 4 ? static_cast<int>(self) : x);
    if (what == 0 || what == 5) __syncthreads();
    if (what == 1) {
        const int4 read = vector[other];
        out[self] = read.x + read.y * read.z + read.w;
    } else if (what == 5) {
        words[self % 4 * 256 + self / 4 * 4 + self % 4] = x;  // four threads a vector
        __syncthreads();
        out[self] = words[other];
    } else if (!shares) {
        out[self] = words[4 * other + 3];
    }
}

// Atomic operations that the compiler makes of loads and compare-and-swaps; what == 1: the last
// warp loads the sums plainly.
extern "C" __global__ void sum_floats(float* out, int what) {
    __shared__ float sums[8];
    __shared__ double wide[8];
    if (threadIdx.x < 8) {
        sums[threadIdx.x] = 0;
        wide[threadIdx.x] = 0;
    }
    __syncthreads();
    if (what == 1 && threadIdx.x >= 224) {
        out[threadIdx.x] = sums[threadIdx.x % 8];
    } else {
#pragma unroll 1
        for (int i = 0; i < 8; ++i) {
            atomicAdd(&sums[(threadIdx.x + i) % 8], 1.0f);
            atomicAdd(&wide[(threadIdx.x + i) % 8], 1.0);
        }
    }
    __syncthreads();
    if (threadIdx.x < 8)
        out[threadIdx.x] = sums[threadIdx.x] + static_cast<float>(wide[threadIdx.x]);
}

__device__ void raise(float* p, float x) {
    int* const word = reinterpret_cast<int*>(p);
    int old = *word, expected;
    do {
        expected = old;
        if (__int_as_float(expected) >= x) break;
        old = atomicCAS(word, expected, __float_as_int(x));
    } while (old != expected);
}

// The largest of the threads' values by a program's own atomic operation; what == 1: the last warp
// loads it plainly.
extern "C" __global__ void largest(float* out, int what) {
    __shared__ float most;
    if (threadIdx.x == 0) most = 0;
    __syncthreads();
    if (what == 1 && threadIdx.x >= 224) {
        out[threadIdx.x] = out[0];
    } else {
        raise(&most, static_cast<float>((threadIdx.x * 37) % 256));
        raise(&out[0], static_cast<float>((threadIdx.x * 41) % 256));
    }
    __syncthreads();
    if (threadIdx.x == 0) out[1] = most;
}

// Threads count in halves of words by atomicCAS of 16 bits; what == 1: the last warp writes
// plainly.
__device__ void count(unsigned short* p) {
    unsigned short old = *p, expected;
    do {
        expected = old;
        old = atomicCAS(p, expected, static_cast<unsigned short>(expected + 3));
    } while (old != expected);
}

extern "C" __global__ void count_halves(int* out, int what) {
    __shared__ unsigned short counters[2];
    unsigned short* const halves = reinterpret_cast<unsigned short*>(out);
    if (threadIdx.x < 2) counters[threadIdx.x] = 0;
    __syncthreads();
    if (what == 1 && threadIdx.x >= 224) {
        halves[1] = static_cast<unsigned short>(threadIdx.x);
    } else {
        count(&counters[1]);
        count(&halves[1]);
    }
    __syncthreads();
    if (threadIdx.x == 0) out[1] = counters[1];
}

// Blocks that each thread allocates, writes and frees, so that others get them next; what == 1: all
// threads write to the last one.
extern "C" __global__ void allocate_again(int* out, int what) {
    __shared__ int* block;
    int* const own = static_cast<int*>(malloc(64));
    own[3] = static_cast<int>(threadIdx.x);
    if (threadIdx.x == 255) block = own;
    const int read = own[3];
    __syncthreads();
    if (what == 1) block[3] = static_cast<int>(threadIdx.x);
    __syncthreads();
    free(own);
    int* const next = static_cast<int*>(malloc(64));
    next[3] = read;
    out[threadIdx.x] = next[3];
    free(next);
}
