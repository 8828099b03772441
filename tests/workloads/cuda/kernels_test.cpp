// SPDX-License-Identifier: Apache-2.0
// Every built-in workload, emulated and compared with its reference: at sizes that no tile divides,
// and at its defaults.
#include <gtest/gtest.h>

#include <cctype>
#include <set>
#include <string>
#include <string_view>

#include "models/device.h"
#include "sim/config/machine.h"
#include "workloads/cuda/workload.h"

namespace lockstep::cuda {
namespace {

// As a user types them.
const std::string_view kSmall[] = {
    "vector_add:n=1",
    "vector_add:n=1001",
    "reduce:n=1",
    "reduce:n=5003",
    "reduce_shared:n=5003",
    "reduce_atomic:n=777",
    "scan:n=1",
    "scan:n=70001",
    "transpose:rows=37,cols=65",
    "transpose_shared:rows=37,cols=65",
    "divergence_loop:n=200,block=96,split=5,work=3",
    "divergence_nested:n=200,block=96,split=7,work=3",
    "divergence_sides:n=200,block=96,split=9,work=3",
    "divergence_warps:n=200,block=96,split=9,work=3",
    "transpose_naive:rows=37,cols=65",
    "transpose:rows=1,cols=5",
    "histogram:n=5001,bins=7",
    "histogram:n=100,bins=1000",
    "relu:n=333",
    "relu_backward:n=333",
    "gelu:n=333",
    "gelu_backward:n=333",
    "gelu_tanh:n=333",
    "gelu_tanh_backward:n=333",
    "bias_add:outer=3,channels=5,inner=7",
    "bias_backward:outer=3,channels=5,inner=7",
    "bias_backward:outer=33,channels=5,inner=1",
    "sgd:n=77",
    "adamw:n=77,step=3",
    "sgemm:m=37,n=45,k=19",
    "sgemm:m=130,n=132,k=9",
    "sgemm_naive:m=17,n=19,k=23",
    "sgemm_shared:m=33,n=35,k=37",
    "sgemm_vectorised:m=33,n=35,k=37",
    "sgemm_vectorised:m=131,n=132,k=12",
    "sgemm_double_buffered:m=33,n=35,k=37",
    "sgemm_double_buffered:m=131,n=132,k=12",
    "sgemm_nn:m=33,n=65,k=37",
    "sgemm_nt:m=33,n=65,k=37",
    "sgemm_tn:m=33,n=65,k=37",
    "hgemm:m=33,n=35,k=37",
    "hgemm:m=130,n=136,k=72",
    "hgemm_wmma:m=33,n=35,k=37",
    "hgemm_wmma:m=66,n=72,k=40",
    "igemm:m=33,n=35,k=37",
    "igemm:m=66,n=72,k=144",
    "hgemm:m=1,n=1,k=1",
    "igemm:m=1,n=1,k=1",
    "conv2d:n=1,h=2,w=2,c=1,k=2,r=6,s=6,stride=3,pad=2",
    "conv2d:n=2,h=7,w=9,c=3,k=5,r=3,s=2,stride=2,pad=1",
    "conv2d_im2col:n=2,h=7,w=9,c=3,k=5,r=3,s=2,stride=2,pad=1",
    "conv2d_backward_data:n=1,h=2,w=2,c=1,k=2,r=6,s=6,stride=3,pad=2",
    "conv2d_backward_data:n=2,h=7,w=9,c=3,k=5,r=3,s=2,stride=2,pad=1",
    "conv2d_backward_weights:n=1,h=2,w=2,c=1,k=2,r=6,s=6,stride=3,pad=2",
    "conv2d_backward_weights:n=11,h=7,w=9,c=3,k=5,r=3,s=2,stride=2,pad=1",
    "depthwise_conv2d:n=2,h=7,w=9,c=3,r=3,s=2,stride=2,pad=1",
    "depthwise_conv2d_backward_data:n=2,h=7,w=9,c=3,r=3,s=2,stride=2,pad=1",
    "depthwise_conv2d_backward_weights:n=2,h=7,w=9,c=3,r=3,s=2,stride=2,pad=1",
    "max_pool2d:planes=3,h=7,w=9,r=3,s=2,stride=2,pad=1",
    "max_pool2d_backward:planes=3,h=7,w=9,r=3,s=3,stride=2,pad=1",
    "average_pool2d:planes=3,h=7,w=9,r=3,s=2,stride=2,pad=1",
    "average_pool2d_backward:planes=3,h=7,w=9,r=3,s=3,stride=1,pad=1",
    "layernorm:rows=5,cols=77",
    "layernorm:rows=3,cols=1",
    "layernorm_backward:rows=5,cols=77",
    "batch_norm:n=3,channels=5,inner=7",
    "batch_norm_training:n=3,channels=5,inner=7",
    "batch_norm_backward:n=3,channels=5,inner=7",
    "softmax:rows=3,cols=77",
    "softmax:rows=3,cols=1",
    "softmax_backward:rows=3,cols=77",
    "cross_entropy:rows=5,cols=10",
    "cross_entropy_backward:rows=5,cols=10",
    "embedding:tokens=9,vocabulary=7,dim=33",
    "embedding_backward:tokens=9,vocabulary=7,dim=33",
    "attention:heads=2,seq=37,d=33",
    "attention:heads=2,seq=37,d=33,causal=1",
    "attention:heads=1,seq=1,d=1",
    "attention:heads=1,seq=5,d=128",
    "attention_mma:heads=2,seq=37,d=33",
    "attention_mma:heads=2,seq=70,d=40,causal=1",
    "attention_mma:heads=1,seq=5,d=128",
    "attention_naive:heads=2,seq=37,d=33",
    "attention_naive:heads=2,seq=37,d=33,causal=1",
    "attention_backward:heads=2,seq=37,d=33",
    "attention_backward:heads=2,seq=37,d=33,causal=1",
};

// What runs on compute capability 9.0 alone.
const std::string_view kHopper[] = {
    "hgemm_wgmma:m=33,n=35,k=37",
    "hgemm_wgmma:m=1,n=1,k=1",
    "hgemm_wgmma:m=130,n=136,k=200,columns=64,stages=2",
    "hgemm_wgmma:m=70,n=264,k=136,columns=256,warpgroups=1,stages=4",
    "hgemm_ladder:m=70,n=37,k=41,step=1",
    "hgemm_ladder:m=70,n=74,k=130,step=2",
    "hgemm_ladder:m=130,n=9,k=1,step=3",
    "hgemm_ladder:m=130,n=130,k=500,step=4",
    "hgemm_ladder:m=130,n=300,k=330,step=5",
    "hgemm_ladder:m=300,n=300,k=330,step=6,ctas=2",
    "hgemm_ladder:m=2100,n=300,k=70,step=7,ctas=5",
    "hgemm_ladder:m=400,n=300,k=330,step=8,ctas=2",
    "hgemm_ladder:m=300,n=300,k=330,step=9,ctas=2",
    "hgemm_ladder:m=700,n=1300,k=70,step=10,ctas=6",
    "hgemm_ladder:m=1,n=1,k=1",
    "fp8gemm_wgmma:m=130,n=150,k=300,ctas=3",
    "igemm_wgmma:m=130,n=150,k=300,ctas=3",
    "attention_wgmma:heads=2,seq=37,d=40",
    "attention_wgmma:heads=1,seq=400,d=128",
    "attention_wgmma:heads=2,seq=300,d=64,causal=1",
    "stencil_tma:h=100,w=77",
    "stencil_tma:h=1,w=1",
    "stencil_tma:h=65,w=130,tiles=3,stages=2",
    "stencil_tma:h=200,w=33,tiles=10,stages=4",
    "transpose_tma:rows=70,cols=45",
    "transpose_tma:rows=1,cols=130",
    "reduce_cluster:n=1000003",
    "reduce_cluster:n=1,cluster=8",
    "reduce_cluster:n=70000,cluster=2",
    "reduce_cluster:n=5000,cluster=1",
    "histogram_cluster:n=100003",
    "histogram_cluster:n=50000,bins=20000,cluster=8",
    "histogram_cluster:n=777,bins=5,cluster=2",
};

/// Microbenchmarks have tests of their own.
bool is_micro(const Workload& workload) {
    return workload.name.starts_with("micro_");
}

std::string name_of(std::string_view text) {
    return std::string(text.substr(0, text.find(':')));
}

std::string parameters_of(std::string_view text) {
    const std::size_t colon = text.find(':');
    return colon == text.npos ? "" : std::string(text.substr(colon + 1));
}

void run_and_check(std::string_view text, const std::string& machine) {
    const auto device = make_emulator(config::Machine::load(machine), {});
    const Workload& workload = find_workload(name_of(text));
    const Outcome outcome =
        run_workload(workload, parse_parameters(workload, parameters_of(text)), 7, true, *device);
    EXPECT_FALSE(outcome.launches.empty());
    EXPECT_FALSE(outcome.checks.empty());
    for (const CheckRecord& check : outcome.checks) {
        EXPECT_TRUE(check.passed) << text << " on " << machine << ": " << check.message;
    }
}

// A test's name may hold letters, digits and underscores only.
std::string test_name(std::string_view text) {
    std::string name(text);
    for (char& c : name) {
        if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
    }
    return name;
}

class SmallSizes : public testing::TestWithParam<std::string_view> {};

TEST_P(SmallSizes, OnSm90) {
    run_and_check(GetParam(), "h200");
}
TEST_P(SmallSizes, OnSm80) {
    run_and_check(GetParam(), "a100");
}

INSTANTIATE_TEST_SUITE_P(Kernels, SmallSizes, testing::ValuesIn(kSmall),
                         [](const auto& test) { return test_name(test.param); });

class HopperSizes : public testing::TestWithParam<std::string_view> {};

TEST_P(HopperSizes, OnSm90) {
    run_and_check(GetParam(), "h200");
}
TEST_P(HopperSizes, OnSm80IsAnInputErrorThatNamesTheKernel) {
    try {
        run_and_check(GetParam(), "a100");
        FAIL();
    } catch (const InputError& error) {
        EXPECT_NE(std::string(error.what()).find("is compiled for 9.0"), std::string::npos)
            << error.what();
    }
}

INSTANTIATE_TEST_SUITE_P(Kernels, HopperSizes, testing::ValuesIn(kHopper),
                         [](const auto& test) { return test_name(test.param); });

TEST(SmallSizes, CoverEveryWorkload) {
    std::set<std::string> covered;
    for (const std::string_view text : kSmall) covered.insert(name_of(text));
    for (const std::string_view text : kHopper) covered.insert(name_of(text));
    for (const Workload& workload : workloads()) {
        if (is_micro(workload)) continue;
        EXPECT_TRUE(covered.contains(workload.name)) << workload.name;
    }
}

class Defaults : public testing::TestWithParam<std::string> {};

TEST_P(Defaults, Agree) {
    run_and_check(GetParam(), "h200");
}

std::vector<std::string> all_names() {
    std::vector<std::string> names;
    for (const Workload& workload : workloads()) {
        if (!is_micro(workload)) names.push_back(workload.name);
    }
    return names;
}

INSTANTIATE_TEST_SUITE_P(Kernels, Defaults, testing::ValuesIn(all_names()),
                         [](const auto& test) { return test.param; });

TEST(RunWorkload, TheSeedDecidesTheResultOfEveryLaunch) {
    // The same instructions each time, and no check without verification.
    const Workload& workload = find_workload("softmax");
    const Parameters parameters = parse_parameters(workload, "rows=3,cols=40");
    const auto device = make_emulator(config::Machine::load("h200"), {});
    const Outcome a = run_workload(workload, parameters, 1, false, *device);
    const Outcome b = run_workload(workload, parameters, 1, false, *device);
    ASSERT_EQ(a.launches.size(), 1u);
    EXPECT_EQ(a.launches[0].result.warp_instructions, b.launches[0].result.warp_instructions);
    EXPECT_GT(a.launches[0].result.warp_instructions, 0u);
    EXPECT_TRUE(a.checks.empty());
}

TEST(RunWorkload, AMachineWithoutImagesIsAnInputError) {
    const Workload& workload = find_workload("relu");
    const auto device = make_emulator(config::Machine::load("v100"), {});
    EXPECT_THROW(run_workload(workload, parse_parameters(workload, ""), 1, false, *device),
                 InputError);
}

}  // namespace
}  // namespace lockstep::cuda
