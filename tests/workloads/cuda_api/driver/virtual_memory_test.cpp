// SPDX-License-Identifier: Apache-2.0
// Memory that a program maps itself, and kernels that work there.
#include <gmock/gmock.h>

#include <vector>

#include "tests/workloads/cuda_api/driver/driver_modes.h"

namespace lockstep::cuda::driver {

extern "C" {
Result cuMemGetAllocationGranularity(std::size_t*, const abi::MemAllocationProp*, int);
Result cuMemAddressReserve(Pointer*, std::size_t, std::size_t, Pointer, unsigned long long);
Result cuMemAddressFree(Pointer, std::size_t);
Result cuMemCreate(std::uint64_t*, std::size_t, const abi::MemAllocationProp*, unsigned long long);
Result cuMemRelease(std::uint64_t);
Result cuMemMap(Pointer, std::size_t, std::size_t, std::uint64_t, unsigned long long);
Result cuMemUnmap(Pointer, std::size_t);
Result cuMemSetAccess(Pointer, std::size_t, const abi::MemAccessDesc*, std::size_t);
Result cuMemGetAccess(unsigned long long*, const abi::MemLocation*, Pointer);
Result cuMemGetAllocationPropertiesFromHandle(abi::MemAllocationProp*, std::uint64_t);
Result cuMemRetainAllocationHandle(std::uint64_t*, void*);
Result cuMemsetD32_v2(Pointer, unsigned, std::size_t);
}

namespace {

constexpr int kOnDevice = 1, kRead = 1, kReadWrite = 3;

class VirtualMemory : public DriverModes {
  protected:
    VirtualMemory() {
        EXPECT_EQ(cuMemGetAllocationGranularity(&page, &properties, 0), Result::kSuccess);
    }

    Pointer reserve(std::size_t pages) {
        Pointer range = 0;
        EXPECT_EQ(cuMemAddressReserve(&range, pages * page, 0, 0, 0), Result::kSuccess);
        return range;
    }
    std::uint64_t create(std::size_t pages) {
        std::uint64_t handle = 0;
        EXPECT_EQ(cuMemCreate(&handle, pages * page, &properties, 0), Result::kSuccess);
        return handle;
    }
    Result set_access(Pointer range, std::size_t pages, int flags) {
        const abi::MemAccessDesc access{{kOnDevice, 0}, flags};
        return cuMemSetAccess(range, pages * page, &access, 1);
    }
    /// Adds 7 to `count` ints; the result of the launch and of waiting for it.
    Result add(Pointer at, int count) {
        int value = 7;
        void* parameters[] = {&at, &count, &value};
        const auto blocks = static_cast<unsigned>(count + 255) / 256;
        EXPECT_EQ(cuLaunchKernel(function("add"), blocks, 1, 1, 256, 1, 1, 0, nullptr, parameters,
                                 nullptr),
                  Result::kSuccess);
        return cuCtxSynchronize();
    }

