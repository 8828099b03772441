// SPDX-License-Identifier: Apache-2.0
// Elements of any type as numbers to compute with, and positions without divisions.
#pragma once

#include <cuda_bf16.h>
#include <cuda_fp16.h>

#include <type_traits>

#include "arguments.h"

namespace lockstep::kernels {

__device__ __forceinline__ int divide(int x, const Divider& by) {
    return by.divisor == 1 ? x : static_cast<int>(__umulhi(x, by.multiplier) >> by.shift);
}

/// x = quotient * divisor + rest
__device__ __forceinline__ int divide(int x, const Divider& by, int& rest) {
    const int quotient = divide(x, by);
    rest = x - quotient * static_cast<int>(by.divisor);
    return quotient;
}

template <class T>
__device__ __forceinline__ float to_float(T x) {
    return static_cast<float>(x);
}
template <>
__device__ __forceinline__ float to_float(__half x) {
    return __half2float(x);
}
template <>
__device__ __forceinline__ float to_float(__nv_bfloat16 x) {
    return __bfloat162float(x);
}

template <class T>
__device__ __forceinline__ T from_float(float x) {
    return static_cast<T>(x);
}
template <>
__device__ __forceinline__ __half from_float(float x) {
    return __float2half_rn(x);
}
template <>
__device__ __forceinline__ __nv_bfloat16 from_float(float x) {
    return __float2bfloat16_rn(x);
}
/// Toward zero, and what does not fit wraps.
template <class T>
__device__ __forceinline__ T wrapped(float x) {
    return static_cast<T>(static_cast<long long>(x));
}
template <>
__device__ __forceinline__ signed char from_float(float x) {
    return wrapped<signed char>(x);
}
template <>
__device__ __forceinline__ unsigned char from_float(float x) {
    return wrapped<unsigned char>(x);
}
template <>
__device__ __forceinline__ short from_float(float x) {
    return wrapped<short>(x);
}
template <>
__device__ __forceinline__ int from_float(float x) {
    return wrapped<int>(x);
}
template <>
__device__ __forceinline__ bool from_float(float x) {
    return x != 0.0f;
}

/// Calls f(T*) with the data as its type.
template <class F>
__device__ __forceinline__ void with_type(Type type, void* data, F&& f) {
    switch (type) {
        case Type::kFp32:
            return f(static_cast<float*>(data));
        case Type::kFp64:
            return f(static_cast<double*>(data));
        case Type::kBf16:
            return f(static_cast<__nv_bfloat16*>(data));
        case Type::kFp16:
            return f(static_cast<__half*>(data));
        case Type::kInt8:
            return f(static_cast<signed char*>(data));
        case Type::kUint8:
            return f(static_cast<unsigned char*>(data));
        case Type::kInt16:
            return f(static_cast<short*>(data));
        case Type::kInt32:
            return f(static_cast<int*>(data));
        case Type::kInt64:
            return f(static_cast<long long*>(data));
        case Type::kBool:
            return f(static_cast<bool*>(data));
    }
}

/// W elements, `step` apart.
template <int W>
__device__ __forceinline__ void load(void* data, Type type, int offset, int step, float (&v)[W]) {
    with_type(type, data, [&](const auto* x) {
#pragma unroll
        for (int i = 0; i < W; ++i) v[i] = to_float(x[offset + i * step]);
    });
}

template <int W>
__device__ __forceinline__ void store(void* data, Type type, int offset, int step,
                                      const float (&v)[W]) {
    with_type(type, data, [&](auto* x) {
#pragma unroll
        for (int i = 0; i < W; ++i)
            x[offset + i * step] = from_float<std::remove_reference_t<decltype(*x)>>(v[i]);
    });
}

/// Four consecutive elements at an aligned place; false: no such access for the type.
__device__ __forceinline__ bool load_vector(const void* data, Type type, int offset,
                                            float (&v)[4]) {
    if (type == Type::kFp32) {
        const float4 x = *reinterpret_cast<const float4*>(static_cast<const float*>(data) + offset);
        v[0] = x.x, v[1] = x.y, v[2] = x.z, v[3] = x.w;
        return true;
    }
    if (type != Type::kFp16 && type != Type::kBf16) return false;
    const uint2 x = *reinterpret_cast<const uint2*>(static_cast<const __half*>(data) + offset);
    if (type == Type::kFp16) {
        const float2 low = __half22float2(reinterpret_cast<const __half2&>(x.x));
        const float2 high = __half22float2(reinterpret_cast<const __half2&>(x.y));
        v[0] = low.x, v[1] = low.y, v[2] = high.x, v[3] = high.y;
    } else {
        v[0] = __uint_as_float(x.x << 16), v[1] = __uint_as_float(x.x & 0xffff0000u);
        v[2] = __uint_as_float(x.y << 16), v[3] = __uint_as_float(x.y & 0xffff0000u);
    }
    return true;
}

__device__ __forceinline__ unsigned pack_bf16(float low, float high) {
    const __nv_bfloat16 a = __float2bfloat16_rn(low), b = __float2bfloat16_rn(high);
    return static_cast<unsigned>(__bfloat16_as_ushort(b)) << 16 | __bfloat16_as_ushort(a);
}

__device__ __forceinline__ bool store_vector(void* data, Type type, int offset,
                                             const float (&v)[4]) {
    if (type == Type::kFp32) {
        *reinterpret_cast<float4*>(static_cast<float*>(data) + offset) =
            make_float4(v[0], v[1], v[2], v[3]);
        return true;
    }
    if (type != Type::kFp16 && type != Type::kBf16) return false;
    uint2 x;
    if (type == Type::kFp16) {
        reinterpret_cast<__half2&>(x.x) = __floats2half2_rn(v[0], v[1]);
        reinterpret_cast<__half2&>(x.y) = __floats2half2_rn(v[2], v[3]);
    } else {
        x.x = pack_bf16(v[0], v[1]);
        x.y = pack_bf16(v[2], v[3]);
    }
    *reinterpret_cast<uint2*>(static_cast<__half*>(data) + offset) = x;
    return true;
}

}  // namespace lockstep::kernels
