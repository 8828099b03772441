// SPDX-License-Identifier: Apache-2.0
// out[i] = chain(in[0][i], in[1][i], ...) over strided operands: everything that goes element by
// element, with broadcasting, conversions, and every copy from any strides to any. Any grid; a
// thread computes one element (map_real, map_integer) or four consecutive ones (map_real4).
#include <type_traits>

#include "functions.cuh"
#include "strided.cuh"

using namespace lockstep::kernels;

template <int W>
__device__ __forceinline__ void map(const Map& p) {
    const int threads = gridDim.x * blockDim.x;
    for (int unit = blockIdx.x * blockDim.x + threadIdx.x; unit < p.count / W; unit += threads) {
        int index[kDims];
        locate(p, unit * W, index);
        const auto operand = [&](int slot, float(&x)[W]) {
            const Operand& in = p.in[slot];
            const int offset = offset_of(p, in, index);
            if constexpr (W == 4)
                if (in.vector && load_vector(in.data, in.type, offset, x)) return;
            load(in.data, in.type, offset, in.stride[kDims - 1], x);
        };
        float v[W] = {};
        if (p.operands > 0) operand(0, v);
        run_chain(p.step, p.steps, v, operand);
        const int offset = offset_of(p, p.out, index);
        if constexpr (W == 4)
            if (p.out.vector && store_vector(p.out.data, p.out.type, offset, v)) continue;
        store(p.out.data, p.out.type, offset, p.out.stride[kDims - 1], v);
    }
}

extern "C" __global__ void __launch_bounds__(256) map_real(const Map p) {
    map<1>(p);
}

extern "C" __global__ void __launch_bounds__(256) map_real4(const Map p) {
    map<4>(p);
}

template <class T>
__device__ __forceinline__ T floor_remainder(T x, T by) {
    const T rest = x % by;
    return rest == 0 || (rest < 0) == (by < 0) ? rest : rest + by;
}

/// Arithmetic wraps; what is divided by 0 becomes 0.
__device__ __forceinline__ long long apply_integer(const IntegerStep& step, long long v,
                                                   long long x, long long y) {
    using U = unsigned long long;
    switch (step.function) {
        case Function::kAdd:
            return static_cast<long long>(static_cast<U>(v) + static_cast<U>(x));
        case Function::kSubtract:
            return static_cast<long long>(static_cast<U>(v) - static_cast<U>(x));
        case Function::kSubtractFrom:
            return static_cast<long long>(static_cast<U>(x) - static_cast<U>(v));
        case Function::kMultiply:
            return static_cast<long long>(static_cast<U>(v) * static_cast<U>(x));
        case Function::kDivide:
            return x == 0 ? 0 : v / x;
        case Function::kDivideInto:
            return v == 0 ? 0 : x / v;
        case Function::kMaximum:
            return v < x ? x : v;
        case Function::kMinimum:
            return x < v ? x : v;
        case Function::kRemainder:
            return x == 0 ? 0 : floor_remainder(v, x);
        case Function::kRemainderOf:
            return v == 0 ? 0 : floor_remainder(x, v);
        case Function::kTruncatedRemainder:
            return x == 0 ? 0 : v % x;
        case Function::kTruncatedRemainderOf:
            return v == 0 ? 0 : x % v;
        case Function::kEqual:
            return v == x;
        case Function::kLess:
            return v < x;
        case Function::kLessOrEqual:
            return v <= x;
        case Function::kGreater:
            return v > x;
        case Function::kGreaterOrEqual:
            return v >= x;
        case Function::kAnd:
            return v != 0 && x != 0;
        case Function::kOr:
            return v != 0 || x != 0;
        case Function::kXor:
            return (v != 0) != (x != 0);
        case Function::kChoose:
            return v != 0 ? x : y;
        case Function::kChooseThen:
            return x != 0 ? v : y;
        case Function::kChooseElse:
            return x != 0 ? y : v;
        case Function::kConstant:
            return step.a;
        case Function::kAbsolute:
            return v < 0 ? -v : v;
        case Function::kNegate:
            return -v;
        case Function::kSign:
            return v > 0 ? 1 : v < 0 ? -1 : 0;
        case Function::kRelu:
            return v > 0 ? v : 0;
        case Function::kClip:
            v = v < step.a ? step.a : v;
            return step.b < v ? step.b : v;
        case Function::kNot:
            return v == 0;
        default:
            return v;
    }
}

extern "C" __global__ void __launch_bounds__(256) map_integer(const IntegerMap p) {
    const int threads = gridDim.x * blockDim.x;
    for (int element = blockIdx.x * blockDim.x + threadIdx.x; element < p.count;
         element += threads) {
        int index[kDims];
        locate(p, element, index);
        const auto operand = [&](int slot) {
            const Operand& in = p.in[slot];
            const int offset = offset_of(p, in, index);
            long long value = 0;
            with_type(in.type, in.data, [&](const auto* x) {
                if constexpr (std::is_integral_v<std::decay_t<decltype(*x)>>)
                    value = static_cast<long long>(x[offset]);
            });
            return value;
        };
        long long v = p.operands > 0 ? operand(0) : 0;
        for (int s = 0; s < p.steps; ++s) {
            const IntegerStep& step = p.step[s];
            const long long x = step.x >= 0 ? operand(step.x) : step.a;
            const long long y = step.y >= 0 ? operand(step.y) : step.b;
            v = apply_integer(step, v, x, y);
        }
        const int offset = offset_of(p, p.out, index);
        with_type(p.out.type, p.out.data, [&](auto* x) {
            using T = std::remove_reference_t<decltype(*x)>;
            if constexpr (std::is_same_v<T, bool>)
                x[offset] = v != 0;
            else if constexpr (std::is_integral_v<T> || std::is_same_v<T, double>)
                x[offset] = static_cast<T>(v);
            else
                x[offset] = from_float<T>(static_cast<float>(v));
        });
    }
}
