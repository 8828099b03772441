// SPDX-License-Identifier: Apache-2.0
// A context and the kernels of data/streams.cu on the machines themselves, emulated (parameter
// false) and in cycles (true).
#pragma once

#include "models/device_group.h"
#include "tests/workloads/cuda_api/driver/driver_test.h"

namespace lockstep::cuda::driver {

extern "C" {
Result cuEventCreate(Event**, unsigned);
Result cuEventRecord(Event*, Stream*);
Result cuEventSynchronize(Event*);
Result cuEventQuery(Event*);
Result cuEventElapsedTime(float*, Event*, Event*);
}

class DriverModes : public ::testing::TestWithParam<bool> {
  protected:
    DriverModes() {
        Configuration configuration;
        const bool in_cycles = GetParam();
        configuration.make_device = [in_cycles] {
            const auto machine = config::Machine::load("h200", {"sm.count=14"});
            return in_cycles ? make_simulator(machine, {}) : make_emulator(machine, {});
        };
        cuda::Context::current().configure(std::move(configuration));
        cuda::Context::bind_to_thread(false);
        EXPECT_EQ(cuInit(0), Result::kSuccess);
        EXPECT_EQ(cuCtxCreate_v2(&context, 0, 0), Result::kSuccess);
        const std::string path = source_path("tests/models/gpu/data/streams_sm_90.cubin");
        EXPECT_EQ(cuModuleLoad(&module, path.c_str()), Result::kSuccess);
        for (Event** const event : {&begin, &end})
            EXPECT_EQ(cuEventCreate(event, 0), Result::kSuccess);
    }
    ~DriverModes() override {
        // A fault is what all calls report from then on.
        EXPECT_EQ(cuModuleUnload(module) != Result::kSuccess, has_faulted);
        EXPECT_EQ(cuCtxDestroy_v2(context), Result::kSuccess);
        cuda::Context::current().reset();
        forget_error();
    }

    Kernel* function(const char* name) {
        Kernel* result = nullptr;
        EXPECT_EQ(cuModuleGetFunction(&result, module, name), Result::kSuccess);
        return result;
    }
    Pointer allocate(std::size_t bytes) {
        Pointer result = 0;
        EXPECT_EQ(cuMemAlloc_v2(&result, bytes), Result::kSuccess);
        return result;
    }
    Stream* stream() {
        Stream* result = nullptr;
        EXPECT_EQ(cuStreamCreate(&result, 1), Result::kSuccess);
        return result;
    }
    double elapsed() {
        float milliseconds = -1;
        EXPECT_EQ(cuEventSynchronize(end), Result::kSuccess);
        EXPECT_EQ(cuEventElapsedTime(&milliseconds, begin, end), Result::kSuccess);
        return milliseconds;
    }

    ContextHandle* context = nullptr;
    Module* module = nullptr;
    bool has_faulted = false;
    Event *begin = nullptr, *end = nullptr;
};

inline std::string name_of_mode(const testing::TestParamInfo<bool>& mode) {
    return mode.param ? "in_cycles" : "emulated";
}

}  // namespace lockstep::cuda::driver
