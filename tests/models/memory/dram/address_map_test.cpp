// SPDX-License-Identifier: Apache-2.0
#include "models/memory/dram/address_map.h"

#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <set>

#include "sim/error/error.h"

namespace lockstep::memory::dram {
namespace {

TEST(AddressMap, IsABijection) {
    for (const Preset& preset : presets()) {
        const Geometry geometry = make_geometry(preset);
        EXPECT_TRUE(rc::check(preset.name, [&](std::uint64_t seed, bool channels, bool banks) {
            const AddressMap map(geometry, {.hash_channels = channels, .hash_banks = banks});
            const std::uint64_t burst = geometry.organisation.burst_bytes();
            const std::uint64_t address =
                seed * 0x9e3779b97f4a7c15ull % map.bytes() / burst * burst;
            const ChannelAddress where = map.decode(address);
            RC_ASSERT(where.channel < geometry.channels);
            RC_ASSERT(where.location.bank < geometry.banks());
            RC_ASSERT(where.location.row < geometry.rows);
            RC_ASSERT(where.location.column < geometry.organisation.row_bytes / burst);
            RC_ASSERT(map.encode(where) == address);
            RC_ASSERT(map.decode(address + burst - 1) == where);
        }));
    }
}

TEST(AddressMap, NeighboursAreInOtherBankGroupsOfOneChannel) {
    const Geometry geometry = make_geometry(find_preset("h100"));
    const AddressMap map(geometry, {});
    const ChannelAddress first = map.decode(0), second = map.decode(32);
    EXPECT_EQ(first.channel, second.channel);
    EXPECT_NE(first.location.bank / geometry.organisation.banks_per_group,
              second.location.bank / geometry.organisation.banks_per_group);
}

TEST(AddressMap, AStreamUsesAllChannelsEqually) {
    const Geometry geometry = make_geometry(find_preset("h200"));
    const AddressMap map(geometry, {});
    std::vector<int> count(geometry.channels);
    for (std::uint64_t chunk = 0; chunk < 188 * 10; ++chunk)
        ++count[map.decode(chunk * 256).channel];
    for (const int n : count) EXPECT_EQ(n, 10);
}

TEST(AddressMap, HashesSpreadStrides) {
    const Geometry geometry = make_geometry(find_preset("h100"));
    // A stride of all channels' rows: unhashed, one channel and one bank.
    const std::uint64_t stride = std::uint64_t{geometry.channels} *
                                 geometry.organisation.row_bytes *
                                 geometry.organisation.banks_per_rank() * geometry.ranks;
    for (const bool hash : {false, true}) {
        const AddressMap map(geometry, {.hash_channels = hash, .hash_banks = hash});
        std::set<std::uint32_t> channels, banks;
        for (std::uint64_t i = 0; i < 256; ++i) {
            const ChannelAddress where = map.decode(i * stride);
            channels.insert(where.channel);
            banks.insert(where.location.bank);
        }
        if (hash) {
            EXPECT_GT(channels.size(), 100u);
            EXPECT_EQ(banks.size(), geometry.organisation.banks_per_rank());
        } else {
            EXPECT_EQ(channels.size(), 1u);
            EXPECT_EQ(banks.size(), 1u);
        }
    }
}

TEST(AddressMap, RefusesWhatItCannotMap) {
    Geometry geometry = make_geometry(find_preset("h100"));
    EXPECT_THROW(AddressMap(geometry, {.interleave_bytes = 16}), InputError);
    EXPECT_THROW(AddressMap(geometry, {.interleave_bytes = 300}), InputError);
    geometry.ranks = 3;
    EXPECT_THROW(AddressMap(geometry, {}), InputError);
}

}  // namespace
}  // namespace lockstep::memory::dram
