// SPDX-License-Identifier: Apache-2.0
// out[i] = e4m3(in[0][i] * step[0].a), what is too large the largest: operands of products in fp8.
// Any grid; a thread rounds one element, or four consecutive ones of the result.
#include <cuda_fp8.h>

#include "strided.cuh"

using namespace lockstep::kernels;

template <int W>
__device__ __forceinline__ void round_to_e4m3(const Map& p) {
    const int threads = gridDim.x * blockDim.x;
    for (int unit = blockIdx.x * blockDim.x + threadIdx.x; unit < p.count / W; unit += threads) {
        int index[kDims];
        locate(p, unit * W, index);
        float v[W];
        const Operand& in = p.in[0];
        const int from = offset_of(p, in, index);
        bool loaded = false;
        if constexpr (W == 4) loaded = in.vector && load_vector(in.data, in.type, from, v);
        if (!loaded) load(in.data, in.type, from, in.stride[kDims - 1], v);
        unsigned bits = 0;
#pragma unroll
        for (int i = 0; i < W; ++i)
            bits |= static_cast<unsigned>(
                        __nv_cvt_float_to_fp8(v[i] * p.step[0].a, __NV_SATFINITE, __NV_E4M3))
                    << 8 * i;
        auto* const to = static_cast<unsigned char*>(p.out.data) + offset_of(p, p.out, index);
        if constexpr (W == 4)
            *reinterpret_cast<unsigned*>(to) = bits;
        else
            *to = static_cast<unsigned char>(bits);
    }
}

extern "C" __global__ void __launch_bounds__(256) round_e4m3(const Map p) {
    round_to_e4m3<1>(p);
}
extern "C" __global__ void __launch_bounds__(256) round_e4m3_4(const Map p) {
    round_to_e4m3<4>(p);
}