    abi::MemAllocationProp properties{.type = 1, .location = {kOnDevice, 0}};
    std::size_t page = 0;
};

TEST_P(VirtualMemory, ARangeGrowsInPlace) {
    ASSERT_EQ(page, 2u << 20);
    const Pointer range = reserve(4);
    std::uint64_t handles[2];
    for (std::size_t i = 0; i < 2; ++i) {
        handles[i] = create(1);
        ASSERT_EQ(cuMemMap(range + i * page, page, 0, handles[i], 0), Result::kSuccess);
        ASSERT_EQ(cuMemRelease(handles[i]), Result::kSuccess);
        ASSERT_EQ(set_access(range + i * page, 1, kReadWrite), Result::kSuccess);
    }
    // Across the end of the first page.
    constexpr std::size_t kCount = 2048;
    const Pointer middle = range + page - kCount / 2 * sizeof(int);
    EXPECT_EQ(cuMemsetD32_v2(middle, 5, kCount), Result::kSuccess);
    EXPECT_EQ(add(middle, kCount), Result::kSuccess);
    std::vector<int> values(kCount);
    EXPECT_EQ(cuMemcpyDtoH_v2(values.data(), middle, kCount * sizeof(int)), Result::kSuccess);
    EXPECT_THAT(values, testing::Each(12));
    EXPECT_EQ(cuMemcpyDtoH_v2(values.data(), range + 2 * page - 4, 8), Result::kInvalidValue);
    EXPECT_EQ(cuMemAddressFree(range, 4 * page), Result::kInvalidValue);
    EXPECT_EQ(cuMemUnmap(range, 2 * page), Result::kSuccess);
    EXPECT_EQ(cuMemAddressFree(range, 4 * page), Result::kSuccess);
}

TEST_P(VirtualMemory, OneMemoryAtTwoAddresses) {
    const Pointer range = reserve(2);
    const std::uint64_t handle = create(1);
    for (std::size_t i = 0; i < 2; ++i)
        ASSERT_EQ(cuMemMap(range + i * page, page, 0, handle, 0), Result::kSuccess);
    ASSERT_EQ(set_access(range, 2, kReadWrite), Result::kSuccess);
    EXPECT_EQ(add(range, 64), Result::kSuccess);
    EXPECT_EQ(add(range + page, 64), Result::kSuccess);
    std::vector<int> values(64);
    EXPECT_EQ(cuMemcpyDtoH_v2(values.data(), range, 256), Result::kSuccess);
    EXPECT_THAT(values, testing::Each(14));
    std::uint64_t again = 0;
    EXPECT_EQ(cuMemRetainAllocationHandle(&again, host_pointer(range + page + 100)),
              Result::kSuccess);
    EXPECT_EQ(again, handle);
}

TEST_P(VirtualMemory, AKernelMayNotWriteWhatItMayOnlyRead) {
    const Pointer range = reserve(1);
    ASSERT_EQ(cuMemMap(range, page, 0, create(1), 0), Result::kSuccess);
    ASSERT_EQ(set_access(range, 1, kRead), Result::kSuccess);
    const abi::MemLocation here{kOnDevice, 0};
    unsigned long long flags = 0;
    EXPECT_EQ(cuMemGetAccess(&flags, &here, range), Result::kSuccess);
    EXPECT_EQ(flags, 1u);
    testing::internal::CaptureStderr();
    EXPECT_EQ(add(range, 32), Result::kIllegalAddress);
    has_faulted = true;
    EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("read-only"));
}

TEST_P(VirtualMemory, AKernelMayNotTouchWhatIsOnlyMapped) {
    const Pointer range = reserve(1);
    ASSERT_EQ(cuMemMap(range, page, 0, create(1), 0), Result::kSuccess);
    testing::internal::CaptureStderr();
    EXPECT_EQ(add(range, 32), Result::kIllegalAddress);
    has_faulted = true;
    EXPECT_THAT(testing::internal::GetCapturedStderr(), testing::HasSubstr("reserved"));
}

TEST_P(VirtualMemory, ErrorsAreThoseOfTheDriver) {
    std::size_t free = 0, total = 0;
    EXPECT_EQ(cudaMemGetInfo(&free, &total), Error::kSuccess);
    Pointer range = 0;
    EXPECT_EQ(cuMemAddressReserve(&range, page + 1, 0, 0, 0), Result::kInvalidValue);
    EXPECT_EQ(cuMemAddressReserve(&range, page, 3, 0, 0), Result::kInvalidValue);
    EXPECT_EQ(cuMemAddressReserve(&range, std::size_t{1} << 50, 0, 0, 0), Result::kOutOfMemory);
    std::uint64_t handle = 0;
    EXPECT_EQ(cuMemCreate(&handle, 100, &properties, 0), Result::kInvalidValue);
    EXPECT_EQ(cuMemCreate(&handle, total / page * page + page, &properties, 0),
              Result::kOutOfMemory);
    abi::MemAllocationProp other = properties;
    other.type = 0;
    EXPECT_EQ(cuMemCreate(&handle, page, &other, 0), Result::kInvalidValue);
    other = properties;
    other.location.id = 1;
    EXPECT_EQ(cuMemCreate(&handle, page, &other, 0), Result::kInvalidDevice);
    range = reserve(2);
    handle = create(1);
    EXPECT_EQ(cuMemMap(range, 2 * page, 0, handle, 0), Result::kInvalidValue);
    EXPECT_EQ(cuMemMap(range, page, page, handle, 0), Result::kInvalidValue);
    EXPECT_EQ(cuMemMap(range, page, 0, handle + 1, 0), Result::kInvalidValue);
    EXPECT_EQ(set_access(range, 1, kReadWrite), Result::kInvalidValue);
    EXPECT_EQ(cuMemUnmap(range, page), Result::kInvalidValue);
    EXPECT_EQ(cuMemGetAllocationPropertiesFromHandle(&other, handle), Result::kSuccess);
    EXPECT_EQ(other.location.type, kOnDevice);
    EXPECT_EQ(cuMemRelease(handle), Result::kSuccess);
    EXPECT_EQ(cuMemRelease(handle), Result::kInvalidValue);
    EXPECT_EQ(cuMemFree_v2(range), Result::kInvalidValue);
}

INSTANTIATE_TEST_SUITE_P(Modes, VirtualMemory, ::testing::Values(false, true), name_of_mode);

}  // namespace
}  // namespace lockstep::cuda::driver
