// SPDX-License-Identifier: Apache-2.0
// Runs kernels of data/faults.cu under checks and hands out the reports.
#pragma once

#include <gmock/gmock.h>

#include "tests/models/gpu/kernel_fixture.h"

namespace lockstep {

class CheckTest : public testing::TestWithParam<Target> {
  public:
    /// The report on one launch, which may end in a fault; "" where nothing was found.
    template <typename... Parameters>
    static std::string report(KernelRunner& runner, const std::string& kernel, sass::Dim3 grid,
                              sass::Dim3 block, Parameters... parameters) {
        const std::uint64_t before = runner.device().findings();
        testing::internal::CaptureStderr();
        try {
            runner.launch(kernel, grid, block, parameters...);
        } catch (const DeviceFault&) {
        }
        const std::string text = testing::internal::GetCapturedStderr();
        EXPECT_EQ(text.empty(), runner.device().findings() == before) << text;
        return text;
    }

  protected:
    KernelRunner make(unsigned checks, const std::string& cubin = "faults") const {
        return {GetParam().machine, cubin + "_" + GetParam().arch + ".cubin", {.checks = checks}};
    }
};

constexpr Target kCheckTargets[] = {{"a100", "sm_80"}, {"h200", "sm_90"}};
inline std::string name_of_target(const testing::TestParamInfo<Target>& test) {
    return test.param.arch;
}

}  // namespace lockstep
