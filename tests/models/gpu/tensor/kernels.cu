// SPDX-License-Identifier: Apache-2.0
// Kernels that multiply matrices with wmma and mma.sync: D = A * B + C, 16-row tiles, one warp a tile.
// compile.sh makes the cubins from it.
#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <mma.h>

#include <cstdint>

using namespace nvcuda;

// M x N tile per CTA at (blockIdx.y, blockIdx.x); k is a multiple of K. A: m x k, B: k x n, C, D: m x n
// row-major; leading dimensions follow the layouts.
template <typename T, typename Fragment, typename Acc, int M, int N, int K, typename LayoutA,
          typename LayoutB>
__device__ void multiply_wmma(Acc* d, const T* a, const T* b, const Acc* c, int m, int n, int k) {
    wmma::fragment<wmma::matrix_a, M, N, K, Fragment, LayoutA> fa;
    wmma::fragment<wmma::matrix_b, M, N, K, Fragment, LayoutB> fb;
    wmma::fragment<wmma::accumulator, M, N, K, Acc> sum;
    const int row = blockIdx.y * M, column = blockIdx.x * N;
    constexpr bool a_rows = std::is_same<LayoutA, wmma::row_major>::value;
    constexpr bool b_rows = std::is_same<LayoutB, wmma::row_major>::value;
    wmma::load_matrix_sync(sum, c + row * n + column, n, wmma::mem_row_major);
    for (int i = 0; i < k; i += K) {
        wmma::load_matrix_sync(fa, a_rows ? a + row * k + i : a + i * m + row, a_rows ? k : m);
        wmma::load_matrix_sync(fb, b_rows ? b + i * n + column : b + column * k + i, b_rows ? n : k);
        wmma::mma_sync(sum, fa, fb, sum);
    }
    wmma::store_matrix_sync(d + row * n + column, sum, n, wmma::mem_row_major);
}

#define WMMA(NAME, T, FRAGMENT, ACC, M, N, K, LA, LB)                                              \
    extern "C" __global__ void NAME(ACC* d, const T* a, const T* b, const ACC* c, int m, int n,    \
                                    int k) {                                                       \
        multiply_wmma<T, FRAGMENT, ACC, M, N, K, wmma::LA, wmma::LB>(d, a, b, c, m, n, k);         \
    }

WMMA(wmma_f16_f32_rr, half, half, float, 16, 16, 16, row_major, row_major)
WMMA(wmma_f16_f32_rc, half, half, float, 16, 16, 16, row_major, col_major)
WMMA(wmma_f16_f32_cr, half, half, float, 16, 16, 16, col_major, row_major)
WMMA(wmma_f16_f32_cc, half, half, float, 16, 16, 16, col_major, col_major)
WMMA(wmma_f16_f16_rr, half, half, half, 16, 16, 16, row_major, row_major)
WMMA(wmma_f16_f16_rc, half, half, half, 16, 16, 16, row_major, col_major)
WMMA(wmma_f16_f32_32x8, half, half, float, 32, 8, 16, row_major, col_major)
WMMA(wmma_f16_f32_8x32, half, half, float, 8, 32, 16, row_major, col_major)
#if !defined(ONLY_VOLTA)
WMMA(wmma_s8_rc, signed char, signed char, int, 16, 16, 16, row_major, col_major)
WMMA(wmma_u8_rr, unsigned char, unsigned char, int, 16, 16, 16, row_major, row_major)
WMMA(wmma_s8_cc_32x8, signed char, signed char, int, 32, 8, 16, col_major, col_major)
#endif
#if __CUDA_ARCH__ >= 800
WMMA(wmma_bf16_rc, __nv_bfloat16, __nv_bfloat16, float, 16, 16, 16, row_major, col_major)
WMMA(wmma_bf16_cr, __nv_bfloat16, __nv_bfloat16, float, 16, 16, 16, col_major, row_major)
WMMA(wmma_tf32_rc, float, wmma::precision::tf32, float, 16, 16, 8, row_major, col_major)
WMMA(wmma_tf32_cr, float, wmma::precision::tf32, float, 16, 16, 8, col_major, row_major)
WMMA(wmma_f64_rc, double, double, double, 8, 8, 4, row_major, col_major)
WMMA(wmma_f64_cr, double, double, double, 8, 8, 4, col_major, row_major)

