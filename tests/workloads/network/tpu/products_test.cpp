// SPDX-License-Identifier: Apache-2.0
// Products whose operands do not all fit the unified buffer, and what matrix units share.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "sim/error/error.h"
#include "tests/workloads/network/tpu/run_on.h"
#include "workloads/network/builtin/builtin.h"
#include "workloads/network/graph/builder.h"
#include "workloads/network/tpu/plan_time.h"

namespace lockstep::network {
namespace {

/// Which operand of a product stays in a unified buffer of 1 MiB, and what passes by.
TEST(CompiledProducts, WithLittleRoomComputeTheReference) {
    for (const char* workload :
         {"gemm:m=40,n=700,k=900", "gemm:m=1300,n=100,k=200", "gemm:m=300,n=400,k=700",
          "gemm:m=1,n=300,k=3000", "conv2d:n=2,h=12,w=12,c=130,k=150,r=3,s=3,stride=1,pad=1",
          "attention:heads=2,seq=70,d=40", "bert_block:hidden=128,heads=2,seq=90"}) {
        const BuiltinRequest request = parse_builtin(workload);
        for (const ElementType type : {ElementType::kFp32, ElementType::kBf16}) {
            const Ran ran = run_on(build_network(request.name, request.options), "tpu_v3",
                                   {"unified_buffer.size=1MiB"}, type);
            ASSERT_FALSE(ran.checks.empty());
            for (const TpuCheck& check : ran.checks)
                EXPECT_TRUE(check.passed) << workload << ": " << check.message;
        }
    }
}

// What passes through the unified buffer never overwrites what is still in use: any shapes, any
// room.
TEST(CompiledProducts, OfAnyShapeInAnyRoomComputeTheReference) {
    std::mt19937 random(7);
    const auto from = [&](int low, int high) {
        return low + static_cast<int>(random() % static_cast<unsigned>(high - low + 1));
    };
    for (int i = 0; i < 24; ++i) {
        const std::string workload =
            i % 2 == 0
                ? fmt::format("gemm:m={},n={},k={}", from(1, 700), from(1, 500), from(1, 900))
                : fmt::format("conv2d:n={},h={},w={},c={},k={},r={},s={},stride={},pad={}",
                              from(1, 3), from(3, 20), from(3, 20), from(1, 140), from(1, 140),
                              from(1, 3), from(1, 3), from(1, 2), from(0, 1));
        const BuiltinRequest request = parse_builtin(workload);
        const std::string room = fmt::format("unified_buffer.size={}KiB", 512 << from(0, 3));
        const Ran ran = run_on(build_network(request.name, request.options), "tpu_v3", {room});
        ASSERT_FALSE(ran.checks.empty());
        for (const TpuCheck& check : ran.checks)
            EXPECT_TRUE(check.passed) << workload << ", " << room << ": " << check.message;
    }
}

TEST(CompiledProducts, ThatDoNotFitAreRefused) {
    for (const char* workload : {"conv2d:n=4,h=34,w=24,c=200,k=5,r=3,s=3,stride=1,pad=0",
                                 "gemm:m=300,n=300,k=300", "attention:heads=3,seq=77,d=62"}) {
        const BuiltinRequest request = parse_builtin(workload);
        EXPECT_THROW(run_on(build_network(request.name, request.options), "tpu_v3",
                            {"unified_buffer.size=4KiB"}),
                     InputError)
            << workload;
    }
}

TEST(CompiledProducts, NeedARowOfAccumulatorsForEachColumnOfHeldInputs) {
    for (const char* workload : {"gemm:m=9,n=8,k=7", "gemm:m=300,n=300,k=300",
                                 "lstm:batch=4,seq=8,input=2,hidden=32,layers=2",
                                 "conv2d:n=1,h=9,w=9,c=3,k=5,r=3,s=3,stride=1,pad=1"}) {
        const BuiltinRequest request = parse_builtin(workload);
        EXPECT_THROW(run_on(build_network(request.name, request.options), "tpu_v4",
                            {"array.dataflow=is", "accumulators.rows=64"}),
                     InputError)
            << workload;
    }
}

TEST(CompiledProducts, NeedNoMoreThanOneRowOfAccumulators) {
    const BuiltinRequest request = parse_builtin("gemm:m=9,n=40,k=30");
    for (const char* dataflow : {"ws", "os"}) {
        const Ran ran = run_on(build_network(request.name, request.options), "tpu_v4",
                               {"accumulators.rows=1", "array.rows=16", "array.columns=16",
                                std::string("array.dataflow=") + dataflow});
        for (const TpuCheck& check : ran.checks) EXPECT_TRUE(check.passed) << check.message;
    }
}

TEST(CompiledProducts, UnitsShareTheRowsOfOneTileOfColumns) {
    const auto cycles = [&](const char* workload, const char* units) {
        const BuiltinRequest request = parse_builtin(workload);
        return static_cast<double>(
            run_on(build_network(request.name, request.options), "tpu_v3", {units}).result.cycles);
    };
    const char* full = "conv2d:n=8,h=16,w=16,c=128,k=128,r=3,s=3,stride=1,pad=1";
    EXPECT_LT(cycles(full, "array.units=2"), 0.7 * cycles(full, "array.units=1"));
    // Rows of narrow pixels' windows do not come as fast as two units could take them.
    const char* narrow = "conv2d:n=8,h=16,w=16,c=64,k=128,r=3,s=3,stride=1,pad=1";
    EXPECT_LT(cycles(narrow, "array.units=2"), 0.95 * cycles(narrow, "array.units=1"));
    EXPECT_GT(cycles(narrow, "array.units=2"), 0.6 * cycles(narrow, "array.units=1"));
    EXPECT_LT(cycles(narrow, "vector.window_cycles=1"), 0.7 * cycles(narrow, "array.units=2"));
}

TEST(CompiledProducts, EightUnitsAreFasterThanFourAndComputeTheSame) {
    const BuiltinRequest request = parse_builtin("gemm:m=512,n=1024,k=1024");
    const auto run = [&](const char* units) {
        Ran ran = run_on(build_network(request.name, request.options), "tpu_v4", {units});
        for (const TpuCheck& check : ran.checks) EXPECT_TRUE(check.passed) << check.message;
        return static_cast<double>(ran.result.cycles);
    };
    EXPECT_LT(run("array.units=8"), 0.95 * run("array.units=4"));
    EXPECT_THROW(run("array.units=9"), InputError);
}

TEST(CompiledProducts, NarrowTilesAreNoSlowerThanFullOnes) {
    const auto cycles = [](std::int64_t columns) {
        const BuiltinRequest request =
            parse_builtin(fmt::format("gemm:m=1024,n={},k=512", columns));
        return run_on(build_network(request.name, request.options), "tpu_v3").result.cycles;
    };
    EXPECT_LT(cycles(100), cycles(128));
}

/// Windows of few long rows would leave the units waiting for the shift of each next tile.
TEST(CompiledProducts, WindowsOfLongRowsHideTheShiftOfWeights) {
    BuiltinRequest request = parse_builtin("gemm:m=4096,n=4096,k=8192");
    request.options.with_values = false;
    const tpu::Parameters parameters(*config::Machine::load("tpu_v6e", {}));
    const TpuNetwork network = prepare_for_tpu(build_network(request.name, request.options),
                                               parameters.generation, {}, 1, false);
    const TpuCompiled compiled = compile_for_tpu(network.graph, run::tpu_target(parameters));
    tpu::Storage storage(compiled.program, false);
    const tpu::RunResult result =
        tpu::run(compiled.program, parameters, storage, {.values = false});
    constexpr double kPasses = 4096.0 * (4096 / 256) * (8192 / 256) / 4;  // of rows, a unit
    EXPECT_LT(static_cast<double>(result.cycles), 2 * kPasses);
}

/// Rows and weights do not fit, and the accumulators keep little of the result: as many rows as fit
/// stay while all weights pass, rather than panels of weights, of which two are there.
TEST(CompiledProducts, PanelsOfRowsStayWhileWeightsPass) {
    constexpr std::int64_t kRows = 250, kColumns = 512, kLength = 1024;
    Builder b("rows", 3);
    const ValueId x = b.input("x", ElementType::kFp32, {kRows, kLength}),
                  z = b.input("z", ElementType::kFp32, {kRows, kColumns});
    Graph graph = b.finish({b.node(Operator::kAdd, "sum", {b.linear("product", x, kColumns), z})});
    const Ran ran = run_on(std::move(graph), "tpu_v4",
                           {"unified_buffer.size=1MiB", "accumulators.rows=64", "array.rows=16",
                            "array.columns=16", "memory.clock=220"});
    for (const TpuCheck& check : ran.checks) EXPECT_TRUE(check.passed) << check.message;
    constexpr std::uint64_t kOnce = 4 * (kRows * kLength + kLength * kColumns + kRows * kColumns);
    EXPECT_LT(ran.result.total().dram_bytes_read, 4 * kOnce);
}

TEST(CompiledProducts, AreNoSlowerInALargerBufferOrWithFasterMemory) {
    const auto cycles = [](const char* workload, const char* setting) {
        const BuiltinRequest request = parse_builtin(workload);
        return run_on(build_network(request.name, request.options), "tpu_v3", {setting})
            .result.cycles;
    };
    for (const char* workload :
         {"gemm:m=513,n=300,k=700", "conv2d:n=8,h=7,w=7,c=512,k=256,r=3,s=3,stride=1,pad=1"}) {
        const std::uint64_t now = cycles(workload, "unified_buffer.size=16MiB");
        EXPECT_LE(cycles(workload, "unified_buffer.size=128MiB"), now) << workload;
        EXPECT_LT(cycles(workload, "memory.clock=1757.8"), now) << workload;
    }
}

/// The compiler's estimate against the model.
TEST(CompiledProducts, TakeAboutTheTimeThatPlansAreComparedBy) {
    for (const char* workload :
         {"gemm:m=513,n=300,k=700", "gemm:m=64,n=1000,k=500", "gemm:m=900,n=100,k=130",
          "conv2d:n=8,h=14,w=14,c=64,k=128,r=3,s=3,stride=1,pad=1"}) {
        const tpu::Parameters parameters(*config::Machine::load("tpu_v3", {}));
        const BuiltinRequest request = parse_builtin(workload);
        const Ran ran = run_on(build_network(request.name, request.options), "tpu_v3");
        const auto cycles = static_cast<double>(ran.result.cycles);
        EXPECT_NEAR(static_cast<double>(lowering::plan_time(ran.compiled.program.instructions,
                                                            run::tpu_target(parameters))),
                    cycles, 0.02 * cycles)
            << workload;
    }
}

TEST(CompiledProducts, PlansAreTimedAsTheModelTimesThem) {
    // Of any shape, on any machine: half of them within half a percent, nine of ten within three.
    std::mt19937 random(11);
    const auto size = [&](double most) {
        return static_cast<std::int64_t>(
            std::exp2(std::uniform_real_distribution<double>(0, most)(random)));
    };
    std::vector<double> errors;
    for (int i = 0; i < 60; ++i) {
        const char* machine =
            std::array{"tpu_v2", "tpu_v3", "tpu_v4", "tpu_v5e", "tpu_v6e"}[random() % 5];
        BuiltinRequest request =
            parse_builtin(fmt::format("gemm:m={},n={},k={}", size(11.5), size(11.5), size(11.5)));
        request.options.with_values = false;
        const tpu::Parameters parameters(*config::Machine::load(machine, {}));
        const TpuNetwork network =
            prepare_for_tpu(build_network(request.name, request.options), parameters.generation,
                            i % 2 == 0 ? ElementType::kFp32 : ElementType::kBf16, 1, false);
        const TpuTarget target = run::tpu_target(parameters);
        const TpuCompiled compiled = compile_for_tpu(network.graph, target);
        tpu::Storage storage(compiled.program, false);
        const auto cycles = static_cast<double>(
            tpu::run(compiled.program, parameters, storage, {.values = false}).cycles);
        const auto planned =
            static_cast<double>(lowering::plan_time(compiled.program.instructions, target));
        errors.push_back(std::abs(planned / cycles - 1));
    }
    std::ranges::sort(errors);
    EXPECT_LT(errors[errors.size() / 2], 0.005);
    EXPECT_LT(errors[errors.size() * 9 / 10], 0.03);
}

TEST(CompiledProducts, SmallOnesOfABatchAreLoadedTogether) {
    const auto loads = [](Shape left, Shape right) {
        Builder b("products", 3);
        const ValueId x = b.input("x", ElementType::kFp32, std::move(left)),
                      y = b.input("y", ElementType::kFp32, std::move(right));
        const Ran ran = run_on(b.finish({b.node(Operator::kMatMul, "product", {x, y})}), "tpu_v3");
        for (const TpuCheck& check : ran.checks) EXPECT_TRUE(check.passed) << check.message;
        return count(ran.compiled.program, tpu::Opcode::kLoad);
    };
    EXPECT_EQ(loads({100, 8, 16}, {100, 16, 8}), 2u);
    EXPECT_EQ(loads({2, 300, 16, 16}, {2, 300, 16, 16}), 2 * 8u) << "an eighth at a time";
    EXPECT_EQ(loads({5, 64, 64}, {5, 64, 64}), 2 * 5u) << "the DMA keeps up with them";
    EXPECT_EQ(loads({6, 8, 16}, {1, 16, 8}), 2 * 6u) << "one right operand for all";
}

}  // namespace
}  // namespace lockstep::network
