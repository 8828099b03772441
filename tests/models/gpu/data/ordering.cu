// SPDX-License-Identifier: Apache-2.0
// What threads of different CTAs may rely on: fences, locks, flags, the order of one thread's own
// accesses. Built by: nvcc -cubin -arch=sm_XX ordering.cu -o ordering_sm_XX.cubin

#include <cstdio>

__device__ int load(const int* p) {
    return *const_cast<const volatile int*>(p);
}
__device__ void store(int* p, int value) {
    *const_cast<volatile int*>(p) = value;
}

// CTA 0 writes and raises a flag, the others wait for it and read.
extern "C" __global__ void message_passing(int* data, int* flag, int* wrong, int rounds) {
    for (int r = 1; r <= rounds; ++r) {
        if (blockIdx.x == 0) {
            store(&data[threadIdx.x], r * 1000 + static_cast<int>(threadIdx.x));
            __threadfence();
            __syncthreads();
            if (threadIdx.x == 0) store(flag, r);
            // Until all have read.
            if (threadIdx.x == 0)
                while (load(flag + 1) != r * static_cast<int>(gridDim.x - 1)) {
                }
            __syncthreads();
        } else {
            if (threadIdx.x == 0)
                while (load(flag) < r) {
                }
            __syncthreads();
            __threadfence();
            if (load(&data[threadIdx.x]) != r * 1000 + static_cast<int>(threadIdx.x))
                atomicAdd(wrong, 1);
            __syncthreads();
            if (threadIdx.x == 0) atomicAdd(flag + 1, 1);
        }
    }
}

// Two CTAs each write one of a pair, fence, and read the other: at least one must see the other's.
// kind: 0 store, 1 reduction, 2 exchange.
extern "C" __global__ void store_buffering(int* x, int* y, int* seen, int count, int kind) {
    int* mine = blockIdx.x == 0 ? x : y;
    int* other = blockIdx.x == 0 ? y : x;
    for (int i = threadIdx.x; i < count; i += blockDim.x) {
        if (kind == 0)
            store(&mine[i], 1);
        else if (kind == 1)
            atomicAdd(&mine[i], 1);
        else
            atomicExch(&mine[i], 1);
        __threadfence();
        seen[2 * i + blockIdx.x] = load(&other[i]);
    }
}

// A counter that is no atomic, behind a lock.
extern "C" __global__ void locked_counter(int* lock, int* counter, int rounds, int by_store) {
    if (threadIdx.x != 0) return;
    for (int r = 0; r < rounds; ++r) {
        while (atomicCAS(lock, 0, 1) != 0) {
        }
        __threadfence();
        store(counter, load(counter) + 1);
        __threadfence();
        if (by_store)
            store(lock, 0);
        else
            atomicExch(lock, 0);
    }
}

// The CTA that finishes last adds up what all have stored.
extern "C" __global__ void last_block(const int* in, int* partial, unsigned* done, int* out) {
    __shared__ int sum;
    __shared__ bool is_last;
    if (threadIdx.x == 0) sum = 0;
    __syncthreads();
    atomicAdd(&sum, in[blockIdx.x * blockDim.x + threadIdx.x]);
    __syncthreads();
    if (threadIdx.x == 0) {
        store(&partial[blockIdx.x], sum);
        __threadfence();
        is_last = atomicInc(done, gridDim.x - 1) == gridDim.x - 1;
    }
    __syncthreads();
    if (!is_last || threadIdx.x != 0) return;
    int total = 0;
    for (unsigned b = 0; b < gridDim.x; ++b) total += load(&partial[b]);
    *out = total;
}

// Work is taken from one counter; every item once.
extern "C" __global__ void work_queue(int* next, int* taken, int count) {
    __shared__ int item;
    while (true) {
        if (threadIdx.x == 0) item = atomicAdd(next, 1);
        __syncthreads();
        const int mine = item;
        __syncthreads();
        if (mine >= count) return;
        if (threadIdx.x == 0) atomicAdd(&taken[mine], 1);
    }
}

// A stack of nodes, pushed by compare and swap.
extern "C" __global__ void push_nodes(int* head, int* next) {
    const int node = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    int old = load(head);
    while (true) {
        store(&next[node], old);
        __threadfence();
        const int found = atomicCAS(head, old, node);
        if (found == old) return;
        old = found;
    }
}

// One thread's accesses of one word, in program order, without any fence.
extern "C" __global__ void own_order(int* words, int* out, int rounds) {
    const int t = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    int* const p = &words[t];
    int wrong = 0, expected = 0;
    store(p, 0);
    for (int r = 0; r < rounds; ++r) {
        atomicAdd(p, r);  // reduction, then load
        expected += r;
        wrong += load(p) != expected;
        wrong += atomicAdd(p, 5) != expected;  // atomic after load, result used
        expected += 5;
        store(p, expected * 2);  // store after atomic
        expected *= 2;
        wrong += load(p) != expected;
        atomicMax(p, expected + 3);  // atomic after store
        expected += 3;
        wrong += atomicExch(p, r) != expected;
        wrong += atomicCAS(p, r, r + 1) != r;
        expected = r + 1;
        wrong += load(p) != expected;
    }
    out[t] = wrong;
}

// A reduction by one thread of the CTA is seen by another after a barrier.
extern "C" __global__ void seen_by_cta(int* words, int* out, int rounds) {
    const int base = static_cast<int>(blockIdx.x * blockDim.x);
    const int t = static_cast<int>(threadIdx.x);
    const int other = (t + 33) % static_cast<int>(blockDim.x);
    int wrong = 0;
    for (int r = 1; r <= rounds; ++r) {
        atomicAdd(&words[base + t], 1);
        __syncthreads();
        wrong += load(&words[base + other]) != r;
        __syncthreads();
    }
    out[base + t] = wrong;
}

// Calls of the system's functions by all CTAs at once.
extern "C" __global__ void call_system(int* out) {
    const int t = static_cast<int>(blockIdx.x * blockDim.x + threadIdx.x);
    int* const block = static_cast<int*>(malloc(64));
    block[t % 16] = t;
    if (threadIdx.x == 0) printf("block %d\n", static_cast<int>(blockIdx.x));
    out[t] = block[t % 16];
    free(block);
}

/// A thread hands data on to another of its warp: by one atomic flag, or by way of a thread of
/// another warp.
extern "C" __global__ void lane_to_lane(int* out, int flags) {
    __shared__ int data, flag[3];
    if (threadIdx.x < 3) flag[threadIdx.x] = 0;
    __syncthreads();
    const auto wait = [&](int which) {
        while (atomicAdd(&flag[which], 0) == 0) {
        }
    };
    if (threadIdx.x == 31) {
        wait(2);  // both have left the other lanes
        data = out[1];
        __threadfence_block();
        atomicExch(&flag[0], 1);
    } else if (threadIdx.x == 32) {
        wait(0);
        atomicExch(&flag[1], 1);
    } else if (threadIdx.x == 0) {
        atomicExch(&flag[2], 1);
        wait(flags - 1);
        out[0] = data;
    }
}
