// SPDX-License-Identifier: Apache-2.0
// The kernels that a network becomes from generation 2 on: what they move, and what they wait for.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/workloads/network/tpu/run_on.h"

namespace lockstep::network {
namespace {

tpu::StepResult total(std::string_view workload, const std::vector<std::string>& settings = {}) {
    BuiltinRequest request = parse_builtin(workload);
    return run_on(build_network(request.name, request.options), "tpu_v3", settings, request.dtype)
        .result.total();
}

/// Of values that nobody makes.
tpu::StepResult time_of(Graph graph, const char* machine,
                        const std::vector<std::string>& settings = {},
                        std::optional<ElementType> type = {}) {
    const tpu::Parameters parameters(*config::Machine::load(machine, settings));
    const TpuNetwork network =
        prepare_for_tpu(std::move(graph), parameters.generation, type, 1, false);
    const TpuCompiled compiled = compile_for_tpu(network.graph, run::tpu_target(parameters));
    tpu::Storage storage(compiled.program, false);
    return tpu::run(compiled.program, parameters, storage, {.values = false}).total();
}

tpu::StepResult time_of(std::string_view workload, const char* machine,
                        const std::vector<std::string>& settings = {}) {
    BuiltinRequest request = parse_builtin(workload);
    request.options.with_values = false;
    return time_of(build_network(request.name, request.options), machine, settings, request.dtype);
}

constexpr double kMiB = 1 << 20;

TEST(Kernels, SoftmaxReadsItsOperandThreeTimes) {
    // Maxima, sums, results; a maximum and a factor for each row beside them.
    const tpu::StepResult step = total("softmax:rows=512,cols=512");
    EXPECT_EQ(step.dram_bytes_read, 3 * (1u << 20) + 3 * 2048);
    EXPECT_EQ(step.dram_bytes_written, (1u << 20) + 2 * 2048);
}

TEST(Kernels, LayerNormalisationWritesNormalisedRowsBeforeTheyAreScaled) {
    const tpu::StepResult step = total("layernorm:rows=1024,cols=256");
    EXPECT_NEAR(double(step.dram_bytes_read), 4 * kMiB, 0.02 * kMiB);
    EXPECT_NEAR(double(step.dram_bytes_written), 2 * kMiB, 0.02 * kMiB);
}

TEST(Kernels, AttentionStoresScoresAndNoProbabilities) {
    for (const char* axis : {"-1", "-2"}) {
        const tpu::StepResult step =
            total(fmt::format("attention:heads=2,seq=512,d=64,axis={}", axis));
        // 1 MiB of scores a head: written once, read for their sums and for the context. 128 KiB a
        // head of queries, keys, values and context.
        EXPECT_NEAR(double(step.dram_bytes_written), 2 * kMiB + 0.25 * kMiB, 0.05 * kMiB);
        EXPECT_NEAR(double(step.dram_bytes_read), 4 * kMiB + 0.75 * kMiB, 0.05 * kMiB);
    }
}

TEST(Kernels, AttentionInBlocksKeepsItsScoresOnTheChip) {
    // 128 KiB of queries, keys, values and context a head; each of two blocks of queries meets all
    // keys and values.
    const tpu::StepResult step = total("attention:heads=2,seq=512,d=64,block=256");
    EXPECT_EQ(step.dram_bytes_read, 2 * (128u << 10) * (1 + 2 * 2));
    EXPECT_EQ(step.dram_bytes_written, 2 * (128u << 10));
}

TEST(Kernels, AttentionInBlocksEqualsTheReference) {
    struct Case {
        const char *workload, *machine;
    };
    for (const Case& x : std::initializer_list<Case>{
             {"attention:heads=2,seq=256,d=64,block=128", "tpu_v3"},
             {"attention:heads=2,seq=300,d=64,block=128", "tpu_v6e"},
             {"attention:batch=2,heads=3,seq=64,d=16,block=64", "tpu_v4"},
             {"attention:heads=2,seq=100,d=300,block=64", "tpu_v4"},
             {"attention:heads=1,seq=33,d=16,block=7", "tpu_v2"},
             {"attention:heads=2,seq=256,d=64,block=128,dtype=bf16", "tpu_v5e"},
             {"attention:heads=2,seq=64,d=64,block=1000", "tpu_v3"},
             {"attention:heads=3,seq=777,d=130,block=700", "tpu_v3"},
             {"attention:heads=2,seq=300,d=64,block=64,causal=1", "tpu_v3"},
             {"bert_block:hidden=128,heads=2,seq=96,block=32", "tpu_v3"},
             {"bert_block:hidden=128,heads=2,seq=96,batch=2,block=32", "tpu_v4"},
             {"bert_block:hidden=128,heads=2,seq=96,block=64,dtype=bf16", "tpu_v5e"},
             {"attention:heads=1,seq=200,d=32,block=64,causal=1,dtype=bf16", "tpu_v6e"},
             {"attention:heads=6,kv_heads=2,seq=90,d=32,block=32,causal=1", "tpu_v3"},
             {"attention:heads=6,kv_heads=2,seq=90,queries=7,d=32,block=32,causal=1", "tpu_v3"},
             {"attention:batch=2,heads=8,kv_heads=2,seq=128,queries=1,d=64,block=64,page=16",
              "tpu_v6e"}}) {
        const BuiltinRequest request = parse_builtin(x.workload);
        const Ran ran =
            run_on(build_network(request.name, request.options), x.machine, {}, request.dtype);
        ASSERT_FALSE(ran.checks.empty());
        for (const TpuCheck& check : ran.checks)
            EXPECT_TRUE(check.passed) << x.workload << ": " << check.message;
    }
}

TEST(Kernels, AttentionInBlocksLeavesOutWhatACausalMaskTakesAway) {
    // Of 4 x 4 blocks 10 have keys that a query may see.
    const auto multiplications = [](const char* causal) {
        const BuiltinRequest request =
            parse_builtin(fmt::format("attention:heads=1,seq=512,d=64,block=128{}", causal));
        return count(
            run_on(build_network(request.name, request.options), "tpu_v3").compiled.program,
            tpu::Opcode::kMatrixMultiply);
    };
    EXPECT_EQ(16 * multiplications(",causal=1"), 10 * multiplications(""));
}

TEST(Kernels, AttentionInBlocksMakesACausalMaskOfNumbers) {
    // Queries, and for each of two blocks of them its one or two blocks of keys and values; a
    // number for each query and for each key, and no mask of 512 x 512.
    const tpu::StepResult step = total("attention:heads=2,seq=512,d=64,block=256,causal=1");
    EXPECT_EQ(step.dram_bytes_read, 2 * (128u << 10) * (1 + 3) + 2 * 512 * 4);
    // As Pallas's kernel does, in blocks that it takes nothing from, too.
    const auto busy = [](const char* causal) {
        return total(fmt::format("attention:heads=2,seq=512,d=64,block=256{}", causal)).vector_busy;
    };
    EXPECT_GT(4 * busy(",causal=1"), 3 * busy(""));
}

TEST(Kernels, KeysInPagesAreATransferForEach) {
    // A sequence of 1024 keys in pages of 16, for each of two heads of keys and of values: the
    // queue sets each of them up.
    const auto step = [&](int page, const char* setup) {
        return time_of(fmt::format("attention:heads=8,kv_heads=2,seq=1024,queries=1,d=64,"
                                   "dtype=bf16,block=256,page={}",
                                   page),
                       "tpu_v6e", {std::string("dma.setup=") + setup});
    };
    EXPECT_EQ(step(16, "32").dram_bytes_read, step(256, "32").dram_bytes_read);
    constexpr std::uint64_t kPages = 2 * 2 * 1024 / 16, kLonger = 1000;
    EXPECT_GT(step(16, "1032").cycles, step(16, "32").cycles + (kPages - 1) * kLonger);
    EXPECT_LT(step(256, "1032").cycles, step(256, "32").cycles + kPages / 4 * kLonger);
}

TEST(Kernels, HeadsThatShareKeysReadThemOnce) {
    // A query of each of 8 heads; 2 heads of 256 keys and values of 64 bf16.
    for (const char* block : {"", ",block=128"}) {
        const tpu::StepResult step = time_of(
            fmt::format("attention:heads=8,kv_heads=2,seq=256,queries=1,d=64,dtype=bf16{}", block),
            "tpu_v6e");
        EXPECT_NEAR(double(step.dram_bytes_read), 2 * 2 * 256 * 64 * 2, 0.05 * kMiB) << block;
    }
}

TEST(Kernels, AttentionInBlocksKeepsAllKeysOfAQueryThatMaySeeNone) {
    // Query 0 may see key 0, the others none: their scores are all as far away.
    constexpr std::int64_t kSeq = 16, kSize = 8;
    Builder b("masked", 1);
    const Shape shape = {1, 1, kSeq, kSize};
    const ValueId q = b.input("q", ElementType::kFp32, shape),
                  k = b.input("k", ElementType::kFp32, shape),
                  v = b.input("v", ElementType::kFp32, shape);
    Tensor mask(ElementType::kFp32, {kSeq, kSeq});
    std::ranges::fill(mask.as<float>(), -10000.0f);
    mask.as<float>()[0] = 0;
    ValueId x = b.node(Operator::kMatMul, "scores", {q, b.transpose("columns", k, {0, 1, 3, 2})});
    x = b.node(Operator::kAdd, "add", {x, b.constant("mask", std::move(mask))});
    x = b.node(Operator::kSoftmax, "softmax", {x},
               {{"axis", std::int64_t{-1}}, {"block", kSeq / 2}});
    const Ran ran = run_on(b.finish({b.node(Operator::kMatMul, "context", {x, v})}), "tpu_v3");
    for (const TpuCheck& check : ran.checks) EXPECT_TRUE(check.passed) << check.message;
}

TEST(Kernels, AttentionInBlocksIsFasterWhereScoresAreMany) {
    const auto cycles = [](const char* block) {
        return time_of(fmt::format("attention:heads=4,seq=2048,d=128,dtype=bf16{}", block),
                       "tpu_v6e")
            .cycles;
    };
    EXPECT_LT(cycles(",block=512"), cycles(""));
}

TEST(Kernels, ContextsOfSmallHeadsOverlap) {
    // Probabilities of the next heads are made while the arrays are at one: a head more costs its
    // share of the units, not the way of its rows through an array.
    const auto cycles = [](int heads) {
        return double(
            time_of(fmt::format("attention:heads={},seq=128,d=64,dtype=bf16", heads), "tpu_v6e")
                .cycles);
    };
    const tpu::Parameters v6e(*config::Machine::load("tpu_v6e"));
    EXPECT_LT((cycles(32) - cycles(16)) / 16, double(128 + v6e.array.rows + v6e.array.columns));
}

TEST(Kernels, ValuesThatProductsAloneReadAreHalfAsLong) {
    // Two layers of a perceptron: 512 x 512 values between them.
    const tpu::StepResult narrow = total("mlp:batch=512,input=512,hidden=512,layers=2,classes=512");
    const double weights = 3 * kMiB, ends = 2 * kMiB, between = 2 * 0.5 * 2 * kMiB;
    EXPECT_NEAR(double(narrow.dram_bytes_read + narrow.dram_bytes_written),
                weights + ends + between, 0.05 * kMiB);
}

TEST(Kernels, ValuesStayOnTheChipWhereTheCompilerMayKeepThem) {
    const char* const workload = "bert_block:hidden=128,heads=2,seq=128";
    const tpu::StepResult memory = total(workload),
                          chip = total(workload, {"compiler.resident_share=0.5"});
    EXPECT_LT(chip.dram_bytes_written, memory.dram_bytes_written / 4);
    EXPECT_LT(chip.cycles, memory.cycles);
}

TEST(Kernels, SmallValuesOfSixteenBitsFillHalfARegister) {
    // 512 KiB of bf16, and of fp32, whose tiles are the registers themselves.
    for (const char* workload :
         {"exp:rows=256,cols=1024,dtype=bf16", "add:rows=256,cols=1024,dtype=bf16"}) {
        const auto busy = [&](const char* from) {
            return total(workload, {fmt::format("compiler.full_tiles={}", from)}).vector_busy;
        };
        EXPECT_EQ(busy("1MiB"), 2 * busy("512KiB")) << workload;
        EXPECT_EQ(busy("512KiB"), busy("0")) << workload;
    }
    const char* const fp32 = "exp:rows=256,cols=512";
    EXPECT_EQ(total(fp32, {"compiler.full_tiles=1MiB"}).vector_busy, total(fp32).vector_busy);
}

TEST(Kernels, OperationsOfElementsThatFollowEachOtherAreOneKernel) {
    // Two operands and a result of 4 MiB; what is between stays in VMEM.
    const tpu::StepResult step = total("triad:rows=1024,cols=1024");
    EXPECT_EQ(step.dram_bytes_read, 8u << 20);
    EXPECT_EQ(step.dram_bytes_written, 4u << 20);
}

TEST(Kernels, SmallMatricesThatFollowEachOtherAreLoadedTogether) {
    // 200 of 8 x 16, along their rows.
    const auto program = [](Operator op, Attributes attributes) {
        Builder b("rows", 1);
        const ValueId x = b.input("x", ElementType::kFp32, {200, 8, 16});
        Ran ran = run_on(b.finish({b.node(op, "joined", {x}, std::move(attributes))}), "tpu_v3");
        for (const TpuCheck& check : ran.checks) EXPECT_TRUE(check.passed) << check.message;
        return ran.compiled.program;
    };
    const tpu::Program softmax = program(Operator::kSoftmax, {{"axis", std::int64_t{1}}});
    // Two windows of 64 KiB: of rows by three kernels, of statistics by two and one.
    EXPECT_EQ(count(softmax, tpu::Opcode::kLoad), 2u * 6);
    EXPECT_EQ(count(softmax, tpu::Opcode::kStore), 2u * 3);
    for (const Operator op : {Operator::kReduceMax, Operator::kReduceMean})
        EXPECT_EQ(count(program(op, {{"axes", std::vector<std::int64_t>{1}}}), tpu::Opcode::kLoad),
                  2u);
}

TEST(Kernels, OperationsThatFollowEachOtherAreOneLoop) {
    // 1024 registers of 1024 elements: a load and a store of each, whatever is done between, until
    // the ALU slots have more to do.
    const auto busy = [](std::vector<Operator> operations,
                         const std::vector<std::string>& settings = {}) {
        Builder b("chain", 1, false);
        ValueId x = b.input("x", ElementType::kFp32, {1024, 1024});
        for (std::size_t i = 0; i < operations.size(); ++i)
            x = b.node(operations[i], "n" + std::to_string(i), {x});
        return time_of(b.finish({x}), "tpu_v3", settings).vector_busy;
    };
    using enum Operator;
    EXPECT_EQ(busy({kAbs}), 1024u);
    EXPECT_EQ(busy({kAbs, kNeg}), 1024u);
    EXPECT_EQ(busy({kAbs, kNeg, kAbs, kNeg}), 2048u);
    // With few registers, constants that stay have no room: two loops.
    const auto constants = [](const char* registers) {
        Builder b("chain", 1, false);
        ValueId x = b.input("x", ElementType::kFp32, {1024, 1024});
        for (int i = 0; i < 3; ++i) {
            const float number = 1.0f + static_cast<float>(i);
            x = b.node(Operator::kMul, "n" + std::to_string(i),
                       {x, b.constant("c" + std::to_string(i),
                                      make_tensor({}, std::span<const float>(&number, 1)))});
        }
        return time_of(b.finish({x}), "tpu_v3", {std::string("vector.registers=") + registers})
            .vector_busy;
    };
    EXPECT_EQ(constants("5"), 1536u);
    EXPECT_EQ(constants("4"), 2 * 1024u);
}

/// What makes a vector unit slower, in a softmax that waits for it: memory is four times as fast.
TEST(Kernels, ASoftmaxThatIsBoundByTheVectorUnitFeelsEachOfItsParts) {
    const auto cycles = [](const std::string& slower) {
        return total("softmax:rows=512,cols=1024", {"memory.clock=3516", slower}).cycles;
    };
    const std::uint64_t base = cycles("vector.lanes=128");
    for (const char* slower : {"vector.lanes=32", "vector.sublanes=2", "vector.alu_slots=1",
                               "vector.transcendental_ops=32", "vector.cross_lane_cycles=512",
                               "vector.cross_lane_latency=4000"})
        EXPECT_GT(cycles(slower), base) << slower;
    EXPECT_LT(cycles("vector.alu_slots=8"), base);
    // And as it is, only what is far too slow does.
    const std::uint64_t bound = total("softmax:rows=512,cols=1024").cycles;
    EXPECT_GT(total("softmax:rows=512,cols=1024", {"vector.lanes=32"}).cycles, bound);
}

TEST(Kernels, SmallProductsAreLoadedSeveralAhead) {
    // 64 of 128 x 64 times 64 x 128: a longer way to the memory is waited for a few times, not by
    // each of them.
    const auto cycles = [](const char* latency) {
        Builder b("products", 1, false);
        const ValueId x = b.input("x", ElementType::kFp32, {64, 128, 64}),
                      y = b.input("y", ElementType::kFp32, {64, 64, 128});
        return time_of(b.finish({b.node(Operator::kMatMul, "product", {x, y})}), "tpu_v3",
                       {std::string("memory.latency=") + latency})
            .cycles;
    };
    constexpr std::uint64_t kLonger = 940;  // cycles of 1000 ns
    EXPECT_LT(cycles("1250"), cycles("250") + 6 * kLonger);
}

TEST(Kernels, SmallProductsOfSeveralTilesOverlap) {
    // Two tiles of columns each, on four units: not one product after the other.
    const auto cycles = [](std::int64_t batch) {
        Builder b("products", 1, false);
        const ValueId x = b.input("x", ElementType::kFp32, {batch, 128, 64}),
                      y = b.input("y", ElementType::kFp32, {batch, 64, 384});
        return time_of(b.finish({b.node(Operator::kMatMul, "product", {x, y})}), "tpu_v6e", {},
                       ElementType::kBf16)
            .cycles;
    };
    constexpr std::uint64_t kAlone = 700;  // cycles of a product, its fill and drain
    EXPECT_LT(cycles(12) - cycles(2), 10 * kAlone / 2);
}

TEST(Kernels, ProductsJustOverHalfAWindowShareIt) {
    // Scores of 256 x 256 are half a window of 256 KiB; each tile of 256 columns begins at 257.
    const auto cycles = [](int seq) {
        return static_cast<double>(
            time_of(fmt::format("attention:heads=12,seq={},d=64,axis=-2,dtype=bf16", seq),
                    "tpu_v6e")
                .cycles);
    };
    EXPECT_LT(cycles(257) / cycles(256), 1.3);
}

TEST(Kernels, WeightsAreReadOnceWhereTheyFitWhateverTheRows) {
    for (const std::uint64_t rows : {1000, 1280, 2500})
        EXPECT_EQ(time_of(fmt::format("gemm:m={},n=1024,k=8192,dtype=bf16", rows), "tpu_v6e")
                      .dram_bytes_read,
                  (rows + 1024) * 8192 * 2);
}

TEST(Kernels, ASumOfPowersIsOneKernel) {
    // Two values of 1 MiB are read once each, and nothing of their size is written.
    const tpu::StepResult step = total("sums:rows=256,cols=1024,inputs=2,exp=1");
    EXPECT_NEAR(double(step.dram_bytes_read), 2 * kMiB, 0.01 * kMiB);
    EXPECT_LT(step.dram_bytes_written, 1024u);
}

TEST(Kernels, NumbersOfAChainPassThroughMemory) {
    // A sum, and what the next step takes of it: each is stored and loaded again.
    const auto step = [](const char* latency) {
        const auto cycles = [&](int steps) {
            return time_of(fmt::format("sums:rows=8,cols=1024,exp=1,steps={}", steps), "tpu_v6e",
                           {std::string("memory.latency=") + latency})
                .cycles;
        };
        return cycles(5) - cycles(4);
    };
    constexpr std::uint64_t kLonger = 1750;  // cycles of 1000 ns
    EXPECT_NEAR(double(step("1395") - step("395")), 4 * kLonger, 16);
}

TEST(Kernels, AWindowIsLoadedBeforeItIsComputed) {
    // 1 MiB by sixteenths: the vector unit's work passes beside the load; as a whole: after it.
    const auto cycles = [](const char* window) {
        return time_of("sums:rows=256,cols=1024,exp=1", "tpu_v6e",
                       {std::string("compiler.window=") + window})
            .cycles;
    };
    const auto busy = time_of("sums:rows=256,cols=1024,exp=1", "tpu_v6e").vector_busy;
    EXPECT_GT(cycles("1MiB"), cycles("0") + busy / 2);
}

TEST(Kernels, ARowThatIsAddedToAllStaysWhileTheyPass) {
    Builder b("add", 1, false);
    const ValueId x = b.input("x", ElementType::kFp32, {8192, 1024}),
                  row = b.input("row", ElementType::kFp32, {1, 1024});
    EXPECT_EQ(
        time_of(b.finish({b.node(Operator::kAdd, "add", {x, row})}), "tpu_v3").dram_bytes_read,
        (8192u + 1) * 4096);
}

TEST(Kernels, MeansOfAChainPassThroughMemoryAndItsProductsStay) {
    // A step more reads the weights again, writes and reads a mean for each row.
    const auto step = [](int steps) {
        return time_of(fmt::format("gemm:m=512,n=512,k=1024,dtype=bf16,steps={}", steps),
                       "tpu_v6e");
    };
    EXPECT_EQ(step(6).dram_bytes_read - step(5).dram_bytes_read, 1024u * 512 * 2 + 512 * 2);
    EXPECT_EQ(step(6).dram_bytes_written - step(5).dram_bytes_written, 512u * 2);
}

TEST(Kernels, AMaximumOfOneIsNoReduction) {
    const auto cycles = [](Operator op, Attributes attributes) {
        Builder b("one", 0, false);
        const ValueId x = b.input("x", ElementType::kFp32, {1024, 1, 512});
        return time_of(b.finish({b.node(op, "y", {x}, std::move(attributes))}), "tpu_v4").cycles;
    };
    const std::uint64_t copy = cycles(Operator::kRelu, {});
    for (const Operator op : {Operator::kReduceMax, Operator::kReduceMean})
        for (const std::int64_t kept : {0, 1})
            EXPECT_LE(cycles(op, {{"axes", std::vector<std::int64_t>{1}}, {"keepdims", kept}}),
                      copy);
}

TEST(Kernels, RowsAreJoinedInOnePass) {
    const auto moved = [](Operator op) {
        Builder b("joined", 1, false);
        const ValueId x = b.input("x", ElementType::kFp32, {8, 64, 256});
        const ValueId y =
            op == Operator::kSoftmax
                ? b.node(op, "y", {x}, {{"axis", std::int64_t{0}}})
                : b.node(op, "y", {x},
                         {{"axes", std::vector<std::int64_t>{1}}, {"keepdims", std::int64_t{0}}});
        return time_of(b.finish({y}), "tpu_v3");
    };
    constexpr std::uint64_t kBytes = 8 * 64 * 256 * 4, kStatistics = 64 * 256 * 4;
    EXPECT_EQ(moved(Operator::kReduceSum).dram_bytes_read, kBytes);
    EXPECT_EQ(moved(Operator::kReduceSum).dram_bytes_written, kBytes / 64);
    EXPECT_EQ(moved(Operator::kSoftmax).dram_bytes_read, 3 * (kBytes + kStatistics));
}

TEST(Kernels, FourDimensionsAreJoinedInOnePass) {
    std::vector<std::uint64_t> cycles;
    for (const std::int64_t axis : {0, 1, 2}) {
        Builder b("sums", 1, false);
        const ValueId x = b.input("x", ElementType::kFp32, {8, 64, 56, 56});
        const ValueId sums =
            b.node(Operator::kReduceSum, "sums", {x}, {{"axes", std::vector<std::int64_t>{axis}}});
        const tpu::StepResult result = time_of(b.finish({sums}), "tpu_v3");
        EXPECT_EQ(result.dram_bytes_read, 8u * 64 * 56 * 56 * 4) << axis;
        cycles.push_back(result.cycles);
    }
    // Few long rows take no longer than many short ones, but for the larger result.
    EXPECT_LE(cycles[0], cycles[1] * 5 / 4);
}

TEST(Kernels, ValuesThatLieAcrossAreReadOnce) {
    Builder b("turned", 1, false);
    const ValueId x = b.input("x", ElementType::kFp32, {8, 64, 256});
    const ValueId turned = b.transpose("turned", x, {0, 2, 1});
    const ValueId sums =
        b.node(Operator::kReduceSum, "sums", {b.reshape("rows", turned, {2048, 64})},
               {{"axes", std::vector<std::int64_t>{1}}, {"keepdims", std::int64_t{0}}});
    EXPECT_EQ(time_of(b.finish({sums}), "tpu_v6e").dram_bytes_read, 8u * 64 * 256 * 4);
}

TEST(Kernels, PixelsThatArePaddedToRegistersArePackedByNobody) {
    // 100 channels take as long as 128; 64, of which two share a register, are packed.
    const auto cycles = [](int channels, const char* packing) {
        return time_of(
                   fmt::format("conv2d:n=2,h=28,w=28,c={},k=64,r=3,s=3,stride=1,pad=1", channels),
                   "tpu_v3", {std::string("vector.window_cycles=") + packing})
            .cycles;
    };
    for (const int channels : {100, 128, 144})
        EXPECT_EQ(cycles(channels, "7"), cycles(channels, "0")) << channels;
    EXPECT_GT(cycles(64, "7"), cycles(64, "0"));
}

TEST(Kernels, FewGroupsArePackedAsMany) {
    // All taps of 8 channels, each a group, fit the array's rows, as do those of 14 of 16.
    const auto cycles = [](std::int64_t channels) {
        Builder b("depthwise", 1, false);
        const ValueId x = b.input("x", ElementType::kFp32, {1, channels, 28, 28});
        return time_of(
                   b.finish({b.convolution("conv", x, channels, 3, {.pad = 1, .group = channels})}),
                   "tpu_v3")
            .cycles;
    };
    EXPECT_LE(cycles(8), cycles(16));
}

TEST(Kernels, FewerLanesMakeNoConvolutionFaster) {
    // 16 channels share a register of 32 lanes, too; 128 fill either.
    for (const int channels : {16, 128}) {
        const std::string workload =
            fmt::format("conv2d:n=2,h=28,w=28,c={0},k={0},r=3,s=3,stride=1,pad=1", channels);
        EXPECT_GE(total(workload, {"vector.lanes=32"}).cycles, total(workload).cycles) << channels;
    }
}

/// A row that is larger than the unified buffer passes in pieces.
TEST(Kernels, ReduceRowsOfAnyLength) {
    for (const Operator op : {Operator::kReduceSum, Operator::kReduceMean, Operator::kReduceMax})
        for (const std::int64_t columns : {64 << 10, 200001}) {
            Builder b("long", 5);
            const ValueId x = b.input("x", ElementType::kFp32, {3, columns});
            const Ran ran = run_on(b.finish({b.node(op, "reduced", {x},
                                                    {{"axes", std::vector<std::int64_t>{1}},
                                                     {"keepdims", std::int64_t{0}}})}),
                                   "tpu_v3", {"unified_buffer.size=512KiB"});
            ASSERT_FALSE(ran.checks.empty());
            for (const TpuCheck& check : ran.checks) EXPECT_TRUE(check.passed) << check.message;
        }
}

/// What is brought to one value streams as what is brought to a row does.
TEST(Kernels, ReduceOneLongRowAsFastAsItCanBeLoaded) {
    Builder b("long", 5);
    const ValueId x = b.input("x", ElementType::kFp32, {1024, 1024});
    const Ran ran = run_on(b.finish({b.node(Operator::kReduceSum, "sum", {x},
                                            {{"axes", std::vector<std::int64_t>{0, 1}},
                                             {"keepdims", std::int64_t{0}}})}),
                           "tpu_v3");
    for (const TpuCheck& check : ran.checks) EXPECT_TRUE(check.passed) << check.message;
    const tpu::Parameters parameters(*config::Machine::load("tpu_v3", {}));
    EXPECT_LT(static_cast<double>(ran.result.cycles),
              1.3 * (4 << 20) / run::tpu_target(parameters).speed.memory_bytes);
}

}  // namespace
}  // namespace lockstep::network
