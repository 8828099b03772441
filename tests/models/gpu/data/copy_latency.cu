// SPDX-License-Identifier: Apache-2.0
// How long a thread waits for an asynchronous copy from global to shared memory that reports to an
// mbarrier. Built by: nvcc -cubin -arch=sm_XX copy_latency.cu -o copy_latency_sm_XX.cubin
#include <cstdint>

__device__ unsigned shared_address(const void* p) {
    return static_cast<unsigned>(__cvta_generic_to_shared(p));
}

__device__ void initialise(unsigned barrier, int count) {
    if (threadIdx.x == 0)
        asm volatile("mbarrier.init.shared.b64 [%0], %1;" ::"r"(barrier), "r"(count));
    __syncthreads();
}

__device__ void wait(unsigned barrier, int phase) {
    unsigned done = 0;
    while (!done)
        asm volatile(
            "{.reg .pred P; mbarrier.test_wait.parity.shared.b64 P,[%1],%2; selp.u32 %0,1,0,P;}"
            : "=r"(done)
            : "r"(barrier), "r"(phase)
            : "memory");
}

// cp.async by every thread; `rounds` times, of other lines each.
extern "C" __global__ void copies(const int* in, int* sum, int* cycles, int rounds) {
    __shared__ int buffer[64];
    __shared__ uint64_t object;
    const unsigned barrier = shared_address(&object);
    const int t = static_cast<int>(threadIdx.x);
    initialise(barrier, static_cast<int>(blockDim.x));
    int total = 0;
    for (int r = 0; r < rounds; ++r) {
        const int begin = clock();
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(shared_address(&buffer[t])),
                     "l"(in + r * 64 + t));
        asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier));
        wait(barrier, r % 2);
        cycles[r * 64 + t] = clock() - begin;
        total += buffer[63 - t];
        __syncthreads();
    }
    sum[t] = total;
}

// One bulk copy by thread 0.
extern "C" __global__ void bulk_copies(const int* in, int* sum, int* cycles, int rounds) {
#if __CUDA_ARCH__ >= 900
    __shared__ alignas(128) int buffer[64];
    __shared__ uint64_t object;
    const unsigned barrier = shared_address(&object);
    const int t = static_cast<int>(threadIdx.x);
    initialise(barrier, 1);
    int total = 0;
    for (int r = 0; r < rounds; ++r) {
        const int begin = clock();
        if (t == 0) {
            asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 256;" ::"r"(barrier));
            asm volatile(
                "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes "
                "[%0],[%1],256,[%2];" ::"r"(shared_address(buffer)),
                "l"(in + r * 64), "r"(barrier));
        }
        wait(barrier, r % 2);
        cycles[r * 64 + t] = clock() - begin;
        total += buffer[63 - t];
        __syncthreads();
    }
    sum[t] = total;
#endif
}

// More groups of copies open at one time than a core keeps apart: one by mbarrier, then by counter.
extern "C" __global__ void many_groups(const int* in, int* sum, int rounds) {
    __shared__ int buffer[128][32];
    __shared__ uint64_t object;
    const unsigned barrier = shared_address(&object);
    const int t = static_cast<int>(threadIdx.x);
    initialise(barrier, static_cast<int>(blockDim.x) * rounds);
    for (int r = 0; r < rounds; ++r) {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(
                         shared_address(&buffer[r][t])),
                     "l"(in + r * 32 + t));
        asm volatile("cp.async.mbarrier.arrive.noinc.shared.b64 [%0];" ::"r"(barrier));
    }
    wait(barrier, 0);
    int total = 0;
    for (int r = 0; r < rounds; ++r) total += buffer[r][31 - t];
    __syncthreads();
    for (int r = 0; r < rounds; ++r) {
        asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(
                         shared_address(&buffer[r][t])),
                     "l"(in + (rounds - 1 - r) * 32 + t));
        asm volatile("cp.async.commit_group;");
    }
    asm volatile("cp.async.wait_all;" ::: "memory");
    __syncthreads();
    for (int r = 0; r < rounds; ++r) total += r * buffer[r][31 - t];
    sum[t] = total;
}
