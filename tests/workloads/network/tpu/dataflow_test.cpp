// SPDX-License-Identifier: Apache-2.0
// Every dataflow computes the reference, and moves what it must: which operand is fetched again.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "sim/error/error.h"
#include "tests/workloads/network/tpu/run_on.h"
#include "workloads/network/builtin/builtin.h"
#include "workloads/network/graph/builder.h"
#include "workloads/network/tpu/explain.h"

namespace lockstep::network {
namespace {

using testing::HasSubstr;

struct Case {
    const char* machine;
    const char* dataflow;
};

class Dataflows : public testing::TestWithParam<Case> {
  protected:
    static Ran run(Graph graph, std::vector<std::string> overrides = {}) {
        overrides.push_back(std::string("array.dataflow=") + GetParam().dataflow);
        // Less to clear for each run.
        overrides.insert(overrides.begin(), "unified_buffer.size=4 MiB");
        return run_on(std::move(graph), GetParam().machine, overrides);
    }
    static Ran run(const std::string& workload, std::vector<std::string> overrides = {}) {
        const BuiltinRequest request = parse_builtin(workload);
        return run(build_network(request.name, request.options), std::move(overrides));
    }
    static void expect_reference(const Ran& ran, const std::string& what) {
        ASSERT_FALSE(ran.checks.empty());
        for (const TpuCheck& check : ran.checks)
            EXPECT_TRUE(check.passed) << what << ": " << check.output << ": " << check.message;
    }
};

TEST_P(Dataflows, ProductsOfAnyShapeAreTheReference) {
    // A small array, so that small products have all kinds of edges; few accumulators.
    std::mt19937 random(11);
    for (int repeat = 0; repeat < 12; ++repeat) {
        const auto size = [&](std::uint32_t most) {
            return 1 + static_cast<std::uint32_t>(random() % most);
        };
        const std::uint32_t rows = size(24), columns = size(24);
        const std::string workload =
            fmt::format("gemm:m={},n={},k={}", size(90), size(90), size(90));
        const std::string accumulators =
            fmt::format("accumulators.rows={}", std::max(4 * columns, 8 * size(30)));
        expect_reference(run(workload, {fmt::format("array.rows={}", rows),
                                        fmt::format("array.columns={}", columns), accumulators}),
                         fmt::format("{} on {} x {}, {}", workload, rows, columns, accumulators));
    }
}

TEST_P(Dataflows, ProductsInLittleRoomAreTheReference) {
    // Neither operand fits; rows as a whole may be too long for as many as the array holds.
    if (GetParam().machine == std::string("tpu_v1")) return;
    std::mt19937 random(13);
    for (int repeat = 0; repeat < 5; ++repeat) {
        const auto size = [&](std::uint32_t most) {
            return 1 + static_cast<std::uint32_t>(random() % most);
        };
        const std::string workload =
            fmt::format("gemm:m={},n={},k={}", size(100), size(100), 150 + size(900));
        expect_reference(run(workload, {"unified_buffer.size=96KiB", "array.rows=24",
                                        "array.columns=16", "accumulators.rows=256"}),
                         workload);
    }
}

TEST_P(Dataflows, ConvolutionsOfAnyShapeAreTheReference) {
    std::mt19937 random(12);
    for (int repeat = 0; repeat < 8; ++repeat) {
        const auto size = [&](std::uint32_t most) {
            return 1 + static_cast<std::uint32_t>(random() % most);
        };
        const std::string workload = fmt::format(
            "conv2d:n={},h={},w={},c={},k={},r={},s={},stride={},pad={}", size(3), 4 + size(8),
            4 + size(8), size(20), size(40), size(3), size(3), size(2), random() % 2);
        expect_reference(run(workload, {"array.rows=16", "array.columns=12"}), workload);
    }
}

TEST_P(Dataflows, NetworksAreTheReference) {
    expect_reference(run(vision(3)), "vision");
    if (GetParam().machine != std::string("tpu_v1"))
        expect_reference(run("attention:heads=2,seq=40,d=16"), "attention");
}

INSTANTIATE_TEST_SUITE_P(Machines, Dataflows,
                         testing::Values(Case{"tpu_v1", "ws"}, Case{"tpu_v1", "os"},
                                         Case{"tpu_v1", "is"}, Case{"tpu_v2", "os"},
                                         Case{"tpu_v2", "is"}, Case{"tpu_v3", "ws"},
                                         Case{"tpu_v3", "os"}, Case{"tpu_v3", "is"},
                                         Case{"tpu_v4", "os"}, Case{"tpu_v4", "is"}),
                         [](const auto& made) {
                             return std::string(made.param.machine) + "_" + made.param.dataflow;
                         });

Ran product_on_v1(const char* dataflow) {
    const BuiltinRequest request = parse_builtin("gemm:m=1024,n=512,k=768");
    return run_on(build_network(request.name, request.options), "tpu_v1",
                  {std::string("array.dataflow=") + dataflow});
}

TEST(DataflowTraffic, EachHoldsItsOperandAndFetchesTheOthers) {
    const std::uint64_t a = 1024 * 768, b = 768 * 512, c = 1024 * 512;
    const Ran ws = product_on_v1("ws"), os = product_on_v1("os"), is = product_on_v1("is");
    const auto total = [](const Ran& ran) { return ran.result.total(); };
    // Weights: once; for each 256 rows of results; for each 256 rows of inputs.
    EXPECT_EQ(total(ws).weight_reads, b);
    EXPECT_EQ(total(os).weight_reads, 4 * b);
    EXPECT_EQ(total(is).weight_reads, 4 * b);
    EXPECT_EQ(total(os).dram_bytes_read, 4 * total(ws).dram_bytes_read);
    // Inputs: for each 256 columns; likewise; once.
    EXPECT_EQ(total(ws).input_reads, 2 * a);
    EXPECT_EQ(total(os).input_reads, 2 * a);
    EXPECT_EQ(total(is).input_reads, a);
    // Sums: they pass through the accumulators for each 256 of k; os: once.
    EXPECT_EQ(total(ws).sums_written, 3 * c);
    EXPECT_EQ(total(os).sums_written, c);
    EXPECT_EQ(total(is).sums_written, 3 * c);
    EXPECT_EQ(total(os).sums_read, 0u);
    EXPECT_EQ(total(ws).useful_macs, total(is).useful_macs);
    // v1's weight memory is made for weights that are held: the others wait for it.
    EXPECT_GT(total(os).weight_stall, 4 * total(ws).weight_stall);
    EXPECT_GT(os.result.cycles, ws.result.cycles);
}

TEST(DataflowTraffic, TheScheduleSaysWhatIsHeld) {
    const Ran os = product_on_v1("os");
    EXPECT_THAT(schedule_text(os.compiled), HasSubstr("the array holds sums"));
    EXPECT_THAT(schedule_text(os.compiled), HasSubstr("dataflow=os"));
}

}  // namespace
}  // namespace lockstep::network
