// SPDX-License-Identifier: Apache-2.0
// Kernels for control_flow_test.cpp; each writes one int a thread. Compiled with
//   nvcc -arch=sm_XX -cubin -o control_flow_sm_XX.cubin control_flow.cu     (CUDA 13.0)
// and for sm_70, which CUDA 13 does not know, by ptxas 11.8 from the PTX for compute_75, its
// .version set to 7.8 and its .target to sm_70.
#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>

#define GLOBAL extern "C" __global__ void

__device__ __noinline__ int fibonacci(int n) {
    return n < 2 ? n : fibonacci(n - 1) + fibonacci(n - 2);
}
GLOBAL recursion(int* out) {
    out[threadIdx.x] = fibonacci(threadIdx.x % 12);
}

// Threads meet at the same convergence barrier in calls of different depth.
__device__ void sort(int* a, int left, int right) {
    if (left >= right) return;
    const int pivot = a[(left + right) / 2];
    int i = left, j = right;
    while (i <= j) {
        while (a[i] < pivot) i++;
        while (a[j] > pivot) j--;
        if (i <= j) {
            const int t = a[i];
            a[i++] = a[j];
            a[j--] = t;
        }
    }
    sort(a, left, j);
    sort(a, i, right);
}
GLOBAL recursive_sort(int* data, int n) {
    sort(data + threadIdx.x * n, 0, n - 1);
}

__device__ int increment(int x) {
    return x + 1;
}
__device__ int triple(int x) {
    return x * 3;
}
__device__ int (*const table[2])(int) = {increment, triple};
GLOBAL function_pointers(int* out) {
    out[threadIdx.x] = table[threadIdx.x & 1](threadIdx.x);
}

struct Shape {
    __device__ virtual int area(int x) const { return x; }
};
struct Square : Shape {
    __device__ int area(int x) const override { return x * x; }
};
GLOBAL virtual_calls(int* out) {
    Shape shape;
    Square square;
    const Shape* chosen = threadIdx.x & 1 ? &square : &shape;
    out[threadIdx.x] = chosen->area(threadIdx.x);
}

GLOBAL switches_and_loops(int* out, const int* in) {
    const int t = threadIdx.x;
    int v = t;
    switch (t % 9) {
        case 0:
            v += in[1];
            break;
        case 1:
            v *= 3;
            break;
        case 2:
            v -= 5;
            break;
        case 3:
            v ^= 77;
            break;
        case 4:
            v |= 9;
            break;
        case 5:
            v &= 12;
            break;
        case 6:
            v += 100;
            break;
        case 7:
            v = v * v;
            break;
        default:
            v = -v;
    }
    for (int i = 0; i < t % 5; i++) {
        if (i == 3) break;
        v += i * v;
    }
    out[t] = v;
}

__device__ int lock_word;
GLOBAL spin_lock(int* out) {  // threads of one warp contend: needs independent scheduling
    bool done = false;
    while (!done) {
        if (atomicCAS(&lock_word, 0, 1) == 0) {
            *(volatile int*)out += 1;
            __threadfence();
            atomicExch(&lock_word, 0);
            done = true;
        }
    }
}

GLOBAL barriers(int* out) {
    const int t = threadIdx.x;
    const int any = __syncthreads_or(t == 90);
    const int count = __syncthreads_count(t & 1);
    const int all = __syncthreads_and(t < 199);
    out[t] = any * 1000000 + count * 10 + all;
}

GLOBAL exits_before_barrier(int* out) {  // exited threads count as arrived
    if (threadIdx.x % 32 >= 16) return;
    __syncthreads();
    out[threadIdx.x] = 1;
}

GLOBAL named_barriers(int* out) {  // warps 0, 1 produce, warps 2, 3 consume
    __shared__ int box[64];
    const int t = threadIdx.x;
    if (t < 64) {
        box[t] = t * 2;
        asm volatile("bar.arrive 1, 128;" ::: "memory");
    } else {
        asm volatile("bar.sync 1, 128;" ::: "memory");
        out[t - 64] = box[t - 64];
    }
}

GLOBAL grid_sync(int* out) {
    auto grid = cooperative_groups::this_grid();
    const int n = grid.size(), r = grid.thread_rank();
    out[r] = 1;
    grid.sync();
    int sum = 0;
    for (int i = 0; i < n; i += 97) sum += out[(r + i) % n];
    grid.sync();
    out[r] = sum;
}

GLOBAL wait_for_later_cta(volatile int* out) {  // CTA 0 spins on what CTA 1 writes
    if (blockIdx.x == 1) out[1] = 7;
    if (blockIdx.x == 0) {
        while (out[1] == 0) {
        }
        out[0] = out[1];
    }
}

GLOBAL reduce_by_mask(int* out) {  // lanes of one instruction belong to different groups
    const int t = threadIdx.x;
    auto tile = cooperative_groups::tiled_partition<32>(cooperative_groups::this_thread_block());
    auto half = cooperative_groups::binary_partition(tile, t % 3 == 0);
    out[t] = cooperative_groups::reduce(half, t, cooperative_groups::plus<int>());
}

GLOBAL reduce_several_warps(int* out) {  // through shared memory that the system reserves
    __shared__ cooperative_groups::block_tile_memory<256> scratch;
    auto block = cooperative_groups::this_thread_block(scratch);
    auto tile = cooperative_groups::tiled_partition<128>(block);
    const int t = threadIdx.x;
    out[t] = cooperative_groups::reduce(tile, t, cooperative_groups::plus<int>());
}

GLOBAL warp_spin_lock(int* lock, int* out) {  // winners must not wait for those who still spin
    while (atomicCAS(lock, 0, 1) != 0) {
    }
    *(volatile int*)out += threadIdx.x;
    __threadfence();
    atomicExch(lock, 0);
}

GLOBAL take_turns(volatile int* turn, int* out) {  // each thread waits for the one before it
    const int t = threadIdx.x;
    for (int round = 0; round < 2; ++round) {
        while (turn[0] != round * 64 + t) {
        }
        out[t] = out[t] * 3 + turn[0];
        __threadfence();
        turn[0] = round * 64 + t + 1;
    }
}

// Faults.
GLOBAL half_a_barrier(int* out) {  // the two halves of a warp wait at different barriers for ever
    if (threadIdx.x < 16) {
        asm volatile("bar.sync 1, 64;");
    } else {
        asm volatile("bar.sync 2, 64;");
    }
    out[threadIdx.x] = 1;
}
GLOBAL out_of_bounds(int* out, int n) {
    out[threadIdx.x + n] = 1;
}
GLOBAL misaligned(char* out) {
    *(int*)(out + 1) = 1;
}
GLOBAL null_pointer(int* out) {
    out[threadIdx.x] = *(volatile int*)nullptr;
}
GLOBAL shared_out_of_bounds(int* out, int n) {
    __shared__ int box[32];
    box[threadIdx.x] = 1;
    out[0] = *(volatile int*)&box[n];
}
GLOBAL trap(int* out) {
    if (threadIdx.x == 3) __trap();
    out[0] = 1;
}
GLOBAL endless(volatile int* out) {
    while (out[0] == 0) {
    }
}
