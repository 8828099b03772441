// SPDX-License-Identifier: Apache-2.0
#include "models/memory/global_memory.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <cstring>
#include <random>
#include <vector>

namespace lockstep::memory {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kGiB = 1ull << 30;

char* at(std::uint64_t address) {
    return reinterpret_cast<char*>(address);
}

TEST(DeviceMemory, AllocationsAreAlignedZeroedAndApart) {
    DeviceMemory memory(kGiB);
    const std::uint64_t a = memory.allocate(4000);
    const std::uint64_t b = memory.allocate(1);
    EXPECT_EQ(a % DeviceMemory::kAlignment, 0u);
    EXPECT_EQ(b % DeviceMemory::kAlignment, 0u);
    EXPECT_GE(b, a + 4000 + DeviceMemory::kRedZone);
    for (int i = 0; i < 4000; ++i) EXPECT_EQ(at(a)[i], 0);
}

TEST(DeviceMemory, AddressesRepeat) {
    std::vector<std::uint64_t> first, second;
    for (auto* addresses : {&first, &second}) {
        DeviceMemory memory(kGiB);
        for (const int bytes : {100, 1 << 20, 3, 70000})
            addresses->push_back(memory.allocate(bytes));
        memory.free((*addresses)[1]);
        addresses->push_back(memory.allocate(12345));
    }
    EXPECT_EQ(first, second);
}

TEST(DeviceMemory, FreedMemoryIsReusedAndReadsZero) {
    DeviceMemory memory(kGiB);
    for (const std::uint64_t bytes : {10ull, 4096ull, 100'000ull}) {
        const std::uint64_t a = memory.allocate(bytes);
        std::memset(at(a), 0x5a, bytes);
        EXPECT_TRUE(memory.free(a));
        EXPECT_FALSE(memory.free(a));
        const std::uint64_t b = memory.allocate(bytes);
        EXPECT_EQ(a, b);
        for (std::uint64_t i = 0; i < bytes; ++i) ASSERT_EQ(at(b)[i], 0) << i;
        EXPECT_TRUE(memory.free(b));
    }
}

TEST(DeviceMemory, PagesAreFoundWhole) {
    constexpr std::uint64_t kPage = DeviceMemory::kPageBytes;
    DeviceMemory memory(kGiB);
    const std::uint64_t early = memory.allocate(100);
    memory.find_by_page();
    const std::uint64_t a = memory.allocate(10), b = memory.allocate(kPage + 1);
    const std::uint64_t above = memory.allocate_above(100);
    EXPECT_FALSE(memory.find(early).contains(early, 101)) << "what was there has exact bounds";
    EXPECT_EQ(a % kPage, 0u);
    const std::uint64_t end = (b + kPage) / kPage * kPage + kPage;
    for (const std::uint64_t address : {a, a + 10, b - 1, b, b + kPage, end - 16}) {
        EXPECT_TRUE(memory.find(address).contains(address, 16)) << address - a;
        *at(memory.find(address).begin) = 1;
        EXPECT_EQ(memory.find(address).host,
                  reinterpret_cast<std::byte*>(memory.find(address).begin));
    }
    EXPECT_FALSE(memory.find(a - 1).contains(a - 1, 1));
    EXPECT_FALSE(memory.find(end).contains(end, 1));
    EXPECT_TRUE(memory.find(above - 1).contains(above - 1, 16));
    *at(memory.find(above).end - 1) = 1;
    EXPECT_FALSE(memory.find(8).contains(8, 1));
    memory.free(a);
    EXPECT_TRUE(memory.find(a).contains(a, 1)) << "the page still holds some of b";
    memory.free(b);
    EXPECT_FALSE(memory.find(a).contains(a, 1));
}

TEST(DeviceMemory, CapacityIsTheMachines) {
    DeviceMemory memory(1000);
    EXPECT_EQ(memory.allocate(1001), 0u);
    const std::uint64_t a = memory.allocate(600);
    EXPECT_NE(a, 0u);
    EXPECT_EQ(memory.free_bytes(), 400u);
    EXPECT_EQ(memory.allocate(401), 0u);
    EXPECT_NE(memory.allocate(5000, Kind::kManaged), 0u);
    EXPECT_TRUE(memory.free(a));
    EXPECT_EQ(memory.free_bytes(), 1000u);
}

TEST(DeviceMemory, LargeAllocationCostsNothingUntilTouched) {
    DeviceMemory memory(141 * kGiB);
    const std::uint64_t a = memory.allocate(100 * kGiB);
    ASSERT_NE(a, 0u);
    at(a)[99 * kGiB] = 7;
    EXPECT_EQ(at(a)[99 * kGiB], 7);
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    EXPECT_LT(usage.ru_maxrss, 1024 * 1024) << "KiB resident";
}

TEST(DeviceMemory, ClearingMuchCostsNothing) {
    DeviceMemory memory(141 * kGiB);
    const std::uint64_t a = memory.allocate(100 * kGiB);
    ASSERT_NE(a, 0u);
    at(a)[0] = at(a)[1] = at(a)[5000] = at(a)[50 * kGiB] = at(a)[60 * kGiB + 1] = 7;
    EXPECT_TRUE(memory.clear(a + 1, 60 * kGiB));
    EXPECT_EQ(at(a)[0], 7);
    EXPECT_EQ(at(a)[1], 0);
    EXPECT_EQ(at(a)[5000], 0);
    EXPECT_EQ(at(a)[50 * kGiB], 0);
    EXPECT_EQ(at(a)[60 * kGiB + 1], 7);
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    EXPECT_LT(usage.ru_maxrss, 1024 * 1024) << "KiB resident";
    EXPECT_FALSE(memory.clear(a, 4096)) << "is written faster";
    EXPECT_EQ(at(a)[0], 7);
}

TEST(DeviceMemory, ClearsNothingThatOthersShow) {
    DeviceMemory memory(141 * kGiB);
    const std::uint64_t range = memory.reserve(kGiB, DeviceMemory::kPageBytes);
    ASSERT_NE(range, 0u);
    EXPECT_FALSE(memory.clear(range, kGiB));
    std::byte own[16];
    EXPECT_FALSE(memory.clear(reinterpret_cast<std::uint64_t>(own), kGiB)) << "is the host's";
    memory.unreserve(range, kGiB);
}

TEST(DeviceMemory, FindKnowsExactExtents) {
    DeviceMemory memory(kGiB);
    const std::uint64_t a = memory.allocate(4000);
    EXPECT_EQ(memory.find(a + 3999).begin, a);
    EXPECT_EQ(memory.find(a + 3999).end, a + 4000);
    const sass::Extent none = memory.find(a + 4000);
    EXPECT_EQ(none.begin, none.end);
    EXPECT_TRUE(memory.find(a).contains(a + 3996, 4));
    EXPECT_FALSE(memory.find(a).contains(a + 3997, 4));
    memory.set_writable(a, false);
    EXPECT_FALSE(memory.find(a).writable);
    EXPECT_EQ(memory.find(a - 1).end, 0u);
}

TEST(DeviceMemory, ZeroByteAllocationHasAnAddressOfItsOwn) {
    DeviceMemory memory(kGiB);
    const std::uint64_t a = memory.allocate(0);
    const std::uint64_t b = memory.allocate(0);
    EXPECT_NE(a, 0u);
    EXPECT_NE(a, b);
    EXPECT_EQ(memory.find(a).end, 0u);
    EXPECT_TRUE(memory.free(a));
}

TEST(DeviceMemory, AllocatesAboveTheRest) {
    DeviceMemory memory(kGiB);
    const std::uint64_t top = memory.allocate_above(1000);
    const std::uint64_t below = memory.allocate_above(1000);
    const std::uint64_t first = memory.allocate(1000);
    EXPECT_LT(first, below);
    EXPECT_LT(below, top);
    EXPECT_TRUE(memory.find(top).contains(top, 1000));
    *reinterpret_cast<char*>(top + 999) = 1;
    EXPECT_TRUE(memory.free(top));
    EXPECT_EQ(memory.allocate_above(1000), top);
    EXPECT_EQ(*reinterpret_cast<char*>(top + 999), 0);
    EXPECT_EQ(memory.allocate_above(2 * kGiB), 0u);
}

TEST(DeviceMemory, DescribesTheNearestAllocation) {
    DeviceMemory memory(kGiB);
    EXPECT_THAT(memory.describe(0x10), HasSubstr("null pointer"));
    EXPECT_THAT(memory.describe(0x20000), HasSubstr("nothing is allocated"));
    const std::uint64_t a = memory.allocate(4000);
    const std::uint64_t b = memory.allocate(100);
    EXPECT_THAT(
        memory.describe(a + 4016),
        HasSubstr(fmt::format("is 16 bytes past the end of a 4,000-byte allocation at {:#x}", a)));
    EXPECT_THAT(memory.describe(0x7ffc'1234'5678), HasSubstr("a pointer of the host's"));
    EXPECT_THAT(memory.describe(b - 8), HasSubstr("is 8 bytes before a 100-byte allocation"));
    EXPECT_THAT(memory.describe(a - 8), HasSubstr("is 8 bytes before a 4,000-byte allocation"));
    EXPECT_THAT(memory.describe(a + 4000), HasSubstr("is the end of a 4,000-byte allocation"));
}

TEST(DeviceMemory, KnowsWhichPagesAGpuMaps) {
    DeviceMemory memory(kGiB);
    const std::uint64_t a = memory.allocate(4000), page = a & ~(DeviceMemory::kPageBytes - 1);
    EXPECT_TRUE(memory.is_on_mapped_page(a + 4000));
    EXPECT_TRUE(memory.is_on_mapped_page(page + DeviceMemory::kPageBytes - 1));
    EXPECT_FALSE(memory.is_on_mapped_page(page + 4 * DeviceMemory::kPageBytes));
    EXPECT_FALSE(memory.is_on_mapped_page(0x10));
}

TEST(DeviceMemory, RegisteredHostMemory) {
    DeviceMemory memory(kGiB);
    std::vector<char> host(1000);
    ASSERT_TRUE(memory.register_host(host.data(), host.size()));
    EXPECT_FALSE(memory.register_host(host.data() + 500, 10));
    EXPECT_FALSE(memory.register_host(host.data() - 1, 2));
    const auto begin = reinterpret_cast<std::uint64_t>(host.data());
    EXPECT_EQ(memory.find(begin + 10).at(begin + 10), reinterpret_cast<std::byte*>(&host[10]));
    EXPECT_EQ(memory.allocation(begin).kind, Kind::kRegisteredHost);
    EXPECT_TRUE(memory.free(begin));
    EXPECT_EQ(memory.find(begin).end, 0u);
    EXPECT_FALSE(memory.register_host(nullptr, 10));
    EXPECT_FALSE(memory.register_host(at(memory.allocate(10)), 10));
}

TEST(DeviceMemory, RandomAllocationsNeverOverlapAndCoalesce) {
    DeviceMemory memory(kGiB);
    std::mt19937 random(1);
    std::map<std::uint64_t, std::uint64_t> live;
    const std::uint64_t first = memory.allocate(1);
    memory.free(first);
    for (int i = 0; i < 5000; ++i) {
        if (live.empty() || random() % 5 < 3) {
            const std::uint64_t bytes = random() % 20000;
            const std::uint64_t a = memory.allocate(bytes);
            const auto next = live.lower_bound(a);
            if (next != live.end()) {
                ASSERT_LE(a + bytes + DeviceMemory::kRedZone, next->first);
            }
            if (next != live.begin()) {
                ASSERT_LE(std::prev(next)->first + std::prev(next)->second, a);
            }
            live[a] = bytes;
        } else {
            auto it = live.begin();
            std::advance(it, random() % live.size());
            ASSERT_TRUE(memory.free(it->first));
            live.erase(it);
        }
    }
    for (const auto& [a, bytes] : live) memory.free(a);
    // All of it is one block again.
    EXPECT_EQ(memory.allocate(500'000'000), first);
}

}  // namespace
}  // namespace lockstep::memory
