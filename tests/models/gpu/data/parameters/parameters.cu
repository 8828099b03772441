// SPDX-License-Identifier: Apache-2.0
// Kernels of parameters_test.cpp: parameter lists whose last bytes are no whole word. Each writes
// back what it got. Compiled to cubin/ by compile.sh.
//   bytes_N_A     a structure of N bytes, aligned to A, read at offsets that the compiler knows
//   indexed_N_A   the same, thread t reads byte t
//   address_N_A   the same, through a pointer to the parameter
//   tail_T_P      P bytes, then a number of type T, written as a long long
#include <cuda_fp16.h>

template <int N, int A>
struct alignas(A) Bytes {
    unsigned char byte[N];
};

__device__ __noinline__ void copy(unsigned char* out, const unsigned char* from, int bytes) {
    for (int i = 0; i < bytes; ++i) out[i] = from[i];
}

#define BYTES(N, A)                                                                            \
    extern "C" __global__ void bytes_##N##_##A(unsigned char* out, Bytes<N, A> b) {            \
        for (int i = 0; i < N; ++i) out[i] = b.byte[i];                                        \
    }                                                                                          \
    extern "C" __global__ void indexed_##N##_##A(unsigned char* out, Bytes<N, A> b) {          \
        out[threadIdx.x] = b.byte[threadIdx.x];                                                \
    }                                                                                          \
    extern "C" __global__ void address_##N##_##A(unsigned char* out,                           \
                                                 const __grid_constant__ Bytes<N, A> b) {      \
        copy(out, b.byte, N);                                                                  \
    }
BYTES(1, 1) BYTES(2, 1) BYTES(3, 1) BYTES(5, 1) BYTES(7, 1) BYTES(9, 1) BYTES(15, 1) BYTES(17, 1)
BYTES(2, 2) BYTES(6, 2) BYTES(10, 2) BYTES(4, 4) BYTES(12, 4) BYTES(8, 8) BYTES(24, 8)
BYTES(203, 1)

/// A number's bits in the lowest bytes: of its size, extended as the type is.
template <typename T>
__device__ long long widened(T value) {
    return value;
}
__device__ long long widened(__half value) {
    return __half_as_ushort(__hadd(value, value));
}

#define TAIL(NAME, T, P)                                                                          \
    extern "C" __global__ void tail_##NAME##_##P(long long* out, Bytes<P, 1> lead, T value) {     \
        *out = widened(value) + (static_cast<long long>(lead.byte[P - 1]) << 32);                 \
    }
#define TAILS(NAME, T) TAIL(NAME, T, 1) TAIL(NAME, T, 2) TAIL(NAME, T, 3) TAIL(NAME, T, 4)
TAILS(s8, signed char)
TAILS(u8, unsigned char)
TAILS(s16, short)
TAILS(u16, unsigned short)
TAILS(f16, __half)
TAIL(s32, int, 1) TAIL(s64, long long, 1)
// Behind the words of the bank that are always there.
TAIL(s8, signed char, 200) TAIL(u8, unsigned char, 201) TAIL(s8, signed char, 202)
TAIL(s16, short, 200) TAIL(u16, unsigned short, 202) TAIL(f16, __half, 204)

/// What a word of unknown truth decides: nothing but the parameter says whether to write.
extern "C" __global__ void flag(int* out, bool is_set) {
    if (is_set) *out = 7;
}
extern "C" __global__ void flag_after_200(int* out, Bytes<200, 8>, bool is_set) {
    if (is_set) *out = 7;
}

extern "C" __global__ void copy_bytes(unsigned char* out, const unsigned char* in) {
    out[threadIdx.x] = in[threadIdx.x];
}