// A (16 x 16, row-major) and B (16 x 8, row-major) through shared memory and ldmatrix.
extern "C" __global__ void ldmatrix_m16n8k16(float* d, const half* a, const half* b, const float* c,
                                             int m, int n, int k) {
    __shared__ __align__(16) half sa[16][16], sb[16][8];
    const int lane = threadIdx.x, row = blockIdx.y * 16, column = blockIdx.x * 8;
    const int g = lane / 4, t = lane % 4;
    float sum[4];
    for (int i = 0; i < 4; ++i) sum[i] = c[(row + g + i / 2 * 8) * n + column + 2 * t + i % 2];
    for (int at = 0; at < k; at += 16) {
        for (int i = lane; i < 256; i += 32) sa[i / 16][i % 16] = a[(row + i / 16) * k + at + i % 16];
        for (int i = lane; i < 128; i += 32) sb[i / 8][i % 8] = b[(at + i / 8) * n + column + i % 8];
        __syncwarp();
        uint32_t x[4], y[2];
        const auto pa = static_cast<uint32_t>(__cvta_generic_to_shared(&sa[lane % 16][lane / 16 * 8]));
        const auto pb = static_cast<uint32_t>(__cvta_generic_to_shared(&sb[lane % 16][0]));
        asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                     : "=r"(x[0]), "=r"(x[1]), "=r"(x[2]), "=r"(x[3]) : "r"(pa));
        asm volatile("ldmatrix.sync.aligned.m8n8.x2.trans.shared.b16 {%0,%1}, [%2];"
                     : "=r"(y[0]), "=r"(y[1]) : "r"(pb));
        asm volatile("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, "
                     "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                     : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
        __syncwarp();
    }
    for (int i = 0; i < 4; ++i) d[(row + g + i / 2 * 8) * n + column + 2 * t + i % 2] = sum[i];
}

// 4-bit integers (ptxas emulates them on sm_90): A row-major, B column-major, eight to a word.
extern "C" __global__ void mma_s4(int* d, const uint32_t* a, const uint32_t* b, const int* c, int m,
                                  int n, int k) {
    const int g = threadIdx.x / 4, t = threadIdx.x % 4, row = blockIdx.y * 16, column = blockIdx.x * 8;
    int sum[4];
    for (int i = 0; i < 4; ++i) sum[i] = c[(row + g + i / 2 * 8) * n + column + 2 * t + i % 2];
    const int words = k / 8;
    for (int w = 0; w < words; w += 8) {
        uint32_t x[4], y[2];
        for (int i = 0; i < 4; ++i) x[i] = a[(row + g + i % 2 * 8) * words + w + t + i / 2 * 4];
        for (int i = 0; i < 2; ++i) y[i] = b[(column + g) * words + w + t + i * 4];
        asm volatile("mma.sync.aligned.m16n8k64.row.col.s32.s4.s4.s32 {%0,%1,%2,%3}, "
                     "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+r"(sum[0]), "+r"(sum[1]), "+r"(sum[2]), "+r"(sum[3])
                     : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    }
    for (int i = 0; i < 4; ++i) d[(row + g + i / 2 * 8) * n + column + 2 * t + i % 2] = sum[i];
}
#endif
#if __CUDA_ARCH__ >= 890
// fp8: A row-major, B column-major, four to a word. sm_90 unpacks to fp16.
extern "C" __global__ void mma_e4m3(float* d, const uint32_t* a, const uint32_t* b, const float* c,
                                    int m, int n, int k) {
    const int g = threadIdx.x / 4, t = threadIdx.x % 4, row = blockIdx.y * 16, column = blockIdx.x * 8;
    float sum[4];
    for (int i = 0; i < 4; ++i) sum[i] = c[(row + g + i / 2 * 8) * n + column + 2 * t + i % 2];
    const int words = k / 4;
    for (int w = 0; w < words; w += 8) {
        uint32_t x[4], y[2];
        for (int i = 0; i < 4; ++i) x[i] = a[(row + g + i % 2 * 8) * words + w + t + i / 2 * 4];
        for (int i = 0; i < 2; ++i) y[i] = b[(column + g) * words + w + t + i * 4];
        asm volatile("mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, "
                     "{%4,%5,%6,%7}, {%8,%9}, {%0,%1,%2,%3};"
                     : "+f"(sum[0]), "+f"(sum[1]), "+f"(sum[2]), "+f"(sum[3])
                     : "r"(x[0]), "r"(x[1]), "r"(x[2]), "r"(x[3]), "r"(y[0]), "r"(y[1]));
    }
    for (int i = 0; i < 4; ++i) d[(row + g + i / 2 * 8) * n + column + 2 * t + i % 2] = sum[i];
}
#endif
