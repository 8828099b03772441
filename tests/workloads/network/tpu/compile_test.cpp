// SPDX-License-Identifier: Apache-2.0
// Compiled networks compute what the reference executor computes, in the model of the core.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "sim/config/machine.h"
#include "sim/error/error.h"
#include "tests/workloads/network/tpu/run_on.h"
#include "workloads/network/builtin/builtin.h"
#include "workloads/network/graph/builder.h"
#include "workloads/network/tpu/explain.h"

namespace lockstep::network {
namespace {

struct Case {
    const char* machine;
    const char* workload;
};

class CompiledNetwork : public testing::TestWithParam<Case> {};

TEST_P(CompiledNetwork, ComputesTheReference) {
    const BuiltinRequest request = parse_builtin(GetParam().workload);
    const Ran ran =
        run_on(build_network(request.name, request.options), GetParam().machine, {}, request.dtype);
    ASSERT_FALSE(ran.checks.empty());
    for (const TpuCheck& check : ran.checks) EXPECT_TRUE(check.passed) << check.message;
    EXPECT_GT(ran.result.cycles, 0u);
}

INSTANTIATE_TEST_SUITE_P(
    Small, CompiledNetwork,
    testing::Values(
        Case{"tpu_v1", "gemm:m=70,n=300,k=513"}, Case{"tpu_v1", "mlp"},
        Case{"tpu_v1", "conv2d:n=2,h=9,w=11,c=5,k=7,r=3,s=2,stride=2,pad=1"},
        Case{"tpu_v1", "gemm:m=70,n=300,k=513,dtype=int16"},
        Case{"tpu_v1", "conv2d:n=2,h=9,w=11,c=5,k=7,r=3,s=2,pad=1,dtype=int16"},
        Case{"tpu_v1", "lstm:seq=3,hidden=32,input=16,layers=1,dtype=int16"},
        Case{"tpu_v2", "gemm:m=100,n=130,k=200"}, Case{"tpu_v3", "gemm:m=600,n=300,k=140"},
        Case{"tpu_v4", "mlp"},
        Case{"tpu_v3", "conv2d:n=3,h=13,w=10,c=6,k=20,r=3,s=3,stride=2,pad=1"},
        Case{"tpu_v3", "layernorm:rows=30,cols=200"}, Case{"tpu_v3", "softmax:rows=30,cols=200"},
        Case{"tpu_v3", "attention:heads=2,seq=40,d=16"},
        Case{"tpu_v3", "attention:heads=2,seq=1,d=16"},
        Case{"tpu_v3", "attention:heads=2,seq=40,d=16,axis=-2"},
        Case{"tpu_v3", "attention:heads=1,seq=300,d=16"},
        Case{"tpu_v3", "attention:heads=1,seq=300,d=16,axis=-2"},
        Case{"tpu_v4", "attention:heads=3,seq=300,d=16,axis=-2"},
        Case{"tpu_v3", "attention:heads=2,seq=40,d=16,dtype=bf16"},
        Case{"tpu_v3", "attention:batch=2,heads=6,kv_heads=2,seq=40,queries=1,d=16"},
        Case{"tpu_v3", "attention:heads=6,kv_heads=2,seq=40,queries=5,d=16,causal=1"},
        Case{"tpu_v3", "triad:rows=40,cols=200"}, Case{"tpu_v3", "add:rows=40,cols=200,steps=4"},
        Case{"tpu_v4", "exp:rows=40,cols=200,steps=2"},
        Case{"tpu_v3", "sums:rows=7,cols=100,exp=1,steps=2"},
        Case{"tpu_v3", "sums:rows=40,cols=1024,inputs=2,steps=2"},
        Case{"tpu_v6e", "sums:rows=40,cols=1024,exp=1,steps=3"},
        Case{"tpu_v6e", "sums:rows=64,cols=1024,inputs=2,exp=1,dtype=bf16"},
        Case{"tpu_v5e", "row_sums:rows=40,cols=200,dtype=bf16"},
        Case{"tpu_v6e", "bert_block:hidden=64,heads=2,seq=24,dtype=bf16"},
        Case{"tpu_v6e", "gemm:m=300,n=300,k=600"}, Case{"tpu_v3", "softmax:rows=33000,cols=9"},
        Case{"tpu_v3", "layernorm:rows=33000,cols=9"},
        Case{"tpu_v3", "bert_block:hidden=64,heads=2,seq=24,relu=1,axis=-2"},
        Case{"tpu_v3", "bert_block:hidden=64,heads=2,seq=24"},
        Case{"tpu_v2", "lstm:seq=3,hidden=32,input=16,layers=1"},
        Case{"tpu_v1", "softmax:rows=30,cols=200"}, Case{"tpu_v1", "layernorm:rows=30,cols=200"},
        Case{"tpu_v1", "attention:heads=2,seq=40,d=16"},
        Case{"tpu_v1", "attention:heads=6,kv_heads=2,seq=40,queries=1,d=16"},
        Case{"tpu_v1", "bert_block:hidden=64,heads=2,seq=24"}));

TEST(CompileForTpu, RunsConvolutionsOfAllKinds) {
    for (const char* machine : {"tpu_v1", "tpu_v3"})
        for (const TpuCheck& check : run_on(vision(3), machine).checks)
            EXPECT_TRUE(check.passed) << machine << ": " << check.output << ": " << check.message;
}

TEST(CompileForTpu, ABlockOfRowsLiesInOneHalfOfTheAccumulators) {
    const Ran ran = run_on(vision(3), "tpu_v1", {"accumulators.rows=400"});
    for (const tpu::Instruction& i : ran.compiled.program.instructions) {
        if (i.opcode() != tpu::Opcode::kConvolve && i.opcode() != tpu::Opcode::kMatrixMultiply)
            continue;
        const std::uint64_t begin = i[tpu::Field::kAccumulator], end = begin + i[tpu::Field::kRows];
        EXPECT_TRUE(end <= 200 || begin >= 200) << begin << " to " << end;
    }
}

/// Products, sums, differences, tables and averages of integers.
Graph arithmetic(std::uint64_t seed) {
    using Numbers = std::vector<std::int64_t>;
    Builder b("arithmetic", seed);
    const ValueId x = b.input("x", ElementType::kFp32, {2, 6, 12, 11});
    ValueId y = b.convolution("first", x, 9, 3, {.stride = 1, .pad = 1, .bias = true});
    const ValueId gate = b.node(Operator::kSigmoid, "gate", {y});
    const ValueId other = b.convolution("second", x, 9, 1, {.bias = true});
    y = b.node(Operator::kMul, "gated", {other, gate});
    y = b.node(Operator::kSub, "difference", {y, other});
    y = b.node(Operator::kTanh, "tanh", {y});
    y = b.node(Operator::kHardSwish, "swish", {y});
    y = b.node(Operator::kAveragePool, "average", {y},
               {{"kernel_shape", Numbers{3, 3}},
                {"strides", Numbers{2, 2}},
                {"pads", Numbers{1, 1, 1, 1}},
                {"count_include_pad", static_cast<std::int64_t>(seed % 2)}});
    const ValueId mean = b.node(Operator::kGlobalAveragePool, "mean", {y});
    return b.finish({b.reshape("means", mean, {2, 9}), y});
}

TEST(CompileForTpu, RoundsIntegersByMultiplierAndShift) {
    for (const std::uint64_t seed : {3, 4, 5, 6})
        for (const auto& graph : {vision, arithmetic}) {
            const Ran real = run_on(graph(seed), "tpu_v1"),
                      fixed = run_on(graph(seed), "tpu_v1", {"vector.requantisation=fixed_point"});
            for (const Ran* ran : {&real, &fixed})
                for (const TpuCheck& check : ran->checks)
                    EXPECT_TRUE(check.passed) << seed << " " << check.output << check.message;
            // A residual addition follows its product at once.
            const auto additions = [](const Ran& ran) {
                return count(ran.compiled.program, tpu::Opcode::kVector);
            };
            EXPECT_TRUE(graph != vision || additions(fixed) < additions(real));
        }
    EXPECT_THROW(run_on(vision(3), "tpu_v1", {"vector.requantisation=int8"}), InputError);
    EXPECT_THROW(run_on(vision(3), "tpu_v3", {"vector.requantisation=fixed_point"}), InputError);
}

/// What has no lowering of its own.
Graph rewritten(std::uint64_t seed) {
    Builder b("rewritten", seed);
    using enum Operator;
    const auto integers = [&](std::vector<std::int64_t> values) {
        return b.constant("c", make_tensor({static_cast<std::int64_t>(values.size())},
                                           std::span<const std::int64_t>(values)));
    };
    const auto number = [&](float value) {
        return b.constant("c", make_tensor({}, std::span<const float>(&value, 1)));
    };
    const ValueId x = b.input("x", ElementType::kFp32, {2, 6, 5, 4});
    ValueId y = b.node(kConvTranspose, "up", {x, b.weight("up.weight", {6, 2, 3, 3}, 0.3f)},
                       {{"strides", std::vector<std::int64_t>{2, 2}}, {"group", std::int64_t{2}}});
    y = b.batch_normalisation("norm", b.node(kElu, "elu", {y}));
    y = b.node(kPRelu, "prelu", {y, b.weight("slopes", {4, 1, 1}, 0.5f)});
    y = b.node(kInstanceNormalization, "instance",
               {y, b.weight("scale", {4}, 0.1f, 1), b.weight("shift", {4}, 0.1f)});
    y = b.node(kResize, "resize", {y, kNoValue, kNoValue, integers({2, 4, 8, 6})},
               {{"mode", std::string("linear")}});
    const ValueId near = b.node(kResize, "near", {x, kNoValue, kNoValue, integers({2, 6, 10, 8})},
                                {{"coordinate_transformation_mode", std::string("asymmetric")},
                                 {"nearest_mode", std::string("floor")}});
    const ValueId mask = b.node(kGreaterOrEqual, "compare", {x, number(0.25f)});
    const ValueId chosen = b.node(kWhere, "where", {mask, x, b.node(kSub, "from", {number(1), x})});
    const ValueId mean =
        b.node(kReduceMean, "mean", {y},
               {{"axes", std::vector<std::int64_t>{2, 3}}, {"keepdims", std::int64_t{0}}});
    return b.finish(
        {b.node(kLogSoftmax, "log", {mean}),
         b.node(kSoftmax, "softmax", {y}, {{"axis", std::int64_t{1}}}),
         b.node(kReduceMin, "least", {chosen}, {{"axes", std::vector<std::int64_t>{1}}}),
         b.node(kMaxPool, "deep", {b.reshape("planes", x, {1, 2, 6, 5, 4})},
                {{"kernel_shape", std::vector<std::int64_t>{3, 1, 1}},
                 {"pads", std::vector<std::int64_t>{1, 0, 0, 1, 0, 0}}}),
         b.node(kTile, "tile", {near, integers({1, 1, 2, 1})}),
         b.node(kPad, "frame", {x, integers({0, 0, 1, 0, 0, 0, 0, 2}), number(1.5f)}),
         b.node(kPad, "mirror", {x, integers({0, 0, 1, 2, 0, 0, 2, 1})},
                {{"mode", std::string("reflect")}}),
         b.node(kMul, "column",
                {b.node(kGather, "pixel", {chosen, integers({2, 0})}, {{"axis", std::int64_t{3}}}),
                 b.weight("row", {5, 1}, 1)})});
}

TEST(CompileForTpu, WritesWithOthersWhatItHasNoLoweringFor) {
    for (const TpuCheck& check : run_on(rewritten(5), "tpu_v3").checks)
        EXPECT_TRUE(check.passed) << check.output << ": " << check.message;
}

/// A line is an image of one row; an image seen in another way is copied.
TEST(CompileForTpu, RunsConvolutionsOfOtherForms) {
    Builder b("forms", 7);
    using enum Operator;
    const ValueId x = b.input("x", ElementType::kFp32, {2, 6, 9});
    const std::vector<std::int64_t> three = {3}, two = {2}, one = {1, 1};
    ValueId y = b.node(kConv, "line", {x, b.weight("w", {8, 3, 3}, 0.3f)},
                       {{"group", std::int64_t{2}}, {"pads", one}});
    y = b.node(kMaxPool, "pool", {y}, {{"kernel_shape", two}, {"strides", two}});
    y = b.transpose("turn", b.reshape("image", y, {2, 2, 4, 4}), {0, 2, 1, 3});
    y = b.convolution("conv", y, 5, 2, {});
    const Graph graph = b.finish({y});
    for (const char* machine : {"tpu_v1", "tpu_v2"})
        for (const TpuCheck& check : run_on(graph, machine).checks)
            EXPECT_TRUE(check.passed) << machine << ": " << check.message;
}

TEST(CompileForTpu, CountsTheUsefulMultiplications) {
    const BuiltinRequest request = parse_builtin("gemm:m=70,n=300,k=513");
    const Ran ran = run_on(build_network(request.name, request.options), "tpu_v1");
    EXPECT_EQ(ran.result.total().useful_macs, 70u * 300 * 513);
    const TpuLayer& layer = ran.compiled.layers.at(1);
    EXPECT_EQ(layer.name, "gemm");
    EXPECT_EQ(layer.weight_tiles, 2 * 3);
    EXPECT_THAT(schedule_text(ran.compiled), testing::HasSubstr("m=70 n=300 k=513"));
}

/// Two convolutions, a pooling and a convolution that another node reads too, side by side.
Graph branches(std::uint64_t seed) {
    Builder b("branches", seed);
    const ValueId x = b.input("x", ElementType::kFp32, {2, 6, 10, 10});
    const auto convolve = [&](const char* name, ValueId from, std::int64_t channels,
                              std::int64_t kernel) {
        return b.node(
            Operator::kRelu, std::string(name) + ".relu",
            {b.convolution(name, from, channels, kernel, {.pad = kernel / 2, .bias = true})});
    };
    const ValueId shared = convolve("shared", x, 5, 1);
    const ValueId join =
        b.node(Operator::kConcat, "join",
               {convolve("one", x, 7, 1), shared, convolve("three", shared, 270, 3),
                b.max_pool("pool", convolve("before", x, 9, 1), 3, 1, 1)},
               {{"axis", std::int64_t{1}}});
    return b.finish({convolve("last", join, 4, 3)});
}

TEST(CompileForTpu, MakesPartsOfAConcatenationInPlace) {
    for (const std::string buffer : {"24MiB", "256KiB", "128KiB"}) {
        const Ran ran = run_on(branches(5), "tpu_v1", {"unified_buffer.size=" + buffer});
        for (const TpuCheck& check : ran.checks) EXPECT_TRUE(check.passed) << check.message;
        for (const tpu::StepResult& step : ran.result.steps) {
            if (step.name == "join" && buffer == "24MiB") {
                EXPECT_EQ(step.instructions, 1u) << "the part that is read twice is copied";
            }
        }
    }
}

TEST(CompileForTpu, SixteenBitActivationsTakeTwoCyclesARow) {
    const BuiltinRequest request = parse_builtin("gemm:m=300,n=256,k=256");
    const auto active = [&](ElementType type) {
        return run_on(build_network(request.name, request.options), "tpu_v1", {}, type)
            .result.total()
            .active;
    };
    const TpuNetwork wide = prepare_for_tpu(build_network(request.name, request.options), 1,
                                            ElementType::kInt16, 1, false);
    const tpu::Parameters v1(*config::Machine::load("tpu_v1", {}));
    const TpuCompiled compiled = compile_for_tpu(wide.graph, {1, v1.limits()});
    ASSERT_FALSE(compiled.layers.empty());
    for (const TpuLayer& layer : compiled.layers) {
        if (layer.weight_tiles == 0) continue;
        const std::string why = explain_layer(
            layer, {.cycles = 1000, .macs = std::uint64_t{300} * 256 * 256, .active = 600},
            v1.limits());
        EXPECT_THAT(why, testing::HasSubstr("30.0% 16-bit operands"));
        EXPECT_THAT(why, testing::Not(testing::HasSubstr("fold edges")));
    }
    EXPECT_EQ(active(ElementType::kInt8), 300u);
    EXPECT_EQ(active(ElementType::kInt16), 600u);
    EXPECT_THROW(
        run_on(build_network(request.name, request.options), "tpu_v3", {}, ElementType::kInt16),
        InputError);
}

TEST(CompileForTpu, ProductsAreExplainedWhereTheyWereComputed) {
    // A layer whose products were computed while the one before it ended.
    const tpu::Parameters v1(*config::Machine::load("tpu_v1", {}));
    TpuLayer layer{.name = "shortcut", .weight_tiles = 1};
    layer.lane_use = 0.5;
    layer.column_use = 1;
    constexpr std::uint64_t kPes = 256 * 256;
    EXPECT_EQ(explain_layer(layer,
                            {.cycles = 1000,
                             .macs = 150 * kPes,
                             .active = 300,
                             .active_others = 200,
                             .active_elsewhere = 200,
                             .vector_busy = 900},
                            v1.limits()),
              "5.0% used (and 10.0% in the time of other steps); 60.0% the vector unit at work; "
              "20.0% products of other steps; 10.0% fill, drain and transfers around it; 5.0% fold "
              "edges (50% of rows, 100% of columns filled)");

    // Two branches on one array: the second is computed while the first's results are activated.
    Builder b("branches", 1);
    const ValueId x = b.input("x", ElementType::kFp32, {600, 32});
    const Graph graph = b.finish({b.linear("a", x, 32), b.linear("b", x, 32)});
    const tpu::RunResult result = run_on(graph, "tpu_v1").result;
    std::uint64_t others = 0, elsewhere = 0;
    for (const tpu::StepResult& step : result.steps) {
        EXPECT_LE(step.active_others, step.active) << step.name;
        others += step.active_others;
        elsewhere += step.active_elsewhere;
        const double share = step.share_within();
        EXPECT_TRUE(share >= 0 && share <= 1) << step.name;
    }
    EXPECT_EQ(others, elsewhere);
    EXPECT_GT(others, 0u);
    EXPECT_EQ(result.total().share_within(), 1);
}

TEST(CompileForTpu, ALayerBeginsWhenTheOneBeforeItIsComplete) {
    // Jouppi et al. (2017): the "delay slot". Six column tiles of the first layer; the second
    // reads them from the first on.
    Builder b("chain", 1);
    ValueId x = b.input("x", ElementType::kFp32, {100, 256});
    x = b.node(Operator::kRelu, "relu", {b.linear("a", x, 1536)});
    const Graph graph = b.finish({b.linear("b", x, 256)});
    const tpu::Parameters parameters(*config::Machine::load("tpu_v1", {}));
    const TpuNetwork network = prepare_for_tpu(graph, 1, {}, 1, false);
    const tpu::Program program = compile_for_tpu(network.graph, {1, parameters.limits()}).program;
    std::vector<std::uint32_t> waits;
    for (const tpu::Instruction& i : program.instructions)
        if (i.opcode() == tpu::Opcode::kMatrixMultiply)
            waits.push_back(i.wait(tpu::Queue::kVector));
    ASSERT_EQ(waits.size(), 12u);
    EXPECT_EQ(waits[6], 1u) << "the latest of the first layer's activations";
}

TEST(CompileForTpu, NeedsNoValues) {
    const tpu::RunResult result = run_without_values("resnet18");
    EXPECT_NEAR(static_cast<double>(result.total().useful_macs), 1.814e9, 0.01e9);
}

TEST(CompileForTpu, RefusesValuesWithoutElements) {
    Builder b("empty", 1);
    const ValueId x = b.input("x", ElementType::kFp32, {0, 3});
    const Graph graph = b.finish({b.linear("fc", x, 4)});
    for (const char* machine : {"tpu_v1", "tpu_v3"})
        EXPECT_THROW(run_on(graph, machine), InputError);
}

TEST(CompileForTpu, NamesAllThatItCannotCompile) {
    Builder b("odd", 1);
    const ValueId x = b.input("x", ElementType::kFp32, {4, 4});
    const ValueId y = b.node(Operator::kSin, "first", {x});
    const ValueId z = b.node(Operator::kReduceProd, "second", {y});
    try {
        run_on(b.finish({z}), "tpu_v3");
        FAIL() << "compiled";
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("first (Sin)"));
        EXPECT_THAT(error.what(), testing::HasSubstr("second (ReduceProd)"));
    }
}

}  // namespace
}  // namespace lockstep::network
