// SPDX-License-Identifier: Apache-2.0
// Attention as one kernel: which graphs it is found in, masks, odd sizes, and the choice.
#include "workloads/network/gpu/attention.h"

#include <gtest/gtest.h>

#include "tests/workloads/network/gpu/run_on.h"

namespace lockstep::network::gpu {
namespace {

using enum Operator;

enum class Mask : std::uint8_t { kNone, kAdded, kCausal, kChosen, kCausalChosen };

struct Attend {
    std::int64_t batch = 2, heads = 3, queries = 37, keys = 37, depth = 24, columns = 24;
    Mask mask = Mask::kNone;
    bool joined = false;  ///< heads are brought together afterwards
    bool output_scores = false;
};

ValueId number(Builder& b, const std::string& name, float value) {
    return b.constant(name, make_tensor({}, std::span<const float>(&value, 1)));
}

/// Hides later keys; what is hidden and what is seen.
Tensor triangle(const Attend& a, float hidden, float seen) {
    Tensor mask(ElementType::kFp32, {1, 1, a.queries, a.keys});
    for (std::int64_t i = 0, at = 0; i < a.queries; ++i)
        for (std::int64_t j = 0; j < a.keys; ++j, ++at)
            mask.as<float>()[static_cast<std::size_t>(at)] =
                j > i + a.keys - a.queries ? hidden : seen;
    return mask;
}

Graph attention(const Attend& a) {
    Builder b("attention", 1);
    const auto heads = [&](const std::string& name, std::int64_t rows, std::int64_t columns) {
        const ValueId x = b.input(name, ElementType::kFp32, {a.batch, rows, a.heads, columns});
        return b.transpose(name + ".heads", x, {0, 2, 1, 3});
    };
    const ValueId q = heads("q", a.queries, a.depth), v = heads("v", a.keys, a.columns),
                  k = b.transpose("k.columns", heads("k", a.keys, a.depth), {0, 1, 3, 2});
    ValueId x = b.node(kMatMul, "scores", {q, k});
    x = b.node(kMul, "scale", {x, number(b, "factor", 0.2f)});
    switch (a.mask) {
        case Mask::kNone:
            break;
        case Mask::kAdded:
            x = b.node(kAdd, "mask",
                       {x, b.input("bias", ElementType::kFp32, {a.batch, 1, 1, a.keys})});
            break;
        case Mask::kCausal:
            x = b.node(kAdd, "mask", {b.constant("later", triangle(a, -10000, 0)), x});
            break;
        case Mask::kChosen: {
            const ValueId bias = b.input("bias", ElementType::kFp32, {a.batch, 1, 1, a.keys});
            const ValueId hides = b.node(kLess, "hides", {bias, number(b, "least", 0)});
            x = b.node(kWhere, "mask", {hides, number(b, "low", -3), x});
            break;
        }
        case Mask::kCausalChosen: {
            Tensor sees(ElementType::kBool, {1, 1, a.queries, a.keys});
            const Tensor real = triangle(a, 0, 1);
            for (std::size_t i = 0; i < sees.bytes.size(); ++i)
                sees.bytes[i] = std::byte(real.as<float>()[i] != 0 ? 1 : 0);
            x = b.node(kWhere, "mask", {b.constant("sees", sees), x, number(b, "low", -1e9f)});
            break;
        }
    }
    const ValueId weights = b.node(kSoftmax, "softmax", {x});
    ValueId y = b.node(kMatMul, "context", {weights, v});
    if (a.joined)
        y = b.reshape("joined", b.transpose("join", y, {0, 2, 1, 3}),
                      {a.batch, a.queries, a.heads * a.columns});
    return a.output_scores ? b.finish({y, weights}) : b.finish({y});
}

/// All as one kernel, whatever the model says.
void expect_one_kernel(const Ran& ran) {
    EXPECT_EQ(kernels_of(ran.code).find("softmax"), std::string::npos) << kernels_of(ran.code);
    EXPECT_NE(kernels_of(ran.code).find("attention"), std::string::npos);
    expect_right(ran);
}

TEST(Attention, agrees_with_the_reference_in_each_type_and_with_each_mask) {
    const std::vector<std::pair<const char*, std::vector<Precision>>> kMachines = {
        {"t4", {Precision::kFp32, Precision::kFp16}},
        {"a100", {Precision::kBf16}},
        {"h200", {Precision::kFp32, Precision::kFp16, Precision::kBf16}}};
    for (const auto& [machine, precisions] : kMachines)
        for (const Precision precision : precisions)
            for (const Mask mask :
                 {Mask::kNone, Mask::kAdded, Mask::kCausal, Mask::kChosen, Mask::kCausalChosen}) {
                SCOPED_TRACE(fmt::format("{} {} mask {}", machine, name_of(precision),
                                         static_cast<int>(mask)));
                expect_one_kernel(run_on(attention({.mask = mask}), machine, precision));
            }
}

TEST(Attention, takes_any_sizes) {
    for (const Precision precision : {Precision::kFp32, Precision::kFp16})
        for (const Attend& a :
             {Attend{.queries = 9, .keys = 60}, Attend{.queries = 70, .keys = 130, .depth = 64},
              Attend{.depth = 5, .columns = 7}, Attend{.depth = 80, .columns = 96},
              Attend{.heads = 12, .depth = 128, .columns = 16},
              Attend{.queries = 20, .keys = 90, .mask = Mask::kCausal, .joined = true}}) {
            SCOPED_TRACE(fmt::format("{} {} {}", a.queries, a.depth, a.columns));
            expect_one_kernel(run_on(attention(a), "h200", precision));
        }
}

TEST(Attention, lies_as_who_joins_its_heads_wants_it) {
    const Ran ran = run_on(attention({.joined = true}), "h200", Precision::kFp16);
    expect_right(ran);
    EXPECT_EQ(kernels_of(ran.code).substr(0, 17), "attention_fp16_64");
    // A copy to the output, none before.
    EXPECT_EQ(ran.code.launches.size(), 2U);
}

TEST(Attention, that_is_causal_ends_at_the_diagonal) {
    Graph graph = attention({.mask = Mask::kCausal});
    const auto found = find_attention(graph);
    ASSERT_EQ(found.size(), 1U);
    EXPECT_TRUE(found[0].causal);
    EXPECT_FALSE(find_attention(attention({.mask = Mask::kAdded})).at(0).causal);
    EXPECT_TRUE(find_attention(attention({.mask = Mask::kCausalChosen})).at(0).causal);
}

TEST(Attention, is_not_fused_where_someone_reads_the_weights) {
    const Graph graph = attention({.output_scores = true});
    EXPECT_TRUE(find_attention(graph).empty());
    EXPECT_TRUE(find_attention(attention({.columns = 136})).empty());  // longer than kernels hold
    expect_right(run_on(graph));
}

TEST(Attention, may_have_more_scores_than_a_tensor_has_elements) {
    // 2^32 scores; the longest tensor has 2^26 elements.
    Graph graph = attention(
        {.batch = 64, .heads = 16, .queries = 2048, .keys = 2048, .depth = 32, .columns = 32});
    const Target target = target_named("h200");
    const std::string kernels = kernels_of(compile(graph, target));
    EXPECT_NE(kernels.find("attention_fp32_64"), std::string::npos) << kernels;
    // By themselves they are refused.
    const Graph read = attention({.batch = 64,
                                  .heads = 16,
                                  .queries = 2048,
                                  .keys = 2048,
                                  .depth = 32,
                                  .columns = 32,
                                  .output_scores = true});
    EXPECT_THROW(compile(read, target), InputError);
}

TEST(Attention, says_why_it_is_one_kernel_or_several) {
    const Target target = target_named("h200");
    const AttentionShape small = {.batches = 12,
                                  .queries = 128,
                                  .keys = 128,
                                  .depth = 64,
                                  .columns = 64,
                                  .type = ElementType::kFp16};
    const AttentionChoice one = choose_attention(target, Precision::kFp16, small);
    EXPECT_TRUE(one.is_fused);
    EXPECT_NE(one.reason.find("not scores, softmax and context by themselves"), std::string::npos)
        << one.reason;
    // One head of wide rows in FP32: the products can cut k, the one kernel leaves SMs idle.
    const AttentionChoice several =
        choose_attention(target, Precision::kTf32,
                         {.batches = 1, .queries = 64, .keys = 4096, .depth = 128, .columns = 128});
    EXPECT_FALSE(several.is_fused);
    EXPECT_NE(several.reason.find("not one kernel"), std::string::npos) << several.reason;
}

}  // namespace
}  // namespace lockstep::network::gpu
