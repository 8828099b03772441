// SPDX-License-Identifier: Apache-2.0
// A warp whose stores go through a buffer computes what one does that stores to memory, and memory
// does not change before the buffer is committed.
#include "isa/sass/store_buffer.h"

#include <gtest/gtest.h>

#include "tests/isa/sass/semantics/memory/random_access.h"

namespace lockstep::sass {
namespace {

void expect_same_registers(MemoryWarp& a, MemoryWarp& b) {
    for (unsigned r = 0; r < 64; ++r)
        for (unsigned l = 0; l < kWarpSize; ++l)
            ASSERT_EQ(a[r].lane[l], b[r].lane[l]) << "R" << r << " lane " << l;
    for (unsigned p = 0; p < kPredicateSink; ++p)
        ASSERT_EQ(a.warp.predicate[p], b.warp.predicate[p]);
}

TEST(StoreBuffer, RandomLoadsAndStoresAreThoseOfMemory) {
    unsigned faults = 0;
    for (std::uint64_t seed = 0; seed < 60; ++seed) {
        RandomAccess random(seed);
        MemoryWarp direct, buffered;
        auto& direct_second = RandomAccess::add_second(direct);
        auto& buffered_second = RandomAccess::add_second(buffered);
        StoreBuffer stores;
        buffered.cta.stores = &stores;
        std::vector<std::uint8_t> first = buffered.global, second = buffered_second;
        for (unsigned i = 0; i < 100; ++i) {
            const Step step = random.load_or_store();
            const StepResult want = execute_step(direct, step);
            const StepResult got = execute_step(buffered, step);
            ASSERT_EQ(got.faulted, want.faulted);
            ASSERT_EQ(got.fault.what, want.fault.what);
            ASSERT_EQ(got.fault.lane, want.fault.lane);
            faults += want.faulted;
            ASSERT_NO_FATAL_FAILURE(expect_same_registers(buffered, direct));
            ASSERT_EQ(buffered.shared, direct.shared);
            ASSERT_EQ(buffered.warp.access.lanes, direct.warp.access.lanes);
            ASSERT_EQ(buffered.warp.access.space, direct.warp.access.space);
            ASSERT_EQ(buffered.global, first);
            ASSERT_EQ(buffered_second, second);
            if (random.pick(10) != 0) continue;
            stores.commit(buffered.memory);
            ASSERT_TRUE(stores.empty());
            ASSERT_EQ(buffered.global, direct.global);
            ASSERT_EQ(buffered_second, direct_second);
            first = buffered.global;
            second = buffered_second;
        }
    }
    EXPECT_GT(faults, 10u);
}

TEST(StoreBuffer, ManyLinesAndWindows) {
    FakeMemory memory;
    constexpr std::size_t kBytes = 1 << 20;
    std::vector<std::uint8_t>& bytes = memory.add(0x10000, kBytes);
    std::vector<std::uint8_t> want = bytes;
    StoreBuffer stores;
    std::mt19937_64 random(1);
    for (unsigned window = 0; window < 20; ++window) {
        for (unsigned i = 0; i < 2000; ++i) {
            const std::size_t count = 1 + random() % 300, at = random() % (kBytes - count);
            for (std::size_t b = 0; b < count; ++b)
                want[at + b] = static_cast<std::uint8_t>(random());
            stores.write(0x10000 + at, reinterpret_cast<const std::byte*>(want.data() + at), count);
            EXPECT_TRUE(stores.may_hold(0x10000 + at + count - 1, 1));
        }
        std::vector<std::uint8_t> seen = bytes;
        stores.overlay(0x10000, reinterpret_cast<std::byte*>(seen.data()), kBytes);
        ASSERT_EQ(seen, want);
        stores.commit(memory);
        ASSERT_EQ(bytes, want);
        EXPECT_FALSE(stores.may_hold(0x10000, kBytes));
    }
}

TEST(StoreBuffer, TellsLinesApart) {
    StoreBuffer stores;
    const std::byte value{7};
    std::uint64_t address[kWarpSize];
    for (unsigned l = 0; l < kWarpSize; ++l) address[l] = 0x1000 + 4 * l;
    EXPECT_FALSE(stores.may_hold(0x1000, 4));
    EXPECT_FALSE(stores.may_hold(address, kAllLanes));
    stores.write(0x107f, &value, 1);
    EXPECT_TRUE(stores.may_hold(0x1000, 4));
    EXPECT_TRUE(stores.may_hold(address, 2));
    EXPECT_FALSE(stores.may_hold(0x1080, 4));
    EXPECT_FALSE(stores.may_hold(0xf00, 0x100));
    EXPECT_TRUE(stores.may_hold(0xf00, 0x101));
    address[31] = 0x1fff;
    EXPECT_FALSE(stores.may_hold(address, 1u << 31));
    EXPECT_TRUE(stores.may_hold(address, 3u << 30));
}

TEST(ByteMask, CoversWhatItSays) {
    for (unsigned offset = 0; offset < kLineBytes; ++offset)
        for (unsigned bytes = 1; offset + bytes <= kLineBytes; ++bytes) {
            const ByteMask mask = ByteMask::of(offset, bytes);
            for (unsigned b = 0; b < kLineBytes; ++b)
                ASSERT_EQ(mask.half[b / 64] >> (b % 64) & 1, b >= offset && b < offset + bytes);
        }
}

}  // namespace
}  // namespace lockstep::sass
