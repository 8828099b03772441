// SPDX-License-Identifier: Apache-2.0
// Vectors of the host's width for the dot-product unit (GCC and Clang vector extensions).
#pragma once

#include <cstdint>
#include <cstring>

namespace lockstep::sass {

#if defined(__AVX512F__)
inline constexpr int kLanes = 16;
#else
inline constexpr int kLanes = 8;
#endif

using Floats [[gnu::vector_size(4 * kLanes)]] = float;
using Ints [[gnu::vector_size(4 * kLanes)]] = int32_t;
using Words [[gnu::vector_size(4 * kLanes)]] = uint32_t;

template <typename Vector, typename Element>
inline Vector load(const Element* from) {
    Vector result;
    std::memcpy(&result, from, sizeof result);
    return result;
}

template <typename Vector, typename Element>
inline void store(Element* to, const Vector& vector) {
    std::memcpy(to, &vector, sizeof vector);
}

template <typename To, typename From>
inline To reinterpret(const From& from) {
    static_assert(sizeof(To) == sizeof(From));
    To result;
    std::memcpy(&result, &from, sizeof result);
    return result;
}

inline Ints larger(Ints a, Ints b) {
    return a > b ? a : b;
}
inline Ints truncate(Floats value) {
    return __builtin_convertvector(value, Ints);
}
inline Floats to_floats(Ints value) {
    return __builtin_convertvector(value, Floats);
}

/// Whether any lane is not zero.
template <typename Vector>
inline bool any(const Vector& lanes) {
    constexpr int kWords = sizeof(Vector) / 8;
    uint64_t words[kWords];
    std::memcpy(words, &lanes, sizeof words);
    uint64_t result = 0;
    for (int word = 0; word < kWords; ++word) result |= words[word];
    return result != 0;
}

}  // namespace lockstep::sass
