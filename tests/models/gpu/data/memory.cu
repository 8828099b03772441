// SPDX-License-Identifier: Apache-2.0
// Kernels of memory_test.cpp. Compiled to cubins beside this file with
//   nvcc -std=c++17 -cubin -arch=sm_XX -o memory_sm_XX.cubin memory.cu
#include <cuda_fp16.h>

#include <cassert>
#include <cstdint>
#include <cstdio>
#if __CUDA_ARCH__ >= 800
#include <cuda_pipeline.h>

#include <cuda/barrier>
#endif

__constant__ int table[64] = {3, 1, 4, 1, 5, 9, 2, 6};
__device__ int counter;

extern "C" {

__global__ void widths(signed char* c, unsigned short* s, long long* d, float4* f, int* out) {
    const int t = threadIdx.x;
    __shared__ float4 tile[128];
    __shared__ signed char bytes[128];
    __shared__ long long longs[128];
    tile[t] = f[t];
    bytes[t] = c[t];
    longs[t] = d[t];
    __syncthreads();
    const float4 v = tile[127 - t];
    out[t] = static_cast<int>(v.x + v.y + v.z + v.w) + bytes[t ^ 1] + s[t] +
             static_cast<int>(longs[(t * 7) % 128]) + table[t % 8];
    f[t] = make_float4(v.w, v.z, v.y, v.x);
    c[t] = static_cast<signed char>(t);
    s[t] = static_cast<unsigned short>(t * 3);
    d[t] = longs[t ^ 3];
}

__global__ void local_array(const int* in, int* out, int n) {
    int values[40];
    signed char small[40];
    const int t = threadIdx.x;
    for (int i = 0; i < n; ++i) {
        values[(i * 7 + t) % 40] = in[i] * t;
        small[(i * 3 + t) % 40] = static_cast<signed char>(in[i]);
    }
    int sum = 0;
    for (int i = 0; i < n; ++i) sum += values[(i * 7 + t) % 40] ^ small[(i * 3 + t) % 40];
    out[t] = sum;
}

__device__ __noinline__ int read_generic(const int* p) {
    return *p;
}
__device__ __noinline__ void write_generic(int* p, int v) {
    *p += v;
}

__global__ void generic_pointers(int* out, int which) {
    __shared__ int shared[32];
    int local[4] = {which, which + 1, which + 2, which + 3};
    const int t = threadIdx.x;
    shared[t] = 100 + t;
    int* p = (t + which) % 3 == 0 ? shared + t : (t + which) % 3 == 1 ? local + (t & 3) : out + 64 + t;
    const int value = read_generic(p);
    write_generic(p, 1000);
    out[t] = value + shared[t] + local[t & 3];
}

__global__ void integer_atomics(int* i, unsigned* u, unsigned long long* l, int* old) {
    const int t = blockIdx.x * blockDim.x + threadIdx.x;
    atomicAdd(i + 0, t);
    atomicMin(i + 1, -t);
    atomicMax(i + 2, t);
    atomicAnd(i + 3, ~(1 << (t & 31)));
    atomicOr(i + 4, 1 << (t & 31));
    atomicXor(i + 5, t);
    atomicSub(i + 6, 2);
    atomicInc(u + 0, 9);
    atomicDec(u + 1, 9);
    atomicMin(u + 2, static_cast<unsigned>(t));
    atomicMax(u + 3, static_cast<unsigned>(t));
    atomicAdd(l + 0, 0x100000001ull * t);
    atomicMax(l + 1, 0x100000001ull * t);
    atomicXor(l + 2, 0x100000001ull * t);
    old[t] = atomicAdd(&counter, 1);
}

__global__ void shared_atomics(int* out) {
    __shared__ int s[8];
    __shared__ unsigned long long l[2];
    __shared__ float f;
    __shared__ double d;
    const int t = threadIdx.x;
    if (t < 8) s[t] = 0;
    if (t < 2) l[t] = 0;
    if (t == 0) {
        f = 0;
        d = 0;
    }
    __syncthreads();
    atomicAdd(s + 0, 1);
    const int ticket = atomicAdd(s + 1, 1);
    atomicMax(s + 2, t);
    atomicXor(s + 3, t);
    atomicAdd(s + 4 + t % 4, t);
    atomicAdd(l + t % 2, 3ull);
    atomicAdd(&f, 0.5f);
    atomicAdd(&d, 0.25);
    __syncthreads();
    if (t < 8) out[t] = s[t];
    if (t < 2) out[8 + t] = static_cast<int>(l[t]);
    if (t == 0) {
        out[10] = static_cast<int>(f);
        out[11] = static_cast<int>(d);
    }
    out[16 + ticket] = 1;
}

__global__ void float_atomics(float* f, double* d, __half2* h, int* lock) {
    atomicAdd(f, 0.5f);
    atomicAdd(d, 0.25);
    atomicAdd(h, __floats2half2_rn(1.0f, 0.5f));
    f[1 + threadIdx.x] = atomicExch(f + 200, static_cast<float>(threadIdx.x));
    // A lock, and a product by compare and swap.
    unsigned old = __float_as_uint(f[300]), seen;
    do {
        seen = old;
        old = atomicCAS(reinterpret_cast<unsigned*>(f + 300), seen,
                        __float_as_uint(__uint_as_float(seen) + 2.0f));
    } while (old != seen);
    bool done = false;
    while (!done) {
        if (atomicCAS(lock, 0, 1) == 0) {
            lock[1] += 1;
            __threadfence();
            atomicExch(lock, 0);
            done = true;
        }
    }
}

__device__ __noinline__ void add_anywhere(float* f, double* d) {
    atomicAdd(f, 1.0f);
    atomicAdd(d, 1.0);
}
__global__ void generic_float_atomics(float* f, double* d) {
    __shared__ float sf;
    __shared__ double sd;
    if (threadIdx.x == 0) {
        sf = 0;
        sd = 0;
    }
    __syncthreads();
    add_anywhere(threadIdx.x & 1 ? &sf : f, threadIdx.x & 1 ? &sd : d);
    __syncthreads();
    if (threadIdx.x == 0) {
        f[1] = sf;
        d[1] = sd;
    }
}

__global__ void async_copies(const int* in, int* out, int n) {
#if __CUDA_ARCH__ >= 800
    __shared__ alignas(16) int buffer[2][512];
    const int t = threadIdx.x;
    __pipeline_memcpy_async(&buffer[0][4 * t], in + 4 * t, 16);
    __pipeline_commit();
    __pipeline_memcpy_async(&buffer[1][t], in + 511 - t, 4);
    __pipeline_memcpy_async(&buffer[1][128 + 2 * t], in + 2 * t, 8, t < n ? 0 : 8);
    __pipeline_commit();
    __pipeline_wait_prior(1);
    __syncthreads();
    int sum = buffer[0][(t * 5) % 512];
    __pipeline_wait_prior(0);
    __syncthreads();
    out[t] = sum + buffer[1][t ^ 1] + buffer[1][128 + (2 * t) % 256];
#endif
}

__global__ void transaction_barriers(int* out) {
#if __CUDA_ARCH__ >= 800
    using barrier = cuda::barrier<cuda::thread_scope_block>;
    __shared__ barrier ready;
    __shared__ int data[128];
    const int t = threadIdx.x;
    if (t == 0) init(&ready, blockDim.x);
    __syncthreads();
    int sum = 0;
    for (int round = 0; round < 5; ++round) {
        data[t] = t * round;
        auto token = ready.arrive();
        ready.wait(std::move(token));
        sum += data[(t + 33) % 128];
        ready.arrive_and_wait();
    }
    out[t] = sum;
#endif
}

__global__ void matrix_loads(const uint4* in, unsigned* out) {
#if __CUDA_ARCH__ >= 750
    __shared__ uint4 rows[32];
    const int t = threadIdx.x;
    rows[t] = in[t];
    __syncwarp();
    const unsigned address =
        static_cast<unsigned>(__cvta_generic_to_shared(rows + (t * 5) % 32));
    unsigned a, b, c, d;
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3},[%4];"
                 : "=r"(a), "=r"(b), "=r"(c), "=r"(d)
                 : "r"(address));
    out[t] = a;
    out[32 + t] = d;
    asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1},[%2];"
                 : "=r"(b), "=r"(c)
                 : "r"(address));
    out[64 + t] = b;
    out[96 + t] = c;
