// SPDX-License-Identifier: Apache-2.0
// Networks and single operators on NPUs, to the bit against the integer reference executor.
#include "workloads/network/npu/compile.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "sim/error/error.h"
#include "tests/workloads/network/npu/run_on.h"
#include "workloads/network/builtin/builtin.h"
#include "workloads/network/graph/builder.h"
#include "workloads/network/reference/execute.h"

namespace lockstep::network {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::ThrowsMessage;

void expect_equal(const RanOnNpu& ran) {
    ASSERT_FALSE(ran.checks.empty());
    for (const compile::Check& check : ran.checks)
        EXPECT_TRUE(check.passed) << check.output << ": " << check.message;
}

Graph builtin(std::string_view text) {
    const BuiltinRequest request = parse_builtin(text);
    return build_network(request.name, request.options);
}

ValueId relu(Builder& b, const std::string& name, ValueId x) {
    return b.node(Operator::kRelu, name, {x});
}

/// Convolutions in groups, depthwise, residual, pooling, a table, parts beside each other.
Graph vision() {
    Builder b("vision", 3);
    ValueId x = b.input("x", ElementType::kFp32, {2, 6, 12, 14});
    x = relu(b, "stem.relu",
             b.convolution("stem", x, 24, 3, {.stride = 1, .pad = 1, .bias = true}));
    x = b.max_pool("pool", x, 3, 2, 1);
    const ValueId shortcut = x;
    x = b.convolution("depthwise", x, 24, 3, {.stride = 1, .pad = 1, .group = 24});
    x = b.node(Operator::kHardSwish, "swish", {x});
    x = b.convolution("groups", x, 24, 1, {.group = 2});
    x = relu(b, "add.relu", b.node(Operator::kAdd, "add", {x, shortcut}));
    const ValueId left = b.convolution("left", x, 8, 1, {}),
                  right = b.max_pool("right", x, 3, 1, 1);
    x = b.node(Operator::kConcat, "concat", {left, right}, {{"axis", std::int64_t{1}}});
    x = b.node(Operator::kAveragePool, "average", {x},
               {{"kernel_shape", std::vector<std::int64_t>{2, 2}}});
    const ValueId mean = b.node(Operator::kGlobalAveragePool, "mean", {x});
    const ValueId flat = b.node(Operator::kFlatten, "flatten", {x}, {{"axis", std::int64_t{1}}});
    const ValueId p = b.node(Operator::kSoftmax, "softmax", {b.linear("fc", flat, 10)});
    return b.finish({p, b.reshape("means", mean, {2, 32})});
}

TEST(NpuNetwork, IsTheReferenceToTheBit) {
    for (const char* machine : {"npu_mobile", "npu_edge", "npu_auto", "nvdla_large", "nvdla_small"})
        for (const int bits : {8, 4, 2}) {
            SCOPED_TRACE(std::string(machine) + " " + std::to_string(bits));
            expect_equal(
                run_on_npu(vision(), {.machine = machine, .precision = {{bits, bits}, {}}}));
            expect_equal(run_on_npu(vision(), {.machine = machine, .precision = {{bits, 8}, {}}}));
        }
}

TEST(NpuNetwork, RoundsAsItIsTold) {
    for (const Requantisation how : {Requantisation::kTfLiteAway, Requantisation::kTfLiteEven})
        expect_equal(run_on_npu(vision(), {.requantisation = how}));
}

TEST(NpuNetwork, SmallMemoriesAndAllPlansGiveTheSame) {
    for (const char* sram :
         {"sram.size=16384", "sram.size=20480", "sram.size=32768", "sram.size=65536"})
        for (const bool keeps : {false, true})
            for (const bool cascades : {false, true}) {
                SCOPED_TRACE(sram);
                expect_equal(run_on_npu(
                    vision(), {.overrides = {sram}, .keeps_values = keeps, .cascades = cascades}));
            }
}

TEST(NpuNetwork, BuiltInNetworks) {
    for (const char* name :
         {"gemm:m=33,n=70,k=129", "mlp:batch=3,hidden=100", "digits_cnn:batch=3",
          "conv2d:h=9,w=11,c=5,k=19,r=5,s=3,stride=2,pad=2", "softmax:rows=7,cols=33"}) {
        SCOPED_TRACE(name);
        expect_equal(run_on_npu(builtin(name)));
    }
}

/// A chain whose values do not fit the SRAM: stripes pass through all of it.
Graph chain() {
    Builder b("chain", 5);
    ValueId x = b.input("x", ElementType::kFp32, {1, 8, 40, 40});
    const ValueId first = x;
    x = relu(b, "expand.relu", b.convolution("expand", x, 48, 1, {}));
    x = relu(b, "depthwise.relu",
             b.convolution("depthwise", x, 48, 3, {.stride = 1, .pad = 1, .group = 48}));
    x = b.convolution("project", x, 8, 1, {});
    return b.finish({b.node(Operator::kAdd, "add", {x, first})});
}

TEST(NpuPlan, CascadesSaveMemoryTraffic) {
    const std::vector<std::string> small = {"sram.size=65536"};
    const RanOnNpu apart = run_on_npu(chain(), {.overrides = small, .cascades = false}),
                   together = run_on_npu(chain(), {.overrides = small});
    expect_equal(apart);
    expect_equal(together);
    EXPECT_LT(together.compiled.layers.size(), apart.compiled.layers.size());
    EXPECT_LT(together.result.total().dram_bytes_written * 4,
              apart.result.total().dram_bytes_written);
    EXPECT_LT(together.result.cycles, apart.result.cycles);
}

TEST(NpuPlan, KeepsValuesInTheSram) {
    const RanOnNpu kept = run_on_npu(vision()),
                   moved = run_on_npu(vision(), {.keeps_values = false, .cascades = false});
    EXPECT_LT(kept.result.total().dram_bytes_written, moved.result.total().dram_bytes_written / 3);
    EXPECT_LT(kept.result.cycles, moved.result.cycles);
}

/// Of the layer that is cut most.
std::int64_t run_slices(const Graph& graph, const char* machine, const char* sram, int bits) {
    const RanOnNpu ran =
        run_on_npu(graph, {.machine = machine, .overrides = {sram}, .precision = {{bits, 8}, {}}});
    expect_equal(ran);
    std::int64_t slices = 1;
    for (const NpuLayer& layer : ran.compiled.layers) slices = std::max(slices, layer.slices);
    return slices;
}

TEST(NpuPlan, CutsGroupedConvolutions) {
    Builder b("grouped", 3);
    ValueId x = b.input("x", ElementType::kFp32, {1, 64, 9, 9});
    const Graph graph = b.finish(
        {relu(b, "grouped.relu", b.convolution("grouped", x, 192, 3, {.pad = 1, .group = 2}))});
    for (const char* sram : {"sram.size=40960", "sram.size=65536", "sram.size=98304"}) {
        SCOPED_TRACE(sram);
        const RanOnNpu ran = run_on_npu(graph, {.overrides = {sram}});
        expect_equal(ran);
        EXPECT_GT(ran.compiled.layers.at(0).pieces, 1);
    }
}

/// A row and the weights of one group of outputs do not fit: some input channels at a time.
TEST(NpuPlan, CutsInputChannels) {
    Builder b("deep", 3);
    const ValueId x = b.input("x", ElementType::kFp32, {2, 200, 6, 7});
    ValueId y = relu(b, "deep.relu", b.convolution("deep", x, 40, 3, {.pad = 1, .bias = true}));
    y = b.convolution("back", y, 200, 1, {});
    y = b.max_pool("pool", b.node(Operator::kAdd, "add", {y, x}), 2, 2, 0);
    const Graph graph = b.finish({y});
    struct Small {
        const char *machine, *sram;
        int bits;
    };
    for (const Small& small : {Small{"npu_mobile", "sram.size=32768", 8},
                               {"npu_mobile", "sram.size=16384", 4},
                               {"npu_mobile", "sram.size=12288", 2},
                               {"npu_auto", "sram.size=32768", 8}}) {
        SCOPED_TRACE(std::string(small.machine) + " " + small.sram);
        EXPECT_GT(run_slices(graph, small.machine, small.sram, small.bits), 1);
    }
    // A vector by a matrix.
    EXPECT_GT(run_slices(builtin("gemm:m=1,n=40,k=20000"), "npu_mobile", "sram.size=262144", 8), 1);
}

/// A row of 3 x 3 windows over 600 pixels of 40 channels has 72 KB.
TEST(NpuPlan, CutsRowsInWidth) {
    for (const bool pooled : {false, true})
        for (const char* machine : {"npu_mobile", "nvdla_large"}) {
            Builder b("wide", 8);
            ValueId x = b.input("x", ElementType::kFp32, {1, 40, 5, 600});
            ValueId y = b.convolution("conv", x, 40, 3, {.pad = 1, .bias = true});
            y = relu(b, "relu", b.node(Operator::kAdd, "add", {y, x}));
            if (pooled) y = b.max_pool("pool", y, 3, 2, 1);
            y = b.convolution("deep", y, 40, 5, {.stride = 2, .pad = 2, .group = 40});
            const RanOnNpu ran =
                run_on_npu(b.finish({y}), {.machine = machine, .overrides = {"sram.size=32768"}});
            expect_equal(ran);
            std::string names;
            std::uint64_t macs = 0;
            for (const NpuLayer& layer : ran.compiled.layers) {
                names += layer.name + " ";
                macs += static_cast<std::uint64_t>(layer.macs);
            }
            EXPECT_THAT(names, HasSubstr("[0:"));
            const std::uint64_t width = pooled ? 300 : 600, height = pooled ? 3 : 5;
            EXPECT_EQ(macs, 600u * 5 * 40 * 40 * 9 + (width / 2) * ((height + 1) / 2) * 40 * 25);
        }
}

TEST(NpuPlan, MachinesThatKeepNoResultsWriteEachToMemory) {
    const auto written = [](const char* keeps) {
        const npu::Parameters parameters(*config::Machine::load("npu_mobile", {keeps}));
        const NpuTarget target = run::npu_target(parameters);
        EXPECT_EQ(target.keeps_values, target.cascades);
        return run_on_npu(vision(), {.overrides = {keeps},
                                     .keeps_values = target.keeps_values,
                                     .cascades = target.cascades})
            .result.total()
            .dram_bytes_written;
    };
    EXPECT_GT(written("sram.keeps_results=false"), 3 * written("sram.keeps_results=true"));
}

TEST(NpuPlan, TransformedWinogradWeightsTakeMoreOfMemoryAndGiveTheSame) {
    const auto run = [](const char* values) {
        const RanOnNpu ran =
            run_on_npu(builtin("conv2d:h=12,w=12,c=64,k=64"),
                       {.overrides = {"array.winograd=true", values, "memory.granule=1"}});
        expect_equal(ran);
        return ran.compiled.layers.at(0).stream_bytes;
    };
    const std::uint64_t kernels = 64 * 64;
    EXPECT_LE(run("array.winograd_values=9"), 9 * kernels);
    const double ratio = static_cast<double>(run("array.winograd_values=16")) /
                         static_cast<double>(run("array.winograd_values=9"));
    EXPECT_NEAR(ratio, 16.0 / 9, 0.01);
}

TEST(NpuPlan, FewerBitsAreFaster) {
    const auto cycles = [](int bits) {
        return run_on_npu(builtin("conv2d:h=28,w=28,c=64,k=64"), {.precision = {{bits, 8}, {}}})
            .result.cycles;
    };
    EXPECT_GT(cycles(8), 1.7 * static_cast<double>(cycles(4)));
    EXPECT_GT(cycles(4), 1.4 * static_cast<double>(cycles(2)));
}

/// Any shape of a convolution, with any of what may follow it.
RC_GTEST_PROP(NpuConvolution, IsTheReferenceToTheBit, ()) {
    const auto pick = [](std::initializer_list<std::int64_t> values) {
        return *rc::gen::elementOf(std::vector<std::int64_t>(values));
    };
    const std::int64_t kernel = pick({1, 1, 2, 3, 5}), stride = pick({1, 1, 2, 3}),
                       pad = std::min(kernel - 1, pick({0, 1, 2}));
    const std::int64_t height = pick({5, 8, 13, 20}), width = pick({5, 7, 12, 33});
    const std::int64_t channels = pick({1, 3, 8, 16, 40}), filters = pick({1, 8, 10, 16, 33, 64});
    const bool depthwise = pick({0, 0, 1}) != 0;
    Builder b("random", static_cast<std::uint64_t>(pick({1, 2, 3, 4})));
    const ValueId in = b.input("x", ElementType::kFp32, {pick({1, 2}), channels, height, width});
    ValueId x = b.convolution("conv", in, depthwise ? channels : filters, kernel,
                              {.stride = stride,
                               .pad = pad,
                               .group = depthwise ? channels : 1,
                               .bias = pick({0, 1}) != 0});
    const Operator after[] = {Operator::kRelu, Operator::kSigmoid, Operator::kTanh,
                              Operator::kLeakyRelu, Operator::kHardSwish};
    if (pick({0, 1}) != 0) x = b.node(after[pick({0, 1, 2, 3, 4})], "act", {x});
    if (b.shape(x) == b.shape(in) && pick({0, 1}) != 0) x = b.node(Operator::kAdd, "add", {x, in});
    if (pick({0, 1}) != 0) x = relu(b, "relu", x);
    const std::int64_t pool = pick({0, 2, 3});
    if (pool != 0 && b.shape(x)[2] >= pool && b.shape(x)[3] >= pool)
        x = b.max_pool("pool", x, pool, pick({1, 2}), pick({0, 1}));
    const int bits = static_cast<int>(pick({8, 8, 4, 2}));
    const NpuSettings settings{
        .machine =
            *rc::gen::elementOf(std::vector<std::string>{"npu_mobile", "nvdla_large", "npu_auto"}),
        .overrides = {"sram.size=" + std::to_string(pick({16384, 65536, 524288}))},
        .precision = {{bits, static_cast<int>(pick({8, 4}))}, {}}};
    std::optional<RanOnNpu> ran;
    try {
        const Graph graph = b.finish({x});
        RC_LOG() << dump(graph) << settings.machine << " " << settings.overrides[0] << " w"
                 << settings.precision.bits.weights << " a" << settings.precision.bits.activations;
        ran = run_on_npu(graph, settings);
    } catch (const InputError& error) {
        // Only where a row and its weights do not fit.
        RC_LOG() << error.what();
        RC_ASSERT(std::string(error.what()).find("bytes of SRAM are too few") != std::string::npos);
        RC_DISCARD("too little SRAM");
    }
    for (const compile::Check& check : ran->checks)
        if (!check.passed) RC_FAIL(check.output + ": " + check.message);
}

Graph with_lacking() {
    Builder b("lacking", 1);
    ValueId x = b.input("x", ElementType::kFp32, {1, 4, 6, 6});
    x = b.convolution("first", x, 8, 3, {.pad = 1});
    x = b.node(Operator::kExp, "exp", {x});
    x = b.convolution("second", x, 8, 3, {.pad = 1});
    x = b.node(Operator::kErf, "erf", {x});
    return b.finish({b.convolution("third", x, 4, 1, {})});
}

/// The host has the node in the middle: what follows it reads its result, not the product's.
/// Between a convolution and a pooling, as AlexNet has it; `size` channels, with a steep function.
Graph normalised(std::int64_t size) {
    Builder b("normalised", 5);
    ValueId x = b.input("x", ElementType::kFp32, {2, 5, 9, 11});
    x = relu(b, "conv.relu", b.convolution("conv", x, 20, 3, {.pad = 1, .bias = true}));
    x = b.node(Operator::kLRN, "norm", {x},
               {{"size", size}, {"alpha", 2.0f}, {"beta", 0.75f}, {"bias", 1.5f}});
    return b.finish({b.max_pool("pool", x, 3, 2, 0)});
}

TEST(NpuLocalResponse, IsTheReferenceToTheBit) {
    for (const char* machine : {"nvdla_large", "nvdla_small"})
        for (const std::int64_t size : {1, 2, 5, 9, 15})
            for (const Requantisation way :
                 {Requantisation::kTfLite, Requantisation::kTfLiteEven}) {
                SCOPED_TRACE(fmt::format("{} {}", machine, size));
                const RanOnNpu ran =
                    run_on_npu(normalised(size), {.machine = machine, .requantisation = way});
                expect_equal(ran);
                ASSERT_EQ(ran.compiled.layers.size(), 3);
                EXPECT_EQ(ran.compiled.layers[1].name, "norm");
            }
}

TEST(NpuLocalResponse, TakesTheTimeOfItsUnit) {
    const auto busy = [](const char* rate) {
        const RanOnNpu ran = run_on_npu(
            normalised(5), {.machine = "nvdla_large",
                            .overrides = {std::string("output.neighbour_values=") + rate}});
        return ran.result.steps[1].output_busy;
    };
    constexpr std::uint64_t kValues = 2 * 20 * 9 * 11;
    EXPECT_EQ(busy("1"), kValues);
    EXPECT_EQ(busy("4"), kValues / 4);
}

TEST(NpuLocalResponse, IsTheHostsWhereThereIsNoUnitOrNoTable) {
    EXPECT_THAT([] { run_on_npu(normalised(5)); },
                ThrowsMessage<InputError>(HasSubstr("norm (LRN): the NPU has no unit for it")));
    EXPECT_THAT([] { run_on_npu(normalised(17), {.machine = "nvdla_large"}); },
                ThrowsMessage<InputError>(HasSubstr("norm (LRN): it computes floats")));
    expect_equal(run_on_npu(normalised(5), {.host = true}));
    expect_equal(run_on_npu(normalised(17), {.machine = "nvdla_large", .host = true}));
}

/// ONNX's, in floats: the array multiplies the zeros between the pixels, as of TensorFlow Lite's.
TEST(NpuTransposedConvolution, IsOneProduct) {
    for (const std::int64_t group : {1, 2}) {
        Builder b("transposed", 4);
        const ValueId x = b.input("x", ElementType::kFp32, {2, 4, 5, 6});
        const ValueId y =
            b.node(Operator::kConvTranspose, "up",
                   {x, b.weight("w", {4, 3, 3, 4}, 0.4f), b.weight("bias", {3 * group}, 0.4f)},
                   {{"group", group},
                    {"strides", std::vector<std::int64_t>{2, 3}},
                    {"output_padding", std::vector<std::int64_t>{1, 0}},
                    {"pads", std::vector<std::int64_t>{1, 1, 0, 2}}});
        const RanOnNpu ran = run_on_npu(b.finish({relu(b, "relu", y)}));
        expect_equal(ran);
        ASSERT_EQ(ran.compiled.layers.size(), 1);
        EXPECT_EQ(ran.compiled.layers[0].name, "up+relu");
    }
}

TEST(NpuHost, TakesPackedValues) {
    for (const int bits : {4, 2}) {
        Builder b("packed", 6);
        ValueId x = b.input("x", ElementType::kFp32, {2, 3, 6, 5});
        x = relu(b, "relu", b.convolution("conv", x, 7, 3, {.pad = 1}));
        // The host's, between two products that want narrow operands.
        x = b.node(Operator::kLRN, "norm", {x}, {{"size", std::int64_t{3}}});
        x = b.max_pool("pool", x, 3, 1, 1);
        const RanOnNpu ran = run_on_npu(b.finish({b.convolution("last", x, 5, 1, {})}),
                                        {.precision = {{bits, bits}, {}}, .host = true});
        expect_equal(ran);
        EXPECT_FALSE(ran.compiled.host_tasks.empty());
    }
}

TEST(NpuHost, TakesANodeOutOfALayer) {
    Builder b("between", 3);
    const ValueId x = b.input("x", ElementType::kFp32, {2, 6, 9, 4});
    ValueId y = b.convolution("conv", x, 8, 1, {});
    y = b.node(Operator::kMul, "planes", {y, b.weight("c", {8, 9, 4}, 0.5f, 1)});
    expect_equal(run_on_npu(b.finish({b.max_pool("pool", y, 3, 2, 1)}), {.host = true}));
}

/// Of what the host makes a part is a result, another part an operand of the host's next node.
TEST(NpuHost, MakesValuesThatAreSeenInParts) {
    Builder b("parts", 3);
    const auto integers = [&](const char* name, std::int64_t value) {
        return b.constant(name, make_tensor({1}, std::span<const std::int64_t>(&value, 1)));
    };
    const ValueId x = b.input("x", ElementType::kFp32, {2, 8, 6, 5});
    const ValueId y = b.node(Operator::kMul, "planes",
                             {b.convolution("conv", x, 6, 1, {}), b.weight("c", {6, 6, 5}, 0.5f)});
    const ValueId part = b.node(Operator::kSlice, "slice",
                                {y, integers("from", 2), integers("to", 4), integers("axis", 3)});
    const ValueId flat = b.node(Operator::kFlatten, "flat", {part}, {{"axis", std::int64_t{1}}});
    expect_equal(run_on_npu(b.finish({part, b.linear("fc", flat, 10)}), {.host = true}));
}

/// Softmax over channels of what no window touches, which has as many columns; rows beside rows.
TEST(NpuHost, TakesWhatOnlyLooksLikeChannels) {
    Builder b("rows", 3);
    const ValueId x = b.input("x", ElementType::kFp32, {1, 8, 3, 8});
    const ValueId z = b.input("z", ElementType::kFp32, {2, 3, 4}), w = b.linear("w", z, 4);
    expect_equal(run_on_npu(
        b.finish({b.node(Operator::kSoftmax, "softmax", {x}, {{"axis", std::int64_t{1}}}),
                  b.node(Operator::kConcat, "concat", {w, w}, {{"axis", std::int64_t{1}}})}),
        {.host = true}));
}

TEST(NpuHost, WhatIsLackingIsRefusedAllAtOnce) {
    EXPECT_THAT([] { run_on_npu(with_lacking()); },
                ThrowsMessage<InputError>(
                    AllOf(HasSubstr("exp (Exp)"), HasSubstr("erf (Erf)"), HasSubstr("--host"))));
}

TEST(NpuHost, RunsWhatIsLacking) {
    const RanOnNpu ran = run_on_npu(with_lacking(), {.host = true});
    expect_equal(ran);
    EXPECT_EQ(ran.compiled.host_tasks.size(), 2u);
    EXPECT_GT(ran.result.total().host_busy, 0u);
}

// Query, key and value are parts of one product's channels.
TEST(NpuHost, ReadsPartsOfAValue) {
    expect_equal(run_on_npu(builtin("char_transformer:layers=1,seq=4,hidden=8,heads=2,batch=2"),
                            {.host = true}));
}

/// Not one node of attention is the host's: scores, scale, mask, softmax, context.
TEST(NpuProductsOfValues, AttentionStaysOnTheNpu) {
    for (const char* network :
         {"attention:heads=2,seq=8,d=16", "attention:batch=3,heads=4,seq=5,d=4",
          "attention:batch=2,heads=4,kv_heads=2,seq=8,queries=1,d=16"})
        for (const char* machine : {"npu_mobile", "npu_auto", "nvdla_small"}) {
            SCOPED_TRACE(std::string(network) + " " + machine);
            const RanOnNpu ran = run_on_npu(builtin(network), {.machine = machine});
            expect_equal(ran);
            EXPECT_TRUE(ran.compiled.host_tasks.empty());
        }
    const RanOnNpu ran = run_on_npu(
        builtin("char_transformer:layers=2,seq=6,hidden=16,heads=4,batch=2"), {.host = true});
    expect_equal(ran);
    for (const NpuLayer& layer : ran.compiled.layers) {
        const bool host = layer.name.starts_with("host:");
        EXPECT_FALSE(host && layer.name.find("attention") != std::string::npos) << layer.name;
    }
}

/// The array does their multiplications, in few rows at a time where the SRAM is small.
TEST(NpuProductsOfValues, AreCountedAndCut) {
    const auto run = [](const char* sram) {
        const RanOnNpu ran = run_on_npu(builtin("attention:heads=2,seq=64,d=32"),
                                        {.overrides = {sram}, .keeps_values = false});
        expect_equal(ran);
        EXPECT_EQ(ran.result.total().macs, 2u * 2 * 64 * 64 * 32);
        return ran.compiled.layers.at(0).stripes;
    };
    EXPECT_EQ(run("sram.size=524288"), 2);
    EXPECT_GT(run("sram.size=6144"), 2);
}

/// What a softmax makes 0 takes no part of the range: with a mask of -10000 and one step for all
/// scores, each row would be uniform.
TEST(NpuProductsOfValues, AMaskLeavesTheScoresTheirSteps) {
    Builder b("masked", 7);
    const ValueId q = b.input("q", ElementType::kFp32, {1, 2, 6, 8}),
                  k = b.input("k", ElementType::kFp32, {1, 2, 8, 6});
    Tensor later(ElementType::kFp32, {1, 1, 6, 6});
    for (std::size_t i = 0; i < 36; ++i) later.as<float>()[i] = i % 6 > i / 6 ? -10000.0f : 0.0f;
    const ValueId scores = b.node(Operator::kMatMul, "scores", {q, k}),
                  masked = b.node(Operator::kAdd, "mask", {scores, b.constant("later", later)});
    const Graph graph = b.finish({b.node(Operator::kSoftmax, "softmax", {masked})});
    const compile::Prepared prepared = prepare_for_npu(legalise_for_npu(graph), {}, 1, true);
    const std::vector<Tensor> y =
        execute(prepared.graph, prepared.inputs, Precision::kFp32, {}, Requantisation::kTfLite);
    const std::vector<std::int64_t> stored = to_integers(y.at(0));
    for (std::size_t i = 0; i < stored.size(); ++i)
        EXPECT_NEAR(static_cast<double>(stored[i] + 128) / 256, prepared.real_outputs.at(0)[i],
                    0.02);
    expect_equal(run_on_npu(graph));
}

/// Any shapes and orders of two values; heads that are split from channels and joined again.
RC_GTEST_PROP(NpuProductsOfValues, AreTheReferenceToTheBit, ()) {
    const auto pick = [](std::initializer_list<std::int64_t> values) {
        return *rc::gen::elementOf(std::vector<std::int64_t>(values));
    };
    const std::int64_t batch = pick({1, 2, 3}), heads = pick({1, 2, 4}), m = pick({1, 3, 8, 33}),
                       k = pick({2, 8, 16, 40}), n = pick({1, 4, 7, 32});
    Builder b("random", 3);
    const auto split = [&](const char* name, ValueId x, std::int64_t rows, std::int64_t columns,
                           bool turned) {
        x = b.reshape(std::string(name) + ".heads", x, {batch, rows, heads, columns});
        return b.transpose(
            std::string(name) + ".turn", x,
            turned ? std::vector<std::int64_t>{0, 2, 3, 1} : std::vector<std::int64_t>{0, 2, 1, 3});
    };
    const bool turned = pick({0, 1}) != 0, one_matrix = pick({0, 0, 1}) != 0;
    ValueId x = b.input("x", ElementType::kFp32, {batch, m, heads * k});
    if (pick({0, 1}) != 0) x = b.linear("x.linear", x, heads * k);
    const ValueId left = split("left", x, m, k, false);
    ValueId right = kNoValue;
    if (one_matrix) {
        right = b.input("y", ElementType::kFp32, {k, n});
    } else if (turned) {
        right = split("right", b.input("y", ElementType::kFp32, {batch, n, heads * k}), n, k, true);
    } else {
        right =
            split("right", b.input("y", ElementType::kFp32, {batch, k, heads * n}), k, n, false);
    }
    ValueId z = b.node(Operator::kMatMul, "product", {left, right});
    if (pick({0, 1}) != 0) z = relu(b, "relu", z);
    if (pick({0, 1}) != 0) {
        z = b.reshape("joined", b.transpose("join", z, {0, 2, 1, 3}), {batch, m, heads * n});
        if (pick({0, 1}) != 0) z = b.linear("out", z, 12);
    }
    const Graph graph = b.finish({z});
    const int bits = static_cast<int>(pick({8, 8, 4, 2}));
    const NpuSettings settings{
        .machine =
            *rc::gen::elementOf(std::vector<std::string>{"npu_mobile", "nvdla_large", "npu_auto"}),
        .overrides = {"sram.size=" + std::to_string(pick({16384, 65536, 524288}))},
        .precision = {{bits, static_cast<int>(pick({8, 8, 4}))}, {}},
        .host = true};
    RC_LOG() << dump(graph) << settings.machine << " " << settings.overrides[0];
    const RanOnNpu ran = run_on_npu(graph, settings);
    for (const compile::Check& check : ran.checks)
        if (!check.passed) RC_FAIL(check.output + ": " + check.message);
    RC_ASSERT(ran.compiled.host_tasks.empty());
}

TEST(NpuCompile, RefusesWhatDoesNotFit) {
    EXPECT_THAT(
        [] {
            run_on_npu(builtin("gemm:m=4,n=64,k=4096"),
                       {.overrides = {"sram.size=4096", "accumulators.size=0"}});
        },
        ThrowsMessage<InputError>(
            AllOf(HasSubstr("bytes of SRAM are too few"), HasSubstr("keep no sums"))));
}

}  // namespace
}  // namespace lockstep::network
