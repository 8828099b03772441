// SPDX-License-Identifier: Apache-2.0
// A program of the driver API on the machines themselves, emulated and in cycles: modules,
// launches, streams and events, and the forms for per-thread default streams.
#include <gmock/gmock.h>

#include <thread>

#include "tests/workloads/cuda_api/driver/driver_modes.h"

namespace lockstep::cuda::driver {

extern "C" {
Result cuEventDestroy_v2(Event*);
Result cuStreamSynchronize(Stream*);
Result cuStreamSynchronize_ptsz(Stream*);
Result cuStreamWaitEvent(Stream*, Event*, unsigned);
Result cuStreamGetId_ptsz(Stream*, unsigned long long*);
Result cuStreamGetId(Stream*, unsigned long long*);
Result cuLaunchKernel_ptsz(Kernel*, unsigned, unsigned, unsigned, unsigned, unsigned, unsigned,
                           unsigned, Stream*, void**, void**);
Result cuMemcpyHtoDAsync_v2(Pointer, const void*, std::size_t, Stream*);
Result cuMemcpyDtoHAsync_v2(void*, Pointer, std::size_t, Stream*);
Result cuMemcpyHtoD_v2_ptds(Pointer, const void*, std::size_t);
Result cuMemcpyDtoH_v2_ptds(void*, Pointer, std::size_t);
Result cuMemAllocHost_v2(void**, std::size_t);
Result cuMemFreeHost(void*);
Result cuDeviceGetCount(int*);
Result cuDeviceGet(Device*, int);
Result cuDeviceCanAccessPeer(int*, Device, Device);
Result cuCtxGetDevice(Device*);
Result cuCtxEnablePeerAccess(ContextHandle*, unsigned);
Result cuCtxDisablePeerAccess(ContextHandle*);
Result cuMemcpyPeer(Pointer, ContextHandle*, Pointer, ContextHandle*, std::size_t);
Result cuMemsetD32_v2(Pointer, unsigned, std::size_t);
}

namespace {

TEST_P(DriverModes, CopiesLaunchesAndEventsInStreams) {
    constexpr int kCount = 4096;
    constexpr std::size_t kBytes = kCount * sizeof(int);
    void* host = nullptr;
    ASSERT_EQ(cuMemAllocHost_v2(&host, kBytes), Result::kSuccess);
    int* const values = static_cast<int*>(host);
    for (int i = 0; i < kCount; ++i) values[i] = i;
    Pointer device = allocate(kBytes);
    Stream *const first = stream(), *const second = stream();
    Kernel* const add = function("add");
    int count = kCount, value = 7;
    void* parameters[] = {&device, &count, &value};
    EXPECT_EQ(cuMemcpyHtoDAsync_v2(device, host, kBytes, first), Result::kSuccess);
    EXPECT_EQ(cuEventRecord(begin, first), Result::kSuccess);
    EXPECT_EQ(cuLaunchKernel(add, 16, 1, 1, 256, 1, 1, 0, first, parameters, nullptr),
              Result::kSuccess);
    EXPECT_EQ(cuEventRecord(end, first), Result::kSuccess);
    EXPECT_EQ(cuStreamWaitEvent(second, end, 0), Result::kSuccess);
    EXPECT_EQ(cuLaunchKernel(add, 16, 1, 1, 256, 1, 1, 0, second, parameters, nullptr),
              Result::kSuccess);
    EXPECT_EQ(cuMemcpyDtoHAsync_v2(host, device, kBytes, second), Result::kSuccess);
    EXPECT_EQ(cuStreamSynchronize(second), Result::kSuccess);
    EXPECT_EQ(cuEventQuery(end), Result::kSuccess);
    for (int i = 0; i < kCount; ++i) ASSERT_EQ(values[i], i + 14);
    // A kernel of a few instructions: microseconds in cycles; in emulation at what it issues.
    const double milliseconds = elapsed();
    EXPECT_GT(milliseconds, GetParam() ? 0.001 : 0);
    EXPECT_LT(milliseconds, 0.05);
    EXPECT_EQ(cuMemFreeHost(host), Result::kSuccess);
    EXPECT_EQ(cuMemFree_v2(device), Result::kSuccess);
}

TEST_P(DriverModes, EventsTellALongKernelFromAShortOne) {
    Pointer x = allocate(128 * sizeof(float));
    double times[2];
    int rounds = 1'000;
    for (double& time : times) {
        void* parameters[] = {&x, &rounds};
        EXPECT_EQ(cuEventRecord(begin, nullptr), Result::kSuccess);
        EXPECT_EQ(
            cuLaunchKernel(function("chain"), 1, 1, 1, 128, 1, 1, 0, nullptr, parameters, nullptr),
            Result::kSuccess);
        EXPECT_EQ(cuEventRecord(end, nullptr), Result::kSuccess);
        time = elapsed();
        rounds *= 20;
    }
    EXPECT_GT(times[1], 5 * times[0]);
}

TEST_P(DriverModes, AFaultComesOutOfTheNextCallThatWaits) {
    Pointer nowhere = 64;
    int count = 32, value = 1;
    void* parameters[] = {&nowhere, &count, &value};
    EXPECT_EQ(cuLaunchKernel(function("add"), 1, 1, 1, 32, 1, 1, 0, nullptr, parameters, nullptr),
              Result::kSuccess);
    EXPECT_EQ(static_cast<int>(cuCtxSynchronize()), 700);
    EXPECT_EQ(static_cast<int>(cuStreamSynchronize(nullptr)), 700);
    cuda::Context::current().reset_device();
}

TEST_P(DriverModes, ThreadsHaveDefaultStreamsOfTheirOwn) {
    unsigned long long legacy = 0, own = 0, other = 0;
    EXPECT_EQ(cuStreamGetId(nullptr, &legacy), Result::kSuccess);
    EXPECT_EQ(cuStreamGetId_ptsz(nullptr, &own), Result::kSuccess);
    std::thread([&] {
        EXPECT_EQ(cuCtxSetCurrent(context), Result::kSuccess);
        EXPECT_EQ(cuStreamGetId_ptsz(nullptr, &other), Result::kSuccess);
    }).join();
    EXPECT_NE(legacy, own);
    EXPECT_NE(own, other);
    unsigned long long again = 0;
    EXPECT_EQ(cuStreamGetId(nullptr, &again), Result::kSuccess);
    EXPECT_EQ(again, legacy);
}

TEST_P(DriverModes, KernelsOfTwoThreadsDefaultStreamsRunBesideEachOther) {
    constexpr int kRounds = 40'000;
    Pointer x = allocate(2 * 128 * sizeof(float));
    float zeros[256] = {}, results[256];
    EXPECT_EQ(cuMemcpyHtoD_v2_ptds(x, zeros, sizeof zeros), Result::kSuccess);
    Kernel* const chain = function("chain");
    const auto launch = [&](Pointer at, auto launcher) {
        int rounds = kRounds;
        void* parameters[] = {&at, &rounds};
        EXPECT_EQ(launcher(chain, 1, 1, 1, 128, 1, 1, 0, nullptr, parameters, nullptr),
                  Result::kSuccess);
    };
    const auto second = [&](auto launcher) {
        std::thread([&] {
            EXPECT_EQ(cuCtxSetCurrent(context), Result::kSuccess);
            launch(x + 512, launcher);
        }).join();
    };
    // One after the other in the legacy stream, then each in its own.
    double times[2];
    for (const bool own : {false, true}) {
        const auto launcher = own ? cuLaunchKernel_ptsz : cuLaunchKernel;
        EXPECT_EQ(cuEventRecord(begin, nullptr), Result::kSuccess);
        launch(x, launcher);
        second(launcher);
        EXPECT_EQ(cuEventRecord(end, nullptr), Result::kSuccess);
        times[own] = elapsed();
    }
    const double most = GetParam() ? 0.7 : 10;  // emulation has no time
    EXPECT_LT(times[1], most * times[0]);
    EXPECT_EQ(cuStreamSynchronize_ptsz(nullptr), Result::kSuccess);
    EXPECT_EQ(cuMemcpyDtoH_v2_ptds(results, x, sizeof results), Result::kSuccess);
    for (int i = 1; i < 256; ++i) ASSERT_EQ(results[i], results[0]) << i;
    EXPECT_GT(results[0], 1);
}

class DriverDevices : public ::testing::TestWithParam<bool> {
  protected:
    DriverDevices() {
        Configuration configuration;
        const bool in_cycles = GetParam();
        configuration.make_device = [in_cycles] {
            return make_device_group(
                config::Machine::load("h200", {"sm.count=14", "system.devices=2"}), {}, in_cycles);
        };
        cuda::Context::current().configure(std::move(configuration));
        cuda::Context::bind_to_thread(false);
        EXPECT_EQ(cuInit(0), Result::kSuccess);
    }
    ~DriverDevices() override {
        cuda::Context::current().reset();
        forget_error();
    }
};

TEST_P(DriverDevices, AContextChoosesItsDevice) {
    int count = 0;
    EXPECT_EQ(cuDeviceGetCount(&count), Result::kSuccess);
    EXPECT_EQ(count, 2);
    Device device = -1;
    EXPECT_EQ(cuDeviceGet(&device, 1), Result::kSuccess);
    EXPECT_EQ(device, 1);
    EXPECT_EQ(cuDeviceGet(&device, 2), Result::kInvalidDevice);
    ContextHandle* contexts[2] = {};
    Module* modules[2] = {};
    Pointer memory[2] = {};
    const std::string path = source_path("tests/models/gpu/data/streams_sm_90.cubin");
    constexpr unsigned kCount = 1024;
    for (int d = 0; d < 2; ++d) {
        ASSERT_EQ(cuCtxCreate_v2(&contexts[d], 0, d), Result::kSuccess);
        EXPECT_EQ(cuCtxGetDevice(&device), Result::kSuccess);
        EXPECT_EQ(device, d);
        EXPECT_EQ(cuModuleLoad(&modules[d], path.c_str()), Result::kSuccess);
        EXPECT_EQ(cuMemAlloc_v2(&memory[d], kCount * 4), Result::kSuccess);
        EXPECT_EQ(cuMemsetD32_v2(memory[d], 100 + static_cast<unsigned>(d), kCount),
                  Result::kSuccess);
        EXPECT_EQ(cuCtxSynchronize(), Result::kSuccess);
    }
    std::vector<int> values(kCount);
    EXPECT_EQ(cuMemcpyPeer(memory[1], contexts[1], memory[0], contexts[0], kCount * 2),
              Result::kSuccess);
    EXPECT_EQ(cuMemcpyDtoH_v2(values.data(), memory[1], kCount * 4), Result::kSuccess);
    EXPECT_EQ(values.front(), 100);
    EXPECT_EQ(values.back(), 101);

    int can = 0;
    EXPECT_EQ(cuDeviceCanAccessPeer(&can, 0, 1), Result::kSuccess);
    EXPECT_EQ(can, 1);
    EXPECT_EQ(cuCtxSetCurrent(contexts[0]), Result::kSuccess);
    EXPECT_EQ(static_cast<int>(cuCtxDisablePeerAccess(contexts[1])), 705);
    EXPECT_EQ(cuCtxEnablePeerAccess(contexts[1], 0), Result::kSuccess);
    EXPECT_EQ(static_cast<int>(cuCtxEnablePeerAccess(contexts[1], 0)), 704);
    // The first device's kernel changes the second one's memory.
    Kernel* add = nullptr;
    EXPECT_EQ(cuModuleGetFunction(&add, modules[0], "add"), Result::kSuccess);
    int count_of_values = kCount, value = 7;
    void* parameters[] = {&memory[1], &count_of_values, &value};
    EXPECT_EQ(cuLaunchKernel(add, 4, 1, 1, 256, 1, 1, 0, nullptr, parameters, nullptr),
              Result::kSuccess);
    EXPECT_EQ(cuCtxSynchronize(), Result::kSuccess);
    EXPECT_EQ(cuMemcpyDtoH_v2(values.data(), memory[1], kCount * 4), Result::kSuccess);
    EXPECT_EQ(values.front(), 107);
    EXPECT_EQ(values.back(), 108);
    for (int d = 0; d < 2; ++d) {
        EXPECT_EQ(cuModuleUnload(modules[d]), Result::kSuccess);
        EXPECT_EQ(cuCtxDestroy_v2(contexts[d]), Result::kSuccess);
    }
}

INSTANTIATE_TEST_SUITE_P(Modes, DriverDevices, ::testing::Values(false, true), name_of_mode);
INSTANTIATE_TEST_SUITE_P(Modes, DriverModes, ::testing::Values(false, true), name_of_mode);

}  // namespace
}  // namespace lockstep::cuda::driver
