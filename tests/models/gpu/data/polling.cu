// SPDX-License-Identifier: Apache-2.0
// Kernels that poll, most of them for what never comes. Compiled with nvcc -cubin -arch=sm_90 (and
// sm_75).
#define GLOBAL extern "C" __global__ void

GLOBAL poll_load(volatile int* flag) {
    while (*flag == 0) {
    }
}

GLOBAL poll_sum_of_zero(int* flag) {
    while (atomicAdd(flag, 0) == 0) {
    }
}

GLOBAL poll_lock(int* lock) {
    while (atomicCAS(lock, 0, 1) != 0) __nanosleep(100);
    atomicExch(lock, 0);
}

GLOBAL poll_exchange(int* lock) {
    unsigned pause = 8;
    while (atomicExch(lock, 1) != 0) {
        __nanosleep(pause);
        if (pause < 256) pause *= 2;
    }
}

GLOBAL poll_shared(int* out) {
    __shared__ int lock;
    lock = 1;
    __syncthreads();
    if (threadIdx.x == 0)
        while (atomicCAS(&lock, 0, 1) != 0) {
        }
    __syncthreads();
    out[threadIdx.x] = lock;
}

/// Stores what is there already in each round, in three kinds of memory.
GLOBAL poll_and_store(volatile int* flag, volatile int* alive, int index) {
    __shared__ volatile int round;
    volatile int local[8];
    while (*flag == 0) {
        *alive = 1;
        round = 2;
        local[index] = 3;
        *alive = local[index] + round - 4;
    }
}

/// A barrier of the whole grid, whose CTAs must all be on the chip.
GLOBAL grid_barrier(int* arrived, int* out) {
    if (threadIdx.x == 0) {
        atomicAdd(arrived, 1);
        while (atomicAdd(arrived, 0) < static_cast<int>(gridDim.x)) {
        }
    }
    __syncthreads();
    if (threadIdx.x == 0) out[blockIdx.x] = *arrived;
}

/// The last CTA works for long before it releases the others.
GLOBAL released_late(int* flag, int rounds, float* sink, int* out) {
    if (blockIdx.x == gridDim.x - 1) {
        float value = 1;
        for (int r = 0; r < rounds; ++r) value = value * 1.0001f + 1.0f;
        *sink = value;
        __threadfence();
        atomicExch(flag, 1);
    } else {
        while (atomicCAS(flag, 1, 1) == 0) {
        }
    }
    out[blockIdx.x] = 1;
}

/// Counts down a number that others poll: memory changes all the while.
GLOBAL counted_down(int* number, int* out) {
    if (blockIdx.x == 0) {
        while (atomicSub(number, 1) > 1) {
        }
    } else {
        while (atomicOr(number, 0) > 0) {
        }
    }
    out[blockIdx.x] = 1;
}

/// CTA 1 reads memory of the heap before and after CTA 0 frees it.
GLOBAL read_after_free(int** shared_pointer, int* phase, int* out) {
    if (blockIdx.x == 0) {
        int* const memory = static_cast<int*>(malloc(64));
        memory[0] = 5;
        *shared_pointer = memory;
        __threadfence();
        atomicExch(phase, 1);
        while (atomicAdd(phase, 0) != 2) {
        }
        free(memory);
        __threadfence();
        atomicExch(phase, 3);
    } else {
        volatile int* memory = nullptr;
        for (int round = 1; round <= 3; round += 2) {
            while (atomicAdd(phase, 0) != round) {
            }
            if (round == 1) memory = *static_cast<int* volatile*>(shared_pointer);
            out[round] = memory[0];
            __threadfence();
            atomicExch(phase, round + 1);
        }
    }
}

/// Warp 0 counts on, all others watch a counter of two bits in shared memory: two loops in one,
/// each of which may wait for other threads.
GLOBAL watched_counter(int* out, int rounds, int work) {
    __shared__ volatile int at, stop;
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    if (threadIdx.x == 0) at = stop = 0;
    __syncthreads();
    if (warp == 0) {
        float x = lane;
        for (int round = 1; round <= rounds; ++round) {
#pragma unroll 1
            for (int i = 0; i < work; ++i) x = x * 0.5f + 1.0f;
            if (lane == 0) at = round & 3;
            __syncwarp();
        }
        if (x > 3.0f) out[0] = 0;
        return;
    }
    int seen = 0;
    while (seen < rounds) {
#pragma unroll 1
        for (int i = 0; i < 4; ++i)
            if (stop != 0) return;
        seen += at - seen & 3;
    }
    if (lane == 0) out[warp] = seen;
}

/// The threads of a CTA take turns.
GLOBAL turns_by_thread(int* out, int rounds) {
    __shared__ volatile int turn;
    if (threadIdx.x == 0) turn = 0;
    __syncthreads();
    for (int round = 0; round < rounds; ++round) {
        while (turn != round * blockDim.x + threadIdx.x) {
        }
        out[threadIdx.x] += turn;
        turn = turn + 1;
    }
}

/// Each thread takes a lock `rounds` times, so that a path that holds it waits for others' turns.
GLOBAL lock_by_thread(int* lock, volatile int* count, int rounds) {
    for (int round = 0; round < rounds; ++round) {
        for (bool done = false; !done;) {
            if (atomicCAS(lock, 0, 1) != 0) continue;
            __threadfence();
            *count += 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}
