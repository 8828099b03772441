// SPDX-License-Identifier: Apache-2.0
#include "isa/npu/weights.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <algorithm>

namespace lockstep::npu {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

constexpr WeightFormat kFormats[] = {WeightFormat::kRaw, WeightFormat::kZeroRuns,
                                     WeightFormat::kMask, WeightFormat::kPalette,
                                     WeightFormat::kPaletteRuns};
constexpr ElementType kTypes[] = {ElementType::kInt8,  ElementType::kUint8, ElementType::kInt4,
                                  ElementType::kUint4, ElementType::kInt2,  ElementType::kUint2};

/// Values of the type: `distinct` different ones at most, `zeros` of 8 zero.
std::vector<std::int16_t> random_values(ElementType type, std::size_t count, int distinct,
                                        int zeros) {
    const int steps = 1 << bits_of(type), low = is_signed(type) ? -steps / 2 : 0;
    std::vector<std::int16_t> values(count);
    for (std::int16_t& value : values)
        if (*rc::gen::inRange(0, 8) >= zeros)
            value =
                static_cast<std::int16_t>(low + *rc::gen::inRange(0, steps) / distinct * distinct);
    return values;
}

TEST(NpuWeights, EveryFormatHoldsValuesWithoutLoss) {
    EXPECT_TRUE(rc::check([] {
        const ElementType type = *rc::gen::elementOf(std::vector(kTypes, std::end(kTypes)));
        const auto values =
            random_values(type, std::size_t(*rc::gen::inRange(0, 200)),
                          *rc::gen::elementOf(std::vector{1, 16, 64}), *rc::gen::inRange(0, 9));
        for (const WeightFormat format : kFormats) {
            const auto stream = encode_weights(values, type, format);
            if (!stream) {
                RC_ASSERT(format == WeightFormat::kPalette || format == WeightFormat::kPaletteRuns);
                continue;
            }
            const DecodedWeights back = decode_weights(*stream, type, format, values.size());
            RC_ASSERT(back.error == "");
            RC_ASSERT(back.values == values);
            RC_ASSERT((back.bits + 7) / 8 <= stream->size());
            // One byte less is too few, wherever the last bits count.
            if (!stream->empty() && !values.empty() && (back.bits + 7) / 8 == stream->size()) {
                const std::span<const std::uint8_t> shorter(stream->data(), stream->size() - 1);
                RC_ASSERT(decode_weights(shorter, type, format, values.size()).error != "");
            }
        }
        RC_ASSERT(decode_weights(compress_weights(values, type).second, type,
                                 compress_weights(values, type).first, values.size())
                      .values == values);
    }));
}

TEST(NpuWeights, ARecordOfAZeroRunIsFourBitsAndAValue) {
    const std::int16_t values[] = {0, 0, 5, 0};
    EXPECT_THAT(*encode_weights(values, ElementType::kInt4, WeightFormat::kZeroRuns),
                ElementsAre(0x52, 0x00));  // 2 zeros, 5; no zero, 0
}

TEST(NpuWeights, ALongRunTakesSeveralRecords) {
    std::vector<std::int16_t> values(40);
    values.back() = 1;
    const auto stream = encode_weights(values, ElementType::kInt8, WeightFormat::kZeroRuns);
    const DecodedWeights back =
        decode_weights(*stream, ElementType::kInt8, WeightFormat::kZeroRuns, values.size());
    EXPECT_EQ(back.values, values);
    EXPECT_EQ(back.records, 3u);  // 15 and a zero, 15 and a zero, 7 and the one
}

TEST(NpuWeights, SparseAndRepeatedValuesGetShorterStreams) {
    std::vector<std::int16_t> sparse(1024), few(1024);
    for (std::size_t i = 0; i < sparse.size(); i += 8) sparse[i] = std::int16_t(i % 100 - 50);
    for (std::size_t i = 0; i < few.size(); ++i) few[i] = std::int16_t(i % 3 * 40 - 50);
    EXPECT_LT(compress_weights(sparse, ElementType::kInt8).second.size(), 300u);
    const auto [format, stream] = compress_weights(few, ElementType::kInt8);
    EXPECT_EQ(format, WeightFormat::kPalette);
    EXPECT_EQ(stream.size(), 4u + 1024 * 2 / 8);
}

TEST(NpuWeights, WrongStreamsAreErrors) {
    const auto error = [](std::vector<std::uint8_t> stream, WeightFormat format) {
        return decode_weights(stream, ElementType::kInt8, format, 8).error;
    };
    EXPECT_THAT(error({1, 2, 3}, WeightFormat::kRaw), HasSubstr("ends before its last value"));
    EXPECT_THAT(error({}, WeightFormat::kPalette), HasSubstr("ends before"));
    EXPECT_THAT(error({32}, WeightFormat::kPalette), HasSubstr("more than 32"));
    EXPECT_THAT(error({5, 1, 2}, WeightFormat::kPalette), HasSubstr("ends in its palette"));
    EXPECT_THAT(error({2, 1, 2, 3, 0xff, 0xff}, WeightFormat::kPalette), HasSubstr("past the end"));
    EXPECT_THAT(error({0xff, 0xff}, WeightFormat::kZeroRuns), HasSubstr("past the last weight"));
}

TEST(NpuWeights, GroupsHaveTheirOutputChannelsSideBySide) {
    // 3 outputs, 1 tap, 2 inputs, groups of 2.
    const std::int16_t values[] = {10, 11, 20, 21, 30, 31};
    EXPECT_THAT(order_weights(values, 3, 1, 2, 2), ElementsAre(10, 20, 11, 21, 30, 31));
}

}  // namespace
}  // namespace lockstep::npu
