// SPDX-License-Identifier: Apache-2.0
// The netlist gives the bits of the dot-product unit that every kernel uses, whatever the
// generation, the type and the numbers.
#include "models/gpu/tensor_core/step.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "isa/sass/tensor_core/dot_product.h"
#include "models/gpu/tensor_core/number.h"
#include "sim/error/error.h"

namespace lockstep::gpu {
namespace {

using sass::TensorType;

struct Unit {
    int sm;
    TensorType type;
    bool half;
};

const std::vector<Unit> kUnits = {
    {70, TensorType::kFp16, false}, {70, TensorType::kFp16, true},  {75, TensorType::kFp16, false},
    {75, TensorType::kFp16, true},  {80, TensorType::kFp16, false}, {80, TensorType::kFp16, true},
    {80, TensorType::kBf16, false}, {80, TensorType::kTf32, false}, {89, TensorType::kFp16, false},
    {90, TensorType::kFp16, false}, {90, TensorType::kFp16, true},  {90, TensorType::kBf16, false},
    {90, TensorType::kTf32, false}};

/// Finite, of all exponents or (`is_near`) of a few, where sums cancel and bits are lost.
std::uint32_t any_number(NumberFormat format, bool is_near) {
    const int ones = (1 << format.exponent_bits) - 1, bias = ones >> 1;
    const int biased = is_near ? *rc::gen::inRange(bias - 6, bias + 7) : *rc::gen::inRange(0, ones);
    const auto fraction = *rc::gen::inRange<std::uint32_t>(0, 1u << format.fraction_bits);
    const std::uint32_t sign = *rc::gen::inRange<std::uint32_t>(0, 2);
    const std::uint32_t bits = (sign << format.exponent_bits | static_cast<std::uint32_t>(biased))
                                   << format.fraction_bits |
                               fraction;
    return bits << format.dropped_bits;
}

std::vector<std::uint32_t> any_numbers(NumberFormat format, bool is_near, int count) {
    std::vector<std::uint32_t> numbers;
    for (int i = 0; i < count; ++i) numbers.push_back(any_number(format, is_near));
    return numbers;
}

std::vector<std::uint32_t> expected(const TensorStep& step) {
    static sass::DecodedTile a, b;
    std::fill(std::begin(a.bits), std::end(a.bits), 0u);
    for (int k = 0; k < step.depth; ++k)
        for (int i = 0; i < 4; ++i) {
            a.bits[k * 16 + i] = step.a[static_cast<std::size_t>(i * step.depth + k)];
            b.bits[i * step.depth + k] = step.b[static_cast<std::size_t>(k * 4 + i)];
        }
    a.decode(step.type, step.depth * 16);
    b.decode(step.type, std::max(4 * step.depth, 16));
    std::vector<std::uint32_t> d(16);
    for (int column = 0; column < 4; ++column) {
        alignas(64) std::uint32_t c[16] = {};
        for (int row = 0; row < 4; ++row)
            c[row] = step.c[static_cast<std::size_t>(row * 4 + column)];
        sass::accumulate_column(step.rule, step.depth, a, b, column * step.depth, c);
        for (int row = 0; row < 4; ++row) d[static_cast<std::size_t>(row * 4 + column)] = c[row];
    }
    return d;
}

RC_GTEST_PROP(TensorStep, GivesTheBitsOfTheDotProductUnit, ()) {
    const Unit unit = *rc::gen::elementOf(kUnits);
    const bool is_near = *rc::gen::arbitrary<bool>();
    TensorStep step;
    step.rule = sass::dot_product_rule(unit.sm, unit.type, unit.half);
    step.type = unit.type;
    step.depth = *rc::gen::element(4, 8, 16);
    step.a = any_numbers(format_of(unit.type), is_near, 4 * step.depth);
    step.b = any_numbers(format_of(unit.type), is_near, 4 * step.depth);
    step.c = any_numbers(unit.half ? kFp16Number : kFp32Number, is_near, 16);
    // A chain that has left its type's range goes on with infinities, which the netlist has none
    // of.
    RC_PRE(step.depth <= step.rule.group || (is_near && !unit.half));
    const TensorStepRun run = run_tensor_step(step);
    RC_ASSERT(run.d == expected(step));
    RC_ASSERT(run.groups[0].size() ==
              static_cast<std::size_t>(std::max(step.depth / step.rule.group, 1)));
    RC_ASSERT(run.groups[0].back().result == run.d[0]);
}

/// A row of A and column of B with c, in unit (0, 0).
TensorStepRun dot(int sm, const std::vector<std::uint32_t>& a, const std::vector<std::uint32_t>& b,
                  float c) {
    TensorStep step;
    step.rule = sass::dot_product_rule(sm, TensorType::kFp16, false);
    step.depth = static_cast<int>(a.size());
    step.a.resize(4 * a.size());
    step.b.resize(4 * a.size());
    step.c.resize(16);
    for (std::size_t k = 0; k < a.size(); ++k) {
        step.a[k] = a[k];
        step.b[4 * k] = b[k];
    }
    step.c[0] = std::bit_cast<std::uint32_t>(c);
    return run_tensor_step(step);
}

constexpr std::uint32_t kOne = 0x3c00;

TEST(TensorStep, ShowsEachTermAlignedToTheLargest) {
    const TensorGroup group = dot(80, {kOne, kOne, 0, 0}, {kOne, 0xb800, 0, 0}, 8).groups[0][0];
    EXPECT_EQ(group.largest, 3);
    EXPECT_EQ(group.products[0].aligned, std::int64_t{1} << (24 - 3));
    EXPECT_EQ(group.products[1].aligned, -(std::int64_t{1} << (24 - 4)));
    EXPECT_EQ(group.addend.aligned, std::int64_t{1} << 24);
    EXPECT_EQ(group.products[2].aligned, 0);
    EXPECT_EQ(std::bit_cast<float>(group.result), 8.5f);
}

// What is below the last bit is lost before the sum, not rounded after it.
TEST(TensorStep, LosesWhatIsBelowTheLastBitOfItsGeneration) {
    const auto plus_four_ones = [](int sm, float c) {
        const std::vector<std::uint32_t> ones(4, kOne);
        return std::bit_cast<float>(dot(sm, ones, ones, c).d[0]);
    };
    EXPECT_EQ(plus_four_ones(70, 0x1p23f), 0x1p23f + 4);
    EXPECT_EQ(plus_four_ones(70, 0x1p24f), 0x1p24f);  // 23 fraction bits: the last is 2
    EXPECT_EQ(plus_four_ones(80, 0x1p24f), 0x1p24f + 4);
    EXPECT_EQ(plus_four_ones(80, 0x1p25f), 0x1p25f);
    EXPECT_EQ(plus_four_ones(90, 0x1p25f), 0x1p25f + 4);
}

TEST(TensorStep, WritesItsWires) {
    TensorStep step;
    step.rule = sass::dot_product_rule(70, TensorType::kFp16, false);
    step.depth = 8;
    step.a.assign(32, kOne);
    step.b.assign(32, kOne);
    step.c.assign(16, 0);
    const std::string path =
        std::filesystem::path(testing::TempDir()) / (std::to_string(getpid()) + "_tensor_step.vcd");
    const TensorStepRun run = run_tensor_step(step, path);
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    std::filesystem::remove(path);
    EXPECT_EQ(run.cycles, 12);
    EXPECT_EQ(run.d, std::vector<std::uint32_t>(16, std::bit_cast<std::uint32_t>(8.0f)));
    for (const char* wire : {"largest", "significand_0", "aligned_c", "sum"})
        EXPECT_NE(text.str().find(wire), std::string::npos) << wire;
}

TEST(TensorStep, RefusesInfinities) {
    EXPECT_THROW(dot(80, {0x7c00, 0, 0, 0}, {kOne, 0, 0, 0}, 0), InputError);
}

}  // namespace
}  // namespace lockstep::gpu
