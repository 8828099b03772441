// SPDX-License-Identifier: Apache-2.0
// Pooling on the way out of the accumulators, and apart.
#include <gtest/gtest.h>

#include "sim/error/error.h"
#include "tests/workloads/network/tpu/run_on.h"
#include "workloads/network/graph/builder.h"

namespace lockstep::network {
namespace {

/// A convolution with `pool` behind it.
Graph pooled(const Shape& image, std::int64_t filters, std::int64_t stride, Attributes pool) {
    Builder b("pooled", 5);
    ValueId x = b.input("x", ElementType::kFp32, image);
    x = b.convolution("conv", x, filters, 3, {.stride = stride, .pad = 1, .bias = true});
    x = b.node(Operator::kRelu, "relu", {x});
    return b.finish({b.node(Operator::kMaxPool, "pool", {x}, std::move(pool))});
}

TEST(TpuPooling, PoolsOnTheWayOutOfTheAccumulators) {
    using Numbers = std::vector<std::int64_t>;
    const Attributes overlapping = {
        {"kernel_shape", Numbers{3, 3}}, {"strides", Numbers{2, 2}}, {"pads", Numbers{1, 1, 1, 1}}};
    const Attributes apart = {{"kernel_shape", Numbers{2, 2}}, {"strides", Numbers{2, 2}}};
    const Attributes up = {{"kernel_shape", Numbers{3, 3}},
                           {"strides", Numbers{2, 2}},
                           {"ceil_mode", std::int64_t{1}}};
    const Attributes dense = {
        {"kernel_shape", Numbers{3, 3}}, {"strides", Numbers{1, 1}}, {"pads", Numbers{0, 2, 2, 1}}};
    // Whole images in a block, one, and lines of one; in the unified buffer and out of it.
    const char* const few = "accumulators.rows=200";
    for (const char* rows : {"accumulators.rows=4096", "accumulators.rows=640", few})
        for (const char* buffer : {"unified_buffer.size=25165824", "unified_buffer.size=16384"})
            for (const Attributes* pool : {&overlapping, &apart, &up, &dense})
                for (const Shape& image : {Shape{3, 5, 17, 14}, Shape{2, 3, 24, 31}}) {
                    const Ran ran = run_on(pooled(image, 20, 1, *pool), "tpu_v1", {rows, buffer});
                    for (const TpuCheck& check : ran.checks)
                        EXPECT_TRUE(check.passed) << rows << " " << buffer << " "
                                                  << to_string(image) << " " << check.message;
                    // Of few accumulators, lines of windows one apart would pass too often.
                    const bool apart_again = pool == &dense && rows == few;
                    EXPECT_TRUE(apart_again ||
                                count(ran.compiled.program, tpu::Opcode::kPool) == 0u);
                }
}

TEST(TpuPooling, PoolsWithEveryDataflow) {
    using Numbers = std::vector<std::int64_t>;
    const Attributes pool = {
        {"kernel_shape", Numbers{3, 3}}, {"strides", Numbers{2, 2}}, {"pads", Numbers{1, 1, 1, 1}}};
    for (const char* dataflow : {"ws", "os", "is"})
        for (const char* requantisation : {"fp32", "fixed_point"}) {
            const Ran ran =
                run_on(pooled({3, 5, 17, 14}, 300, 1, pool), "tpu_v1",
                       {std::string("array.dataflow=") + dataflow, "accumulators.rows=600",
                        std::string("vector.requantisation=") + requantisation});
            for (const TpuCheck& check : ran.checks)
                EXPECT_TRUE(check.passed)
                    << dataflow << " " << requantisation << " " << check.message;
        }
}

TEST(TpuPooling, LeavesPoolingThatWouldBeWrongToTheHost) {
    using Numbers = std::vector<std::int64_t>;
    const auto average = [](std::int64_t counts_pad, std::int64_t ceil) {
        Builder b("average", 1);
        const ValueId x = b.input("x", ElementType::kFp32, {1, 3, 8, 8});
        return b.finish({b.node(Operator::kAveragePool, "average", {x},
                                {{"kernel_shape", Numbers{3, 3}},
                                 {"strides", Numbers{2, 2}},
                                 {"ceil_mode", ceil},
                                 {"count_include_pad", counts_pad}})});
    };
    // The last windows reach past the padding that they would count.
    const auto expect_on_host = [](const Ran& ran) {
        EXPECT_FALSE(ran.compiled.host_tasks.empty());
        for (const TpuCheck& check : ran.checks) EXPECT_TRUE(check.passed) << check.message;
    };
    expect_on_host(run_on(average(1, 1), "tpu_v1"));
    for (const auto& [counts_pad, ceil] : {std::pair{1, 0}, {0, 1}})
        for (const TpuCheck& check : run_on(average(counts_pad, ceil), "tpu_v1").checks)
            EXPECT_TRUE(check.passed) << check.message;
    // Lines in and out that overwrite each other on their way through a small unified buffer.
    const Attributes pool = {{"kernel_shape", Numbers{3, 3}}, {"strides", Numbers{1, 1}}};
    expect_on_host(run_on(pooled({4, 5, 31, 18}, 300, 1, pool), "tpu_v1",
                          {"array.dataflow=is", "unified_buffer.size=65536"}));
}

TEST(TpuPooling, AveragesCountPaddingButNothingPastIt) {
    using Numbers = std::vector<std::int64_t>;
    for (const std::int64_t size : {8, 9})
        for (const std::int64_t pad : {0, 1}) {
            Builder b("average", 1);
            const ValueId x = b.input("x", ElementType::kFp32, {2, 3, size, size});
            const Graph graph = b.finish({b.node(Operator::kAveragePool, "average", {x},
                                                 {{"kernel_shape", Numbers{3, 3}},
                                                  {"strides", Numbers{2, 2}},
                                                  {"pads", Numbers(4, pad)},
                                                  {"ceil_mode", std::int64_t{1}},
                                                  {"count_include_pad", std::int64_t{1}}})});
            for (const TpuCheck& check : run_on(graph, "tpu_v3").checks)
                EXPECT_TRUE(check.passed) << size << " " << pad << " " << check.message;
        }
}

TEST(TpuPooling, PoolsApartWhereItCannotOnTheWay) {
    using Numbers = std::vector<std::int64_t>;
    const Attributes oblong = {{"kernel_shape", Numbers{3, 2}}, {"strides", Numbers{2, 2}}};
    const Attributes large = {{"kernel_shape", Numbers{16, 16}}, {"strides", Numbers{1, 1}}};
    for (const Attributes& pool : {oblong, large}) {
        const Ran ran = run_on(pooled({2, 5, 20, 20}, 20, 1, pool), "tpu_v1");
        for (const TpuCheck& check : ran.checks) EXPECT_TRUE(check.passed) << check.message;
        EXPECT_EQ(count(ran.compiled.program, tpu::Opcode::kPool), 1u);
    }
    // Each line would pass the array two or three times.
    const Attributes dense = {{"kernel_shape", Numbers{3, 3}}, {"strides", Numbers{1, 1}}};
    const Ran ran =
        run_on(pooled({1, 200, 10, 20}, 20, 1, dense), "tpu_v1", {"accumulators.rows=160"});
    for (const TpuCheck& check : ran.checks) EXPECT_TRUE(check.passed) << check.message;
    EXPECT_EQ(count(ran.compiled.program, tpu::Opcode::kPool), 1u);
}

}  // namespace
}  // namespace lockstep::network
