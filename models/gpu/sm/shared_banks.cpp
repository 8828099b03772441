// SPDX-License-Identifier: Apache-2.0
// Shared memory has 32 banks of 4 bytes: a pass serves one word of each bank, to any number of
// lanes. Accesses of 8 and 16 bytes are served by half and quarter warps, whose lanes then see 16
// and 8 banks of their width (CUDA C Programming Guide, compute capability 5.x and later). Loads
// serve twice as many lanes in a pass where all lanes l and l^1, or all l and l^2, have the same
// address (an engineer of NVIDIA, forums.developer.nvidia.com/t/77228, for 7.0 and 7.5; taken to
// hold for later chips).
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
};

/// Calls pass(lanes) for each group of `size` lanes that has active ones; sums up.
template <typename F>
unsigned sum_groups(std::uint32_t lanes, unsigned size, F&& pass) {
    const std::uint32_t first = size == kWarpSize ? ~0u : (1u << size) - 1;
    unsigned sum = 0;
    for (unsigned i = 0; i < kWarpSize; i += size)
        if ((lanes & first << i) != 0) sum += pass(lanes & first << i);
    return sum;
}

/// All active lanes l and l^distance have the same address.
bool are_pairs(const std::uint64_t* address, std::uint32_t lanes, unsigned distance) {
    std::uint64_t differ = 0;
    for (unsigned l = 0; l < kWarpSize; ++l) {
        const unsigned other = l ^ distance;
        const std::uint64_t both = 0ull - (lanes >> l & lanes >> other & 1u);
        differ |= (address[l] ^ address[other]) & both;
    }
    return differ == 0;
}

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

unsigned bank_wavefronts(const std::uint64_t* address, std::uint32_t lanes, unsigned width,
                         BankAccess kind) {
    if (lanes == 0) return 0;
    const auto first = static_cast<unsigned>(std::countr_zero(lanes));
    // Of lanes at different addresses none may have an active partner for results to be packed.
    const bool has_partners =
        (lanes & lanes >> 1 & 0x55555555u) != 0 && (lanes & lanes >> 2 & 0x33333333u) != 0;
    if (width >= 4 && (has_partners || kind == BankAccess::kPlain) &&
        sass::is_consecutive(address, address[first] - first * width, width, lanes))
        return ideal_wavefronts(lanes, width);
    const Banks banks(width);
    unsigned together = banks.count;
    if (kind == BankAccess::kPacked && together < kWarpSize &&
        (are_pairs(address, lanes, 1) || are_pairs(address, lanes, 2)))
        together *= 2;
    if (sass::is_consecutive(address, address[first], 0, lanes))
        return sum_groups(lanes, together, [](std::uint32_t) { return 1u; });
    return sum_groups(lanes, together,
                      [&](std::uint32_t group) { return passes(address, group, banks); });
}

unsigned ideal_wavefronts(std::uint32_t lanes, unsigned width) {
    return sum_groups(lanes, Banks(width).count, [](std::uint32_t) { return 1u; });
}

unsigned atomic_wavefronts(const std::uint64_t* address, std::uint32_t lanes, unsigned width) {
    const Banks banks(width);
    return sum_groups(lanes, banks.count, [&](std::uint32_t group) {
        std::uint8_t asked[kBanks] = {};
        unsigned most = 0;
        for_each_lane(group, [&](unsigned l) {
            const auto bank = static_cast<unsigned>(address[l] >> banks.shift) & (banks.count - 1);
            most = std::max<unsigned>(most, ++asked[bank]);
        });
        return most;
    });
}

}  // namespace lockstep::gpu
