// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sm/shared_banks.h"

#include <gtest/gtest.h>

#include <functional>
#include <random>
#include <set>

namespace lockstep::gpu {

namespace {

struct Lanes {
    std::uint64_t address[sass::kWarpSize];
    explicit Lanes(const std::function<std::uint64_t(unsigned)>& f) {
        for (unsigned l = 0; l < sass::kWarpSize; ++l) address[l] = f(l);
    }
};

unsigned wavefronts(unsigned width, const std::function<std::uint64_t(unsigned)>& f,
                    std::uint32_t lanes = ~0u) {
    return bank_wavefronts(Lanes(f).address, lanes, width);
}

TEST(SharedBanks, WordsWithoutConflicts) {
    EXPECT_EQ(wavefronts(4, [](unsigned l) { return 4 * l; }), 1u);
    EXPECT_EQ(wavefronts(4, [](unsigned l) { return 4 * (l ^ 21) + 400; }), 1u);
    EXPECT_EQ(wavefronts(4, [](unsigned l) { return 132 * l; }), 1u);
    EXPECT_EQ(wavefronts(4, [](unsigned) { return 64; }), 1u);           // broadcast
    EXPECT_EQ(wavefronts(4, [](unsigned l) { return l / 8 * 4; }), 1u);  // of four words
    EXPECT_EQ(wavefronts(1, [](unsigned l) { return l; }), 1u);          // bytes share words
    EXPECT_EQ(wavefronts(2, [](unsigned l) { return 2 * l; }), 1u);
    EXPECT_EQ(wavefronts(
                  4, [](unsigned l) { return 4 * l; }, 0),
              0u);
}

TEST(SharedBanks, ConflictsByStride) {
    for (unsigned ways = 1; ways <= 32; ways *= 2)
        EXPECT_EQ(wavefronts(4, [&](unsigned l) { return 4 * ways * l; }), ways);
    EXPECT_EQ(wavefronts(4, [](unsigned l) { return 12 * l; }), 1u);
    EXPECT_EQ(wavefronts(
                  4, [](unsigned l) { return 128 * l; }, 0xff),
              8u);
}

TEST(SharedBanks, WideElementsByHalvesAndQuarters) {
    EXPECT_EQ(wavefronts(8, [](unsigned l) { return 8 * l; }), 2u);
    EXPECT_EQ(wavefronts(16, [](unsigned l) { return 16 * l; }), 4u);
    EXPECT_EQ(wavefronts(
                  16, [](unsigned l) { return 16 * l; }, 0xff),
              1u);
    EXPECT_EQ(wavefronts(8, [](unsigned l) { return 16 * l; }), 4u);
    EXPECT_EQ(wavefronts(16, [](unsigned l) { return 128 * l; }), 32u);
    EXPECT_EQ(wavefronts(16, [](unsigned l) { return 144 * l; }), 4u);  // padded rows
}

TEST(SharedBanks, LoadsOfPairsArePacked) {
    const auto load = [](unsigned width, const std::function<std::uint64_t(unsigned)>& f,
                         std::uint32_t lanes = ~0u) {
        return bank_wavefronts(Lanes(f).address, lanes, width, BankAccess::kPacked);
    };
    EXPECT_EQ(load(8, [](unsigned) { return 8; }), 1u);
    EXPECT_EQ(load(16, [](unsigned) { return 16; }), 2u);
    EXPECT_EQ(load(4, [](unsigned) { return 16; }), 1u);
    EXPECT_EQ(load(16, [](unsigned l) { return l / 2 * 16; }), 2u);
    EXPECT_EQ(load(16, [](unsigned l) { return l / 2 * 32; }), 4u);
    EXPECT_EQ(load(16, [](unsigned l) { return (l & 1) * 16 + l / 4 * 32; }), 2u);  // l and l^2
    EXPECT_EQ(load(16, [](unsigned l) { return l % 4 * 16; }), 4u);                 // l and l^4
    EXPECT_EQ(load(
                  16, [](unsigned l) { return l / 2 * 16; }, 0x55555555u),
              2u);  // no pair at all
    EXPECT_EQ(load(8, [](unsigned l) { return l / 16 * 8; }), 1u);
    EXPECT_EQ(wavefronts(16, [](unsigned) { return 16; }), 4u);  // a store
}

TEST(SharedBanks, AgreesWithSetsOfWords) {
    std::mt19937 random(2);
    for (int i = 0; i < 200; ++i) {
        const unsigned range = 1u << (random() % 12);
        const Lanes lanes([&](unsigned) { return random() % range * 4; });
        const std::uint32_t active = random() | 1u;
        std::set<std::uint64_t> words[kBanks];
        for (unsigned l = 0; l < sass::kWarpSize; ++l)
            if (active >> l & 1) words[lanes.address[l] / 4 % kBanks].insert(lanes.address[l]);
        std::size_t most = 0;
        for (const auto& bank : words) most = std::max(most, bank.size());
        EXPECT_EQ(bank_wavefronts(lanes.address, active, 4), most);
    }
}

TEST(SharedBanks, AtomicsTakeTurnsAtAnAddress) {
    const Lanes consecutive([](unsigned l) { return 4 * l; });
    const Lanes uniform([](unsigned) { return 4; });
    const Lanes pairs([](unsigned l) { return l / 2 * 4; });
    EXPECT_EQ(atomic_wavefronts(consecutive.address, ~0u, 4), 1u);
    EXPECT_EQ(atomic_wavefronts(uniform.address, ~0u, 4), 32u);
    EXPECT_EQ(atomic_wavefronts(uniform.address, 0xffu, 4), 8u);
    EXPECT_EQ(atomic_wavefronts(pairs.address, ~0u, 4), 2u);
}

}  // namespace

}  // namespace lockstep::gpu
