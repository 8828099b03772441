// SPDX-License-Identifier: Apache-2.0
// Initialisation, the stack of contexts of a thread, and what the runtime API does to it.
#include "tests/workloads/cuda_api/driver/driver_test.h"

namespace lockstep::cuda::driver {
namespace {

using ContextTest = DriverTest;

TEST_F(ContextTest, AThreadWithoutAContextCanOnlyAskAboutDevices) {
    EXPECT_EQ(cuInit(1), Result::kInvalidValue);
    ContextHandle* context = nullptr;
    EXPECT_EQ(cuCtxGetCurrent(&context), Result::kSuccess);
    EXPECT_EQ(context, nullptr);
    Pointer pointer = 0;
    EXPECT_EQ(cuMemAlloc_v2(&pointer, 16), Result::kInvalidContext);
    EXPECT_EQ(cuCtxSynchronize(), Result::kInvalidContext);
    char name[32];
    EXPECT_EQ(cuDeviceGetName(name, sizeof(name), 0), Result::kSuccess);
    EXPECT_STREQ(name, "NVIDIA H200");
    EXPECT_EQ(cuDeviceGetName(name, sizeof(name), 1), Result::kInvalidDevice);
    int value = 0;
    constexpr int kMajor = 75, kTensorMapAccess = 127;
    EXPECT_EQ(cuDeviceGetAttribute(&value, kMajor, 0), Result::kSuccess);
    EXPECT_EQ(value, 9);
    EXPECT_EQ(cuDeviceGetAttribute(&value, kTensorMapAccess, 0), Result::kSuccess);
    EXPECT_EQ(value, 1);
    EXPECT_EQ(cuDeviceGetAttribute(&value, 9999, 0), Result::kInvalidValue);
}

TEST_F(ContextTest, ParametersThatAskForNothingAreNone) {
    ContextHandle* made = nullptr;
    ContextParameters parameters{};
    EXPECT_EQ(cuCtxCreate_v4(&made, &parameters, 0, 0), Result::kSuccess);
    EXPECT_EQ(cuCtxDestroy_v2(made), Result::kSuccess);
    parameters.numExecAffinityParams = 1;
    EXPECT_EQ(cuCtxCreate_v4(&made, &parameters, 0, 0), Result::kNotSupported);
}

TEST_F(ContextTest, TheTopOfTheStackIsCurrent) {
    ContextHandle *primary = make_current(), *made = nullptr, *current = nullptr;
    EXPECT_EQ(cuCtxCreate_v2(&made, 0, 0), Result::kSuccess);
    cuCtxGetCurrent(&current);
    EXPECT_EQ(current, made);
    EXPECT_EQ(cuCtxPopCurrent_v2(&current), Result::kSuccess);
    EXPECT_EQ(current, made);
    cuCtxGetCurrent(&current);
    EXPECT_EQ(current, primary);
    EXPECT_EQ(cuCtxPushCurrent_v2(made), Result::kSuccess);
    EXPECT_EQ(cuCtxDestroy_v2(made), Result::kSuccess);
    cuCtxGetCurrent(&current);
    EXPECT_EQ(current, primary);
    EXPECT_EQ(cuCtxPushCurrent_v2(made), Result::kInvalidContext);
    EXPECT_EQ(cuCtxDestroy_v2(primary), Result::kInvalidContext);
    EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(0), Result::kSuccess);
    EXPECT_EQ(cuDevicePrimaryCtxRelease_v2(1), Result::kInvalidDevice);
}

TEST_F(ContextTest, ACallOfTheRuntimeMakesThePrimaryContextCurrent) {
    EXPECT_EQ(cudaFree(nullptr), Error::kSuccess);
    ContextHandle *current = nullptr, *primary = nullptr;
    cuCtxGetCurrent(&current);
    cuDevicePrimaryCtxRetain(&primary, 0);
    EXPECT_EQ(current, primary);
    EXPECT_EQ(cuCtxSetCurrent(nullptr), Result::kSuccess);
    cuCtxGetCurrent(&current);
    EXPECT_EQ(current, nullptr);
}

TEST_F(ContextTest, ACallOfTheDriverDoesNot) {
    make_current();
    Pointer pointer = 0;
    EXPECT_EQ(cuMemAlloc_v2(&pointer, 16), Result::kSuccess);
    EXPECT_EQ(cuMemFree_v2(pointer), Result::kSuccess);
    ContextHandle* current = nullptr;
    cuCtxPopCurrent_v2(&current);
    cuCtxGetCurrent(&current);
    EXPECT_EQ(current, nullptr);
}

TEST_F(ContextTest, ErrorsHaveTheDriversNames) {
    const char* text = nullptr;
    EXPECT_EQ(cuGetErrorName(Result::kInvalidContext, &text), Result::kSuccess);
    EXPECT_STREQ(text, "CUDA_ERROR_INVALID_CONTEXT");
    EXPECT_EQ(cuGetErrorString(Result::kNotFound, &text), Result::kSuccess);
    EXPECT_STREQ(text, "named symbol not found");
    EXPECT_EQ(cuGetErrorName(static_cast<Result>(123456), &text), Result::kInvalidValue);
    EXPECT_EQ(text, nullptr);
    EXPECT_EQ(result_of(Error::kInvalidConfiguration), Result::kInvalidValue);
    EXPECT_EQ(result_of(Error::kIllegalAddress), static_cast<Result>(700));
}

TEST_F(ContextTest, EveryExportTableIsRefusedAndNotTakenForSuccess) {
    EXPECT_FALSE(cuda::Context::current().has_unseen_fault());
    const void* table = &table;
    const Uuid id{};
    EXPECT_EQ(cuGetExportTable(&table, &id), Result::kNotFound);
    EXPECT_EQ(table, nullptr);
    EXPECT_TRUE(cuda::Context::current().has_unseen_fault());
}

}  // namespace
}  // namespace lockstep::cuda::driver