#endif
}

__global__ void bulk_copy(const int* in, int* out) {
#if __CUDA_ARCH__ >= 900
    __shared__ alignas(128) int buffer[256];
    __shared__ uint64_t barrier;
    const unsigned at = static_cast<unsigned>(__cvta_generic_to_shared(&barrier));
    const unsigned to = static_cast<unsigned>(__cvta_generic_to_shared(buffer));
    const int t = threadIdx.x;
    if (t == 0) {
        asm volatile("mbarrier.init.shared.b64 [%0], 1;" ::"r"(at));
        asm volatile("fence.proxy.async;");
        asm volatile("mbarrier.arrive.expect_tx.shared.b64 _, [%0], 1024;" ::"r"(at));
        asm volatile(
            "cp.async.bulk.shared::cluster.global.mbarrier::complete_tx::bytes [%0],[%1],1024,[%2];" ::
                "r"(to),
            "l"(in), "r"(at));
    }
    __syncthreads();
    unsigned done = 0;
    while (!done)
        asm volatile(
            "{.reg .pred P; mbarrier.try_wait.parity.shared.b64 P,[%1],0; selp.u32 %0,1,0,P;}"
            : "=r"(done)
            : "r"(at)
            : "memory");
    buffer[t] *= 2;
    asm volatile("fence.proxy.async;");
    __syncthreads();
    if (t == 0) {
        asm volatile("cp.async.bulk.global.shared::cta.bulk_group [%0],[%1],1024;" ::"l"(out),
                     "r"(to));
        asm volatile("cp.async.bulk.commit_group;");
        asm volatile("cp.async.bulk.wait_group 0;");
    }
#endif
}

