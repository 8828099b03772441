// SPDX-License-Identifier: Apache-2.0
#include "models/memory/mapped_memory.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace lockstep::memory {
namespace {

using testing::HasSubstr;

constexpr std::uint64_t kPage = DeviceMemory::kPageBytes;

class MappedMemoryTest : public testing::Test {
  protected:
    static volatile int& word(std::uint64_t address) {
        return *reinterpret_cast<volatile int*>(address);
    }

    DeviceMemory addresses{16 * kPage};
    MappedMemory space{addresses};
};

TEST_F(MappedMemoryTest, RangesAreAlignedAndNobodyElses) {
    const std::uint64_t a = space.reserve(3 * kPage, 0), b = space.reserve(kPage, 64 * kPage);
    EXPECT_EQ(a % kPage, 0u);
    EXPECT_EQ(b % (64 * kPage), 0u);
    EXPECT_TRUE(b + kPage <= a || a + 3 * kPage <= b);
    const std::uint64_t c = addresses.allocate(kPage);
    EXPECT_TRUE(c + kPage <= a || a + 3 * kPage <= c);
    EXPECT_EQ(space.reserve(kPage / 2, 0), 0u);
    EXPECT_EQ(space.reserve(kPage, 3 * kPage), 0u);
    EXPECT_FALSE(space.unreserve(a, kPage));
    EXPECT_TRUE(space.unreserve(a, 3 * kPage));
    EXPECT_FALSE(space.unreserve(a, 3 * kPage));
    EXPECT_EQ(space.reserve(3 * kPage, 0), a);
}

TEST_F(MappedMemoryTest, MemoryCountsUntilNobodyHoldsOrMapsIt) {
    const std::uint64_t all = addresses.free_bytes();
    const std::uint64_t memory = space.create(4 * kPage);
    EXPECT_EQ(addresses.free_bytes(), all - 4 * kPage);
    EXPECT_EQ(space.create(13 * kPage), 0u);
    EXPECT_EQ(space.create(kPage + 1), 0u);
    const std::uint64_t range = space.reserve(4 * kPage, 0);
    ASSERT_TRUE(space.map(range, 4 * kPage, memory));
    EXPECT_TRUE(space.hold(memory));
    EXPECT_TRUE(space.release(memory));
    EXPECT_TRUE(space.release(memory));
    EXPECT_FALSE(space.release(memory));
    EXPECT_EQ(addresses.free_bytes(), all - 4 * kPage);
    EXPECT_FALSE(space.unreserve(range, 4 * kPage));
    EXPECT_TRUE(space.unmap(range, 4 * kPage));
    EXPECT_EQ(addresses.free_bytes(), all);
    EXPECT_TRUE(space.unreserve(range, 4 * kPage));
}

TEST_F(MappedMemoryTest, OneMemoryAtTwoAddresses) {
    const std::uint64_t memory = space.create(kPage), range = space.reserve(2 * kPage, 0);
    ASSERT_TRUE(space.map(range, kPage, memory));
    ASSERT_TRUE(space.map(range + kPage, kPage, memory));
    ASSERT_TRUE(space.set_access(range, 2 * kPage, Access::kReadWrite));
    EXPECT_EQ(word(range + kPage), 0);
    word(range + 8) = 5;
    EXPECT_EQ(word(range + kPage + 8), 5);
    ASSERT_TRUE(space.unmap(range, kPage));
    ASSERT_TRUE(space.map(range, kPage, memory));
    EXPECT_EQ(word(range + 8), 5);
}

TEST_F(MappedMemoryTest, OnlyWhatMayBeAccessedIsAnAllocation) {
    const std::uint64_t range = space.reserve(4 * kPage, 0);
    const std::uint64_t memory[] = {space.create(kPage), space.create(kPage), space.create(kPage)};
    for (std::uint64_t i = 0; i < 3; ++i) {
        ASSERT_TRUE(space.map(range + i * kPage, kPage, memory[i]));
        EXPECT_EQ(addresses.allocation(range + i * kPage).bytes, 0u);
    }
    EXPECT_FALSE(space.set_access(range, 4 * kPage, Access::kReadWrite));
    EXPECT_FALSE(space.set_access(range, kPage / 2, Access::kReadWrite));
    ASSERT_TRUE(space.set_access(range, 2 * kPage, Access::kReadWrite));
    EXPECT_EQ(addresses.allocation(range + kPage).begin, range);
    EXPECT_EQ(addresses.allocation(range + kPage).bytes, 2 * kPage);
    ASSERT_TRUE(space.set_access(range + 2 * kPage, kPage, Access::kRead));
    EXPECT_EQ(addresses.allocation(range).bytes, 2 * kPage);
    EXPECT_FALSE(addresses.find(range + 2 * kPage).writable);
    ASSERT_TRUE(space.set_access(range + kPage, kPage, Access::kNone));
    EXPECT_EQ(addresses.allocation(range).bytes, kPage);
    EXPECT_EQ(space.at(range + kPage).access, Access::kNone);
    EXPECT_THAT(addresses.describe(range + kPage + 3), HasSubstr("reserved"));
    ASSERT_TRUE(space.unmap(range, 3 * kPage));
    EXPECT_EQ(addresses.allocation(range).bytes, 0u);
    EXPECT_EQ(space.at(range).memory, 0u);
}

TEST_F(MappedMemoryTest, MapsOnlyIntoWhatIsReservedAndFree) {
    const std::uint64_t range = space.reserve(2 * kPage, 0), memory = space.create(2 * kPage);
    EXPECT_FALSE(space.map(range - kPage, kPage, memory));
    EXPECT_FALSE(space.map(range + kPage, 2 * kPage, memory));
    EXPECT_FALSE(space.map(range, 2 * kPage, memory + 1));
    EXPECT_TRUE(space.map(range, 2 * kPage, memory));
    EXPECT_FALSE(space.map(range + kPage, kPage, memory));
    EXPECT_FALSE(space.unmap(range, kPage));
    EXPECT_FALSE(space.unmap(range + kPage, kPage));
    space.clear();
    EXPECT_EQ(addresses.free_bytes(), addresses.total_bytes());
}

}  // namespace
}  // namespace lockstep::memory
