// SPDX-License-Identifier: Apache-2.0
// What the compiler takes kernels to cost, against the compiled kernels.
#include "workloads/cuda/network/costs.h"

#include <gtest/gtest.h>

#include "tests/workloads/network/gpu/run_on.h"
#include "workloads/cuda/kernel_registers.h"
#include "workloads/cuda/network/arguments.h"

namespace lockstep::network::gpu {
namespace {

struct Product {
    const char* machine;
    Precision precision;
    const char* kernel;
    std::int64_t m, n;  ///< of the tile
    kernels::StepInstructions expected;
    int depth_bytes;  ///< of k in a step
};

/// Warp-instructions of a product of one tile.
std::uint64_t instructions_of(const Product& product, std::int64_t k) {
    const auto machine = config::Machine::load(product.machine);
    Target target = target_of(*machine);
    // Where tiles come slowly, the largest that a product fills is chosen; where launches take
    // long, k is not cut.
    target.sms = 1;
    target.launch_cycles = 1e9;
    const bool by_groups = std::string_view(product.kernel).find("wgmma") != std::string_view::npos;
    target.l2_bandwidth /= by_groups ? 64 : 1024;
    if (!by_groups) target.group_fp16_macs = target.group_int8_macs = 0;
    BuiltinRequest request =
        parse_builtin(fmt::format("gemm:m={},n={},k={}", product.m, product.n, k));
    const compile::Prepared prepared =
        prepare(build_network(request.name, request.options), target, product.precision, 1);
    const Executable code = compile(prepared.graph, target, {.precision = product.precision});
    EXPECT_NE(kernels_of(code).find(product.kernel), std::string::npos) << kernels_of(code);
    const auto device = make_emulator(machine, {});
    Session session(code, *device);
    for (std::size_t i = 0; i < prepared.inputs.size(); ++i)
        session.set_input(i, prepared.inputs[i]);
    std::uint64_t instructions = 0;
    session.run([&](std::size_t i, const LaunchResult& result) {
        if (code.launches[i].kernel.kernel == product.kernel)
            instructions += result.warp_instructions;
    });
    return instructions;
}

TEST(Costs, AreWhatKernelsExecuteInAStep) {
    using enum Precision;
    using namespace kernels;
    const Product kProducts[] = {
        {"t4", kFp16, "product_fp16_large", 128, 128, kLargeTensorStep, kTensorDepthBytes / 2},
        {"t4", kFp16, "product_fp16_small", 64, 64, kSmallTensorStep, kTensorDepthBytes / 2},
        {"a100", kFp16, "product_fp16_large", 128, 128, kLargeTensorStep, kTensorDepthBytes / 2},
        {"a100", kFp16, "product_fp16_small", 64, 64, kSmallTensorStep, kTensorDepthBytes / 2},
        {"a100", kBf16, "product_bf16_large", 128, 128, kLargeTensorStep, kTensorDepthBytes / 2},
        {"a100", kTf32, "product_tf32_large", 128, 128, kLargeTf32Step, kTensorDepthBytes / 4},
        {"a100", kTf32, "product_tf32_small", 64, 64, kSmallTf32Step, kTensorDepthBytes / 4},
        {"t4", kFp32, "product_fp32_large", 128, 128, kLargeRealStep, kLargeDepth},
        {"t4", kFp32, "product_fp32_small", 64, 64, kSmallRealStep, kSmallDepth},
        {"a100", kFp32, "product_fp32_large", 128, 128, kLargeRealStep, kLargeDepth},
        {"a100", kFp32, "product_fp32_small", 64, 64, kSmallRealStep, kSmallDepth},
        {"h200", kFp16, "product_wgmma_fp16_wide", 128, 256, kWideGroupStep, kGroupDepthBytes / 2},
        {"h200", kFp16, "product_wgmma_fp16_large", 128, 128, kGroupStep, kGroupDepthBytes / 2},
        {"h200", kFp16, "product_wgmma_fp16_small", 64, 64, kSmallGroupStep, kGroupDepthBytes / 2},
    };
    for (const Product& product : kProducts) {
        const std::int64_t few = 256, many = 512;  // beyond that k is cut
        const TileShape tile = [&] {
            if (std::string_view(product.kernel).ends_with("wide")) return kWideGroupTile;
            if (product.m == 128)
                return std::string_view(product.kernel).find("wgmma") != std::string_view::npos
                           ? kGroupTile
                           : kLargeTile;
            return product.machine == std::string_view("h200") ? kSmallGroupTile : kSmallTile;
        }();
        const double steps = static_cast<double>((many - few) / product.depth_bytes);
        const double executed =
            static_cast<double>(instructions_of(product, many) - instructions_of(product, few)) /
            steps / (tile.threads / 32);
        const int arch = config::Machine::load(product.machine)->integer("arch");
        EXPECT_NEAR(executed / product.expected.of(arch), 1, 0.02)
            << product.machine << " " << product.kernel << ": " << executed;
    }
}

TEST(Costs, OfPiecesAreWhatTheirSumExecutes) {
    const auto machine = config::Machine::load("a100");
    const Target target = target_of(*machine);
    for (const std::int64_t k : {2048, 8192}) {
        Builder b("long", 1);
        const ValueId x = b.input("x", ElementType::kFp32, {64, k});
        const compile::Prepared prepared =
            prepare(b.finish({b.linear("linear", x, 512)}), target, Precision::kFp16, 1);
        const Executable code = compile(prepared.graph, target, {.precision = Precision::kFp16});
        ASSERT_EQ(kernels_of(code), "product_fp16_small product_sum");
        const auto device = make_emulator(machine, {});
        Session session(code, *device);
        session.set_input(0, prepared.inputs[0]);
        session.run([&](std::size_t i, const LaunchResult& result) {
            if (i == 0) return;
            const double warps = 64.0 * 512 / 4 / 32;
            const double expected =
                kernels::kSumInstructions + kernels::kPieceInstructions * code.launches[0].grid.z;
            EXPECT_NEAR(double(result.warp_instructions) / warps / expected, 1, 0.1)
                << code.launches[0].grid.z;
        });
    }
}

TEST(Costs, OfACutKIsNotWorthALaunchForAProductOfWarpgroups) {
    const auto machine = config::Machine::load("h200");
    const Target target = target_of(*machine);
    BuiltinRequest request = parse_builtin("gemm:m=130,n=256,k=1040");
    const compile::Prepared prepared =
        prepare(build_network(request.name, request.options), target, Precision::kFp16, 1);
    // Simulated: 19.3 k cycles; in eight pieces by mma.sync 20.6 k.
    EXPECT_EQ(kernels_of(compile(prepared.graph, target, {.precision = Precision::kFp16})),
              "product_wgmma_fp16_small");
}

TEST(Costs, TakeRegistersFromTheCubins) {
    EXPECT_EQ(cuda::kernel_registers({"product_fp16", "product_fp16_small"}, 80), 72u);
    EXPECT_EQ(cuda::kernel_registers({"product_fp16", "product_fp16_large"}, 86), 128u);  // 122
    EXPECT_GT(cuda::kernel_registers({"product_int8", "product_int8_large"}, 75), 128u);
    EXPECT_EQ(cuda::kernel_registers({"product_bf16", "product_bf16_large"}, 75), 255u);  // none
}

}  // namespace
}  // namespace lockstep::network::gpu
