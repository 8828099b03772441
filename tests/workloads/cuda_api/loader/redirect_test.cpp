// SPDX-License-Identifier: Apache-2.0
#include "workloads/cuda_api/loader/redirect.h"

#include <gtest/gtest.h>

namespace lockstep::cuda {
namespace {

__attribute__((noinline, noipa)) int sum(int a, int b) {
    volatile int result = a;  // enough code to hold a jump
    result = result + b;
    return result;
}
__attribute__((noinline, noipa)) int product(int a, int b) {
    return a * b;
}

TEST(Redirect, ArgumentsAndResultsPassThrough) {
    EXPECT_EQ(sum(6, 7), 13);
    const Redirection one{reinterpret_cast<std::uintptr_t>(&sum),
                          reinterpret_cast<std::uintptr_t>(&product)};
    ASSERT_TRUE(redirect(std::span(&one, 1)));
    EXPECT_EQ(sum(6, 7), 42);
}

TEST(Redirect, MemoryThatIsNotThereIsRefused) {
    const Redirection nowhere{0x1000, 0x2000};
    EXPECT_FALSE(redirect(std::span(&nowhere, 1)));
    EXPECT_TRUE(redirect({}));
}

}  // namespace
}  // namespace lockstep::cuda
