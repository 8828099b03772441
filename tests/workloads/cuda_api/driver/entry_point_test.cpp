// SPDX-License-Identifier: Apache-2.0
#include "tests/workloads/cuda_api/driver/driver_test.h"

namespace lockstep::cuda::driver {
namespace {

void* find(const char* name, int version, unsigned long long flags = 0) {
    Query query{};
    return find_entry_point(name, version, flags, query);
}

extern "C" void cuMemAlloc();
extern "C" void cuMemcpyHtoD_v2_ptds();
extern "C" void cuGetProcAddress();

TEST(EntryPoint, TheVersionChoosesTheForm) {
    EXPECT_EQ(find("cuMemAlloc", 13000), reinterpret_cast<void*>(&cuMemAlloc_v2));
    EXPECT_EQ(find("cuMemAlloc", 3020), reinterpret_cast<void*>(&cuMemAlloc_v2));
    EXPECT_EQ(find("cuMemAlloc", 3000), reinterpret_cast<void*>(&cuMemAlloc));
    EXPECT_EQ(find("cuGetProcAddress", 11080), reinterpret_cast<void*>(&cuGetProcAddress));
    EXPECT_EQ(find("cuGetProcAddress", 12000), reinterpret_cast<void*>(&cuGetProcAddress_v2));
}

TEST(EntryPoint, TheFlagChoosesThePerThreadDefaultStream) {
    EXPECT_EQ(find("cuMemcpyHtoD", 13000), reinterpret_cast<void*>(&cuMemcpyHtoD_v2));
    EXPECT_EQ(find("cuMemcpyHtoD", 13000, kLegacyStream),
              reinterpret_cast<void*>(&cuMemcpyHtoD_v2));
    EXPECT_EQ(find("cuMemcpyHtoD", 13000, kPerThreadStream),
              reinterpret_cast<void*>(&cuMemcpyHtoD_v2_ptds));
    EXPECT_EQ(find("cuInit", 13000, kPerThreadStream), reinterpret_cast<void*>(&cuInit));
}

TEST(EntryPoint, SaysWhyThereIsNone) {
    void* function = &function;
    Query query{};
    EXPECT_EQ(cuGetProcAddress_v2("cuNothing", &function, 13000, 0, &query), Result::kNotFound);
    EXPECT_EQ(function, nullptr);
    EXPECT_EQ(query, Query::kNotFound);
    EXPECT_EQ(cuGetProcAddress_v2("cuTensorMapEncodeTiled", &function, 11080, 0, &query),
              Result::kNotFound);
    EXPECT_EQ(query, Query::kVersionNotSufficient);
    EXPECT_EQ(cuGetProcAddress_v2("cuTensorMapEncodeTiled", &function, 12000, 0, &query),
              Result::kSuccess);
    EXPECT_EQ(query, Query::kSuccess);
    EXPECT_NE(function, nullptr);
    EXPECT_EQ(cuGetProcAddress_v2("cuInit", &function, 13000, 64, &query), Result::kInvalidValue);
}

}  // namespace
}  // namespace lockstep::cuda::driver
