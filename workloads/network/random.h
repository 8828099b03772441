// SPDX-License-Identifier: Apache-2.0
// Random numbers without state: a counter-based hash (SplitMix64's finaliser, Steele et al.,
// OOPSLA 2014), so that any element can be made alone and the bytes are the same everywhere.
#pragma once

#include <cstdint>

namespace lockstep::network {

inline uint64_t mix(uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

/// The stream or element `index` of a seed or stream.
inline uint64_t random_bits(uint64_t stream, uint64_t index) {
    return mix(stream + index);
}

/// Uniform in [0, 1), 24 bits.
inline float random_unit(uint64_t stream, uint64_t index) {
    return static_cast<float>(random_bits(stream, index) >> 40) * 0x1p-24f;
}

}  // namespace lockstep::network
