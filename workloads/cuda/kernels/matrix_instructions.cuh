// SPDX-License-Identifier: Apache-2.0
// Tensor Core instructions by their PTX names. In a fragment, lane l holds row l/4 and columns
// 2*(l%4), 2*(l%4)+1 of each 8x8 tile (four bytes of a row for int8); see PTX ISA, "Matrix
// fragments for mma.m16n8k16". sm_75 has only the shorter shapes: two of them make one.
#pragma once

// Four 8x8 tiles of 16-bit elements; lane l gives the address of row l%8 of tile l/8.
__device__ __forceinline__ void load_matrix_x4(unsigned (&tile)[4], const void* shared_row) {
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(shared_row));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(tile[0]), "=r"(tile[1]), "=r"(tile[2]), "=r"(tile[3])
                 : "r"(address)
                 : "memory");
}

__device__ __forceinline__ void load_matrix_x4_transposed(unsigned (&tile)[4],
                                                          const void* shared_row) {
    const unsigned address = static_cast<unsigned>(__cvta_generic_to_shared(shared_row));
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0,%1,%2,%3}, [%4];"
                 : "=r"(tile[0]), "=r"(tile[1]), "=r"(tile[2]), "=r"(tile[3])
                 : "r"(address)
                 : "memory");
}

// c (16x8, FP32) += a (16x16, FP16) * b (16x8, FP16)
__device__ __forceinline__ void mma_f16(float (&c)[4], const unsigned (&a)[4], unsigned b0,
                                        unsigned b1) {
#if __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
    const unsigned b[2] = {b0, b1};
    for (int half = 0; half < 2; ++half) {
        asm volatile(
            "mma.sync.aligned.m16n8k8.row.col.f32.f16.f16.f32 {%0,%1,%2,%3}, {%4,%5}, {%6}, "
            "{%0,%1,%2,%3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[2 * half]), "r"(a[2 * half + 1]), "r"(b[half]));
    }
#endif
}

// c (16x8, INT32) += a (16x32, INT8) * b (32x8, INT8)
__device__ __forceinline__ void mma_s8(int (&c)[4], const unsigned (&a)[4], unsigned b0,
                                       unsigned b1) {
#if __CUDA_ARCH__ >= 800
    asm volatile(
        "mma.sync.aligned.m16n8k32.row.col.s32.s8.s8.s32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, {%8,%9}, "
        "{%0,%1,%2,%3};"
        : "+r"(c[0]), "+r"(c[1]), "+r"(c[2]), "+r"(c[3])
        : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
#else
    const unsigned b[2] = {b0, b1};
    for (int part = 0; part < 4; ++part) {  // part: row half + 2 * k half, as a[] is ordered
        const int rows = part % 2;
        asm volatile("mma.sync.aligned.m8n8k16.row.col.s32.s8.s8.s32 {%0,%1}, {%2}, {%3}, {%0,%1};"
                     : "+r"(c[2 * rows]), "+r"(c[2 * rows + 1])
                     : "r"(a[part]), "r"(b[part / 2]));
    }
#endif
}
