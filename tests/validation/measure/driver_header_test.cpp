// SPDX-License-Identifier: Apache-2.0
// Compiled where a CUDA toolkit is installed: our declarations of the driver's functions against
// NVIDIA's own, in their number and size of parameters, and our numbers against its enumerators.
#include <cuda.h>
#include <cudaProfiler.h>
#include <gtest/gtest.h>

#include "validation/measure/driver.h"

// cuda.h gives the plain name to the second version, whose parameters are the same.
#undef cuEventElapsedTime
extern "C" CUresult cuEventElapsedTime(float*, CUevent, CUevent);

namespace lockstep::validation {
namespace {

/// Pointers to opaque types are alike, and so are an enumeration and an int.
template <class A, class B>
constexpr bool is_alike =
    sizeof(A) == sizeof(B) && std::is_pointer_v<A> ==
                                  std::is_pointer_v<B>&& std::is_floating_point_v<A> ==
                                  std::is_floating_point_v<B>;

template <class Ours, class Theirs>
struct Alike : std::false_type {};
template <class R, class... A, class S, class... B>
requires(sizeof...(A) == sizeof...(B)) struct Alike<R (*)(A...), S (*)(B...)>
    : std::bool_constant<is_alike<R, S> && (is_alike<A, B> && ...)> {
};

#define LOCKSTEP_CHECK_FUNCTION(member, symbol, parameters) \
    static_assert(Alike<decltype(Driver::member), decltype(&::symbol)>::value, #symbol);
LOCKSTEP_CUDA_DRIVER(LOCKSTEP_CHECK_FUNCTION)

TEST(DriverHeader, HasOurNumbers) {
    EXPECT_EQ(kCuMultiprocessors, CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT);
    EXPECT_EQ(kCuClockRate, CU_DEVICE_ATTRIBUTE_CLOCK_RATE);
    EXPECT_EQ(kCuComputeMode, CU_DEVICE_ATTRIBUTE_COMPUTE_MODE);
    EXPECT_EQ(kCuExclusiveProcess, CU_COMPUTEMODE_EXCLUSIVE_PROCESS);
    EXPECT_EQ(kCuMemoryClockRate, CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE);
    EXPECT_EQ(kCuL2Bytes, CU_DEVICE_ATTRIBUTE_L2_CACHE_SIZE);
    EXPECT_EQ(kCuMajor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR);
    EXPECT_EQ(kCuMinor, CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR);
    EXPECT_EQ(kCuMaxDynamicSharedBytes, CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES);
    EXPECT_EQ(reinterpret_cast<void*>(kCuParamEnd), CU_LAUNCH_PARAM_END);
    EXPECT_EQ(reinterpret_cast<void*>(kCuParamPointer), CU_LAUNCH_PARAM_BUFFER_POINTER);
    EXPECT_EQ(reinterpret_cast<void*>(kCuParamSize), CU_LAUNCH_PARAM_BUFFER_SIZE);
}

}  // namespace
}  // namespace lockstep::validation
