// SPDX-License-Identifier: Apache-2.0
// The errors calls return, the last error, and what a kernel's fault does to all later calls.
#include "tests/workloads/cuda_api/runtime/api.h"
#include "workloads/cuda_api/runtime/error_table.h"

namespace lockstep::cuda {
namespace {

using ErrorTest = RuntimeTest;

TEST_F(ErrorTest, TheLastErrorIsKeptUntilItIsTaken) {
    EXPECT_EQ(cudaGetLastError(), Error::kSuccess);
    EXPECT_EQ(cudaSetDevice(1), Error::kInvalidDevice);
    EXPECT_EQ(cudaSetDevice(0), Error::kSuccess);
    EXPECT_EQ(cudaPeekAtLastError(), Error::kInvalidDevice);
    EXPECT_EQ(cudaGetLastError(), Error::kInvalidDevice);
    EXPECT_EQ(cudaGetLastError(), Error::kSuccess);
}

TEST_F(ErrorTest, AFaultComesOutOfTheNextCallThatWaitsAndStays) {
    Kernel* const add = kernel();
    void* pointer = nullptr;
    int n = 0;
    void* arguments[] = {&pointer, &pointer, &pointer, &n};
    device->on_launch = [](const LaunchRequest&) {
        throw DeviceFault(sass::FaultKind::kMisalignedAddress, "a fault made by the test");
    };
    EXPECT_EQ(cudaLaunchKernel(add, {1, 1, 1}, {32, 1, 1}, arguments, 0, nullptr), Error::kSuccess);
    EXPECT_EQ(cudaGetLastError(), Error::kSuccess);
    EXPECT_TRUE(Context::current().has_unseen_fault());
    device->on_launch = nullptr;
    EXPECT_EQ(cudaLaunchKernel(add, {1, 1, 1}, {32, 1, 1}, arguments, 0, nullptr), Error::kSuccess);
    EXPECT_EQ(device->launches.size(), 1u);  // nothing runs after a fault
    EXPECT_EQ(cudaDeviceSynchronize(), Error::kMisalignedAddress);
    EXPECT_EQ(cudaMalloc(&pointer, 4), Error::kMisalignedAddress);
    EXPECT_EQ(cudaSetDevice(0), Error::kMisalignedAddress);
    EXPECT_TRUE(Context::current().has_unseen_fault());
    EXPECT_EQ(cudaGetLastError(), Error::kMisalignedAddress);
    EXPECT_EQ(cudaGetLastError(), Error::kMisalignedAddress);
    EXPECT_FALSE(Context::current().has_unseen_fault());
    EXPECT_EQ(cudaDeviceReset(), Error::kSuccess);
    EXPECT_EQ(cudaMalloc(&pointer, 4), Error::kSuccess);
    library = nullptr;  // unloaded with the device
}

TEST_F(ErrorTest, FaultsHaveTheCodesOfTheRealRuntime) {
    using sass::FaultKind;
    const std::pair<FaultKind, int> codes[] = {{FaultKind::kIllegalAddress, 700},
                                               {FaultKind::kMisalignedAddress, 716},
                                               {FaultKind::kInvalidAddressSpace, 717},
                                               {FaultKind::kInvalidPc, 718},
                                               {FaultKind::kIllegalInstruction, 715},
                                               {FaultKind::kAssert, 710},
                                               {FaultKind::kTrap, 719},
                                               {FaultKind::kInstructionLimit, 702}};
    Kernel* const add = kernel();
    void* pointer = nullptr;
    int n = 0;
    void* arguments[] = {&pointer, &pointer, &pointer, &n};
    for (const auto& [kind, code] : codes) {
        device->on_launch = [kind = kind](const LaunchRequest&) {
            throw DeviceFault(kind, "test");
        };
        cudaLaunchKernel(add, {1, 1, 1}, {32, 1, 1}, arguments, 0, nullptr);
        EXPECT_EQ(static_cast<int>(cudaDeviceSynchronize()), code);
        cudaDeviceReset();
    }
}

TEST_F(ErrorTest, NamesAndTexts) {
    EXPECT_STREQ(cudaGetErrorName(Error::kIllegalAddress), "cudaErrorIllegalAddress");
    EXPECT_STREQ(cudaGetErrorString(Error::kIllegalAddress),
                 "an illegal memory access was encountered");
    EXPECT_STREQ(cudaGetErrorString(Error::kSuccess), "no error");
    EXPECT_STREQ(cudaGetErrorName(static_cast<Error>(424242)), "unrecognized error code");
    EXPECT_STREQ(find_error(999)->name, "cudaErrorUnknown");
    EXPECT_EQ(find_error(10), nullptr);
}

}  // namespace
}  // namespace lockstep::cuda
