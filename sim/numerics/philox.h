// SPDX-License-Identifier: Apache-2.0
// Philox-4x32-10, a generator without state: four random words from a counter and a key, so that
// any element of any step can be made alone and again. Source: Salmon, Moraes, Dror and Shaw,
// "Parallel Random Numbers: As Easy as 1, 2, 3" (SC 2011); PyTorch and cuRAND draw dropout by it.
#pragma once

#include <array>
#include <cstdint>

namespace lockstep::numerics {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

constexpr PhiloxCounter philox(PhiloxCounter counter, PhiloxKey key) {
    constexpr int kRounds = 10;
    constexpr std::uint64_t kMultiplier0 = 0xd2511f53, kMultiplier1 = 0xcd9e8d57;
    constexpr std::uint32_t kWeyl0 = 0x9e3779b9, kWeyl1 = 0xbb67ae85;
    for (int round = 0; round < kRounds; ++round) {
        const std::uint64_t a = kMultiplier0 * counter[0], b = kMultiplier1 * counter[2];
        counter = {static_cast<std::uint32_t>(b >> 32) ^ counter[1] ^ key[0],
                   static_cast<std::uint32_t>(b),
                   static_cast<std::uint32_t>(a >> 32) ^ counter[3] ^ key[1],
                   static_cast<std::uint32_t>(a)};
        key[0] += kWeyl0;
        key[1] += kWeyl1;
    }
    return counter;
}

}  // namespace lockstep::numerics