__global__ void prints(int n) {
    if (threadIdx.x % 16 == 3)
        printf("block %d thread %d: %5.2f %s %lld %c%%\n", blockIdx.x, threadIdx.x,
               threadIdx.x / 4.0, "text", -1ll - n, 'x');
}

__global__ void allocates(int* out) {
    int* p = static_cast<int*>(malloc(16 * sizeof(int)));
    if (p == nullptr) {
        out[threadIdx.x] = -1;
        return;
    }
    for (int i = 0; i < 16; ++i) p[i] = i * static_cast<int>(threadIdx.x);
    int sum = 0;
    for (int i = 0; i < 16; ++i) sum += p[i];
    out[threadIdx.x] = sum;
    free(p);
}

__global__ void overruns_heap(int* out) {
    int* p = static_cast<int*>(malloc(16));
    p[out[0]] = 1;
    out[1] = p[0];
}

__global__ void asserts(int n) {
    assert(static_cast<int>(threadIdx.x) < n);
}

/// Of user's shared memory, what was asked for at the launch, and the system's share with it.
__global__ void shared_sizes(unsigned* out) {
    __shared__ int fixed[10];
    extern __shared__ int dynamic[];
    fixed[threadIdx.x % 10] = dynamic[threadIdx.x % 3] = threadIdx.x;
    __syncthreads();
    asm volatile("mov.u32 %0, %%total_smem_size;" : "=r"(out[0]));
    asm volatile("mov.u32 %0, %%dynamic_smem_size;" : "=r"(out[1]));
#if __CUDA_ARCH__ >= 900
    asm volatile("mov.u32 %0, %%aggr_smem_size;" : "=r"(out[2]));
#endif
    out[3] = fixed[out[4]] + dynamic[out[4]];
}

__global__ void stores_at(int* p, long long offset) {
    p[offset + threadIdx.x] = 1;
}
}
