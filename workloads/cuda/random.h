// SPDX-License-Identifier: Apache-2.0
// SplitMix64 (Steele, Lea and Flood, OOPSLA 2014): small, and the same numbers everywhere, which
// the distributions of the standard library do not promise.
#pragma once

#include <cstdint>

namespace lockstep::cuda {

class Random {
  public:
    explicit Random(std::uint64_t seed) : state_(seed) {}

    std::uint64_t bits() {
        std::uint64_t z = state_ += 0x9e3779b97f4a7c15u;
        z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
        z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
        return z ^ (z >> 31);
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

}  // namespace lockstep::cuda
