// SPDX-License-Identifier: Apache-2.0
// Shared memory has 32 banks of 4 bytes: a pass serves one word of each bank, to any number of
// lanes. Accesses of 8 and 16 bytes are served by half and quarter warps, whose lanes then see 16
// and 8 banks of their width (CUDA C Programming Guide, compute capability 5.x and later). All
// lanes at one address need one pass, whatever the width; other merges of half warps are left out.
#include "models/gpu/sm/shared_banks.h"

#include <algorithm>
#include <bit>

#include "isa/sass/semantics/address.h"

namespace lockstep::gpu {

namespace {

using sass::for_each_lane;
using sass::kWarpSize;

/// A bank of `width` bytes, as wide as the lanes' elements but 4 bytes at least.
struct Banks {
    explicit Banks(unsigned width)
        : shift(static_cast<unsigned>(std::countr_zero(std::max(width, 4u)))),
          count(kBanks * 4 >> shift) {}
    unsigned shift;
    unsigned count;  ///< of banks, and of the lanes that are served together
    std::uint32_t group(unsigned i) const {
        return (count == kWarpSize ? ~0u : (1u << count) - 1) << (i * count);
    }
};

/// Most different words that a bank is asked for.
unsigned passes(const std::uint64_t* address, std::uint32_t lanes, Banks banks) {
    std::uint32_t word[kBanks][kWarpSize];
    std::uint8_t words[kBanks] = {};
    unsigned most = 0;
    for_each_lane(lanes, [&](unsigned l) {
        const auto w = static_cast<std::uint32_t>(address[l] >> banks.shift);
        const unsigned bank = w & (banks.count - 1);
        unsigned i = 0;
        while (i < words[bank] && word[bank][i] != w) ++i;
        if (i < words[bank]) return;
        word[bank][i] = w;
        words[bank] = static_cast<std::uint8_t>(i + 1);
        most = std::max(most, i + 1);
    });
    return most;
}

}  // namespace

unsigned bank_wavefronts(const std::uint64_t* address, std::uint32_t lanes, unsigned width) {
    if (lanes == 0) return 0;
    const auto first = static_cast<unsigned>(std::countr_zero(lanes));
    if (width >= 4 && sass::is_consecutive(address, address[first] - first * width, width, lanes))
        return ideal_wavefronts(lanes, width);
    if (sass::is_consecutive(address, address[first], 0, lanes)) return 1;
    const Banks banks(width);
    unsigned sum = 0;
    for (unsigned i = 0; i < kWarpSize / banks.count; ++i)
        sum += passes(address, lanes & banks.group(i), banks);
    return sum;
}

unsigned ideal_wavefronts(std::uint32_t lanes, unsigned width) {
    const Banks banks(width);
    unsigned sum = 0;
    for (unsigned i = 0; i < kWarpSize / banks.count; ++i) sum += (lanes & banks.group(i)) != 0;
    return sum;
}

unsigned atomic_wavefronts(const std::uint64_t* address, std::uint32_t lanes, unsigned width) {
    const Banks banks(width);
    unsigned sum = 0;
    for (unsigned i = 0; i < kWarpSize / banks.count; ++i) {
        std::uint8_t asked[kBanks] = {};
        unsigned most = 0;
        for_each_lane(lanes & banks.group(i), [&](unsigned l) {
            const auto bank = static_cast<unsigned>(address[l] >> banks.shift) & (banks.count - 1);
            most = std::max<unsigned>(most, ++asked[bank]);
        });
        sum += most;
    }
    return sum;
}

}  // namespace lockstep::gpu
