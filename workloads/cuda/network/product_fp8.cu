// SPDX-License-Identifier: Apache-2.0
// Products of e4m3 on Ada's Tensor Cores; their results are FP16.
#include "product_tensor.cuh"

using namespace lockstep::kernels;

namespace {

struct E4m3 {
    unsigned char bits;
    E4m3() = default;
    __device__ __forceinline__ explicit E4m3(float) : bits(0) {}  // zeros alone
};

struct Fp8Product {
    using Element = E4m3;
    using Sum = float;
    using Result = __half;
    __device__ __forceinline__ static void multiply(float (&c)[4], const unsigned (&a)[4],
                                                    unsigned b0, unsigned b1) {
        asm volatile(
            "mma.sync.aligned.m16n8k32.row.col.f32.e4m3.e4m3.f32 {%0,%1,%2,%3}, {%4,%5,%6,%7}, "
            "{%8,%9}, {%0,%1,%2,%3};"
            : "+f"(c[0]), "+f"(c[1]), "+f"(c[2]), "+f"(c[3])
            : "r"(a[0]), "r"(a[1]), "r"(a[2]), "r"(a[3]), "r"(b0), "r"(b1));
    }
};

}  // namespace

TENSOR_KERNELS(product_fp8, Fp8Product)
