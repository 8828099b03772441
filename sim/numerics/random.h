// SPDX-License-Identifier: Apache-2.0
// Random numbers that are the same everywhere, which the distributions of the standard library do
// not promise. SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): as a hash of a counter, so that any
// element can be made alone, and as a sequence.
#pragma once

#include <cstdint>

namespace lockstep::numerics {

inline std::uint64_t mix(std::uint64_t x) {
    x += 0x9e3779b97f4a7c15u;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
    x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
    return x ^ (x >> 31);
}

/// The 24 highest bits, uniform in [0, 1).
inline float unit_of(std::uint64_t bits) {
    return static_cast<float>(bits >> 40) * 0x1p-24f;
}

/// The stream or element `index` of a seed or stream.
inline std::uint64_t random_bits(std::uint64_t stream, std::uint64_t index) {
    return mix(stream + index);
}
inline float random_unit(std::uint64_t stream, std::uint64_t index) {
    return unit_of(random_bits(stream, index));
}

/// One number after the other.
class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t bits() {
        const std::uint64_t bits = mix(state_);
        state_ += 0x9e3779b97f4a7c15u;
        return bits;
    }

    /// From low to below high, in steps of 2^-24 of the range.
    float uniform(float low, float high) {
        return low + (high - low) * static_cast<float>(bits() >> 40) * 0x1p-24f;
    }

    /// From low to high, both included.
    int integer(int low, int high) {
        const auto count = static_cast<std::uint64_t>(std::int64_t{high} - low + 1);
        return static_cast<int>(low + static_cast<std::int64_t>((bits() >> 32) * count >> 32));
    }

  private:
    std::uint64_t state_;
};

}  // namespace lockstep::numerics
