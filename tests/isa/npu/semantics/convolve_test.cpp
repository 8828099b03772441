// SPDX-License-Identifier: Apache-2.0
// Fused commands against their definition, one multiplication at a time, for random shapes, types
// and ways in which the array multiplies.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "isa/npu/weights.h"
#include "tests/isa/npu/semantics/machine.h"

namespace lockstep::npu {
namespace {

using enum Field;

constexpr std::uint64_t kInputAt = 0, kWeightsAt = 0x8000, kParametersAt = 0x20000,
                        kOperandAt = 0x22000, kTableAtAddress = 0x2f000, kOutputAt = 0x30000;

class Case {
  public:
    explicit Case(std::uint32_t seed) : random_(seed) {}

    std::uint64_t draw(std::uint64_t low, std::uint64_t high) {
        return low + random_() % (high - low + 1);
    }
    bool flip() { return random_() % 2 != 0; }
    ElementType narrow() { return static_cast<ElementType>(draw(0, 5)); }

    /// A random convolution whose operands lie at the addresses above.
    Instruction make(Opcode opcode, std::uint32_t group) {
        Instruction i(opcode);
        const bool depthwise = opcode == Opcode::kDepthwise;
        const std::uint64_t channels = draw(1, 20), multiplier = depthwise ? draw(1, 2) : 0,
                            outputs = depthwise ? channels * multiplier : draw(1, 20);
        i.set(kChannels, channels);
        i.set(kOutChannels, outputs);
        if (depthwise) i.set(kDepthMultiplier, multiplier);
        i.set(kInputType, narrow());
        i.set(kOutputType, narrow());
        i.set(kWeightType, narrow());
        i.set(kHeight, draw(1, 9));
        i.set(kWidth, draw(1, 9));
        i.set(kOutHeight, draw(1, 7));
        i.set(kOutWidth, draw(1, 7));
        i.set(kInput, kInputAt);
        i.set(kInputPixel, input_of(i).run() + draw(0, 2));
        i.set(kInputRow, i[kInputPixel] * i[kWidth] + draw(0, 5));
        i.set(kInputZero, static_cast<int>(draw(0, 40)) - 20);
        const bool three = flip();  // what Winograd takes
        i.set(kKernelHeight, three ? 3 : draw(1, 4));
        i.set(kKernelWidth, three ? 3 : draw(1, 4));
        i.set(kStrideHeight, three ? 1 : draw(1, 3));
        i.set(kStrideWidth, three ? 1 : draw(1, 3));
        i.set(kDilationHeight, three ? 1 : draw(1, 2));
        i.set(kDilationWidth, three ? 1 : draw(1, 2));
        i.set(kUpsampleHeight, three ? 0 : draw(0, 2));
        i.set(kUpsampleWidth, three ? 0 : draw(0, 2));
        i.set(kPadTop, draw(0, 3));
        i.set(kPadLeft, draw(0, 3));
        i.set(kWeightGroup, group);
        i.set(kWeightZero, static_cast<int>(draw(0, 6)) - 3);
        i.set(kWeights, kWeightsAt);
        i.set(kParameters, kParametersAt);
        i.set(kHasBias, flip());
        i.set(kPerChannel, flip());
        i.set(kMultiplier, static_cast<std::int32_t>(random_() | 1u << 30));
        i.set(kShift, draw(30, 42));
        i.set(kRounding, draw(0, 3));
        i.set(kOutputZero, static_cast<int>(draw(0, 10)) - 5);
        i.set(kLow, -static_cast<int>(draw(0, 300)));
        i.set(kHigh, static_cast<int>(draw(0, 300)));
        i.set(kOutput, kOutputAt);
        i.set(kOutputPixel, result_of(i).run() + draw(0, 2));
        i.set(kOutputRow, i[kOutputPixel] * i[kOutWidth] + draw(0, 3));
        return i;
    }

    /// Fills the operands; returns the weights in the order [output][tap][input].
    std::vector<std::int16_t> fill(Machine& machine, Instruction& i) {
        machine.fill(0, 1 << 18, random_);
        const std::uint64_t inputs = i.opcode() == Opcode::kDepthwise ? 1 : i[kChannels];
        std::vector<std::int16_t> weights(weights_of(i));
        const numerics::IntegerRange range = range_of(i.type(kWeightType));
        for (std::int16_t& weight : weights)
            if (draw(0, 2) == 0)
                weight = static_cast<std::int16_t>(
                    range.low +
                    static_cast<std::int32_t>(draw(0, std::uint64_t(range.high - range.low))));
        const auto format = static_cast<WeightFormat>(draw(0, 2));
        const auto stream = encode_weights(
            order_weights(weights, i[kOutChannels], i[kKernelHeight] * i[kKernelWidth], inputs,
                          i[kWeightGroup]),
            i.type(kWeightType), format);
        machine.put(kWeightsAt, *stream);
        i.set(kWeightBytes, stream->size());
        i.set(kWeightFormat, format);
        // Shifts among the parameters must be right.
        if (i.flag(kPerChannel)) {
            const std::uint64_t shifts = kParametersAt + i[kOutChannels] * (4 * i[kHasBias] + 4);
            for (std::uint64_t c = 0; c < i[kOutChannels]; ++c)
                *machine.state.sram(shifts + c) = static_cast<std::uint8_t>(draw(30, 42));
        }
        return weights;
    }

    std::mt19937 random_;
};

/// The sum of an output by its definition.
std::int32_t sum_of(Machine& m, const Instruction& i, const std::vector<std::int16_t>& weights,
                    std::uint64_t y, std::uint64_t x, std::uint64_t k) {
    const Image image = input_of(i);
    const bool depthwise = i.opcode() == Opcode::kDepthwise;
    const std::uint64_t inputs = depthwise ? 1 : i[kChannels];
    std::int64_t sum = 0;
    if (i.flag(kHasBias)) sum = m.get<std::int32_t>(kParametersAt + 4 * k, 1)[0];
    const auto up = [&](Field field) { return std::max<std::int64_t>(1, std::int64_t(i[field])); };
    for (std::uint64_t ky = 0; ky < i[kKernelHeight]; ++ky)
        for (std::uint64_t kx = 0; kx < i[kKernelWidth]; ++kx) {
            const auto iy = static_cast<std::int64_t>(y * i[kStrideHeight] +
                                                      ky * i[kDilationHeight] - i[kPadTop]),
                       ix = static_cast<std::int64_t>(x * i[kStrideWidth] + kx * i[kDilationWidth] -
                                                      i[kPadLeft]);
            if (iy < 0 || ix < 0 || iy % up(kUpsampleHeight) != 0 || ix % up(kUpsampleWidth) != 0)
                continue;
            const auto py = static_cast<std::uint64_t>(iy / up(kUpsampleHeight)),
                       px = static_cast<std::uint64_t>(ix / up(kUpsampleWidth));
            if (py >= image.height || px >= image.width) continue;
            for (std::uint64_t c = 0; c < inputs; ++c) {
                const std::uint64_t channel = depthwise ? k / i[kDepthMultiplier] : c;
                const std::int64_t weight =
                    weights[(k * i[kKernelHeight] * i[kKernelWidth] + ky * i[kKernelWidth] + kx) *
                                inputs +
                            c] -
                    i.signed_value(kWeightZero);
                sum += (m.at(image, py, px, channel) - i.signed_value(kInputZero)) * weight;
            }
        }
    return static_cast<std::int32_t>(sum);
}

std::int64_t rescaled(Machine& m, const Instruction& i, std::int32_t sum, std::uint64_t k) {
    numerics::FixedPointScale scale{static_cast<std::int32_t>(i.signed_value(kMultiplier)),
                                    static_cast<std::int32_t>(i[kShift])};
    if (i.flag(kPerChannel)) {
        const std::uint64_t at = kParametersAt + 4 * i[kHasBias] * i[kOutChannels];
        scale.multiplier = m.get<std::int32_t>(at + 4 * k, 1)[0];
        scale.shift = m.get<std::uint8_t>(at + 4 * i[kOutChannels] + k, 1)[0];
    }
    return numerics::multiply(sum, scale, static_cast<numerics::IntegerRounding>(i[kRounding]));
}

std::int32_t clamped(const Instruction& i, std::int64_t value) {
    const numerics::IntegerRange range = range_of(i.type(kOutputType));
    value = std::clamp(value, i.signed_value(kLow), i.signed_value(kHigh));
    return static_cast<std::int32_t>(std::clamp<std::int64_t>(value, range.low, range.high));
}

TEST(NpuConvolve, EveryWayToMultiplyGivesTheDefinitionsBits) {
    for (std::uint32_t seed = 0; seed < 300; ++seed) {
        Case random(seed);
        const CoreLimits limits{.sram = 1 << 18,
                                .accumulators = 1 << 14,
                                .cores = 1,
                                .outputs = 8,
                                .winograd = seed % 3 == 1,
                                .zero_skipping = seed % 3 == 2};
        Machine machine(limits);
        Instruction i =
            random.make(seed % 5 == 0 ? Opcode::kDepthwise : Opcode::kConvolve, limits.outputs);
        const auto weights = random.fill(machine, i);
        // Limits that leave a range of the type.
        machine.run(i);
        const Image output = output_of(i);
        for (std::uint64_t y = 0; y < output.height; ++y)
            for (std::uint64_t x = 0; x < output.width; ++x)
                for (std::uint64_t k = 0; k < output.channels; ++k) {
                    const std::int64_t value =
                        rescaled(machine, i, sum_of(machine, i, weights, y, x, k), k);
                    ASSERT_EQ(machine.at(output, y, x, k),
                              clamped(i, value + i.signed_value(kOutputZero)))
                        << "seed " << seed << " at " << y << ", " << x << ", " << k;
                }
    }
}

TEST(NpuConvolve, SumsThatAreKeptGoOn) {
    for (std::uint32_t seed = 0; seed < 20; ++seed) {
        Case random(seed);
        Machine machine;
        Instruction whole = random.make(Opcode::kConvolve, 8);
        whole.set(kChannels, 8);
        whole.set(kInputType, ElementType::kInt8);
        whole.set(kInputPixel, 8);
        whole.set(kInputRow, 8 * whole[kWidth]);
        whole.set(kOutputType, ElementType::kInt32);
        whole.set(kOutputPixel, 4 * whole[kOutChannels]);
        whole.set(kOutputRow, whole[kOutputPixel] * whole[kOutWidth]);
        const auto weights = random.fill(machine, whole);
        machine.run(whole);
        const auto expected = machine.get<std::uint8_t>(kOutputAt, output_of(whole).bytes());

        // Three and five input channels.
        const std::uint64_t taps = whole[kKernelHeight] * whole[kKernelWidth];
        for (const auto& [first, count] : {std::pair<std::uint64_t, std::uint64_t>{0, 3}, {3, 5}}) {
            std::vector<std::int16_t> part;
            for (std::uint64_t lane = 0; lane < whole[kOutChannels] * taps; ++lane)
                for (std::uint64_t c = first; c < first + count; ++c)
                    part.push_back(weights[lane * 8 + c]);
            const auto stream =
                encode_weights(order_weights(part, whole[kOutChannels], taps, count, 8),
                               whole.type(kWeightType), WeightFormat::kRaw);
            machine.put(kWeightsAt, *stream);
            Instruction piece = whole;
            piece.set(kInput, kInputAt + first);
            piece.set(kChannels, count);
            piece.set(kWeightFormat, WeightFormat::kRaw);
            piece.set(kWeightBytes, stream->size());
            piece.set(kKeep, first == 0);
            piece.set(kAccumulate, first != 0);
            machine.run(piece);
        }
        EXPECT_EQ(machine.get<std::uint8_t>(kOutputAt, expected.size()), expected) << seed;
    }
}

TEST(NpuConvolve, CombinesLooksUpAndPoolsInOneCommand) {
    for (std::uint32_t seed = 0; seed < 60; ++seed) {
        Case random(seed);
        Machine machine;
        Instruction i = random.make(Opcode::kConvolve, 8);
        i.set(kOutputType, ElementType::kInt8);
        i.set(kOutHeight, 6);
        i.set(kOutWidth, 6);
        i.set(kOutputPixel, i[kOutChannels]);
        i.set(kOutputRow, i[kOutputPixel] * 6);
        i.set(kCombine, 1 + random.draw(0, 4));
        i.set(kForm, seed % 2);
        if (i.as<Rounding>(kRounding) == Rounding::kDouble) i.set(kForm, Form::kRescaled);
        i.set(kOperand, kOperandAt);
        i.set(kOperandType, random.narrow());
        i.set(kOperandPixel, i[kOutChannels]);
        i.set(kOperandRow, i[kOutChannels] * 6);
        i.set(kOperandZero, 3);
        i.set(kBroadcast, random.draw(0, 3));
        i.set(kFirst, 1'200'000'000);
        i.set(kSecond, 1'900'000'000);
        i.set(kFirstShift, 31);
        i.set(kSecondShift, 32);
        const bool rescales =
            i.as<Form>(kForm) == Form::kRescaled && i.as<Combine>(kCombine) <= Combine::kSubtract;
        i.set(kLeftShift, 20);
        i.set(kResultMultiplier, 1'500'000'000);
        i.set(kResultShift, rescales ? 50 : 32);
        i.set(kSumZero, -4);
        i.set(kSumLow, -100);
        i.set(kSumHigh, 90);
        i.set(kTableAt, random.draw(0, 2));
        i.set(kTable, kTableAtAddress);
        i.set(Field::kPool, random.draw(0, 2));
        i.set(kPoolHeight, 3);
        i.set(kPoolWidth, 2);
        i.set(kPoolStrideHeight, 2);
        i.set(kPoolStrideWidth, 1);
        i.set(kPoolPads, 0x0011);
        const auto weights = random.fill(machine, i);
        machine.run(i);

        // Value by value.
        const auto rounding = static_cast<numerics::IntegerRounding>(i[kRounding]);
        const auto look_up = [&](std::int32_t value) {
            return std::int32_t{
                machine.get<std::int8_t>(kTableAtAddress + std::uint64_t(value + 128), 1)[0]};
        };
        const Image operand = operand_of(i);
        const auto value_of = [&](std::uint64_t y, std::uint64_t x, std::uint64_t k) {
            std::int32_t v = static_cast<std::int32_t>(std::clamp<std::int64_t>(
                rescaled(machine, i, sum_of(machine, i, weights, y, x, k), k) - 4, -100, 90));
            if (i.as<TableAt>(kTableAt) == TableAt::kSum) v = look_up(v);
            const std::int32_t a = v + 4;
            const std::int32_t b =
                machine.at(operand, operand.height == 1 ? 0 : y, operand.width == 1 ? 0 : x,
                           operand.channels == 1 ? 0 : k) -
                3;
            std::int64_t r = 0;
            const numerics::FixedPointScale result{1'500'000'000,
                                                   static_cast<std::int32_t>(i[kResultShift])};
            const auto combine = i.as<Combine>(kCombine);
            if (combine == Combine::kMultiply) r = multiply(a * b, result, rounding);
            if (combine == Combine::kMaximum) r = multiply(std::max(a, b), result, rounding);
            if (combine == Combine::kMinimum) r = multiply(std::min(a, b), result, rounding);
            if (combine <= Combine::kSubtract) {
                const std::int32_t sign = combine == Combine::kSubtract ? -1 : 1;
                if (rescales)
                    r = multiply(static_cast<std::int32_t>(
                                     multiply(a * (1 << 20), {1'200'000'000, 31}, rounding) +
                                     multiply(sign * b * (1 << 20), {1'900'000'000, 32}, rounding)),
                                 result, rounding);
                else
                    r = numerics::shift_right(
                        std::int64_t{a} * 1'200'000'000 + std::int64_t{sign * b} * 1'900'000'000,
                        31, rounding);
            }
            const std::int32_t out = clamped(i, r + i.signed_value(kOutputZero));
            return i.as<TableAt>(kTableAt) == TableAt::kResult ? look_up(out) : out;
        };
        const Image output = output_of(i);
        const auto mode = i.as<PoolMode>(Field::kPool);
        for (std::uint64_t y = 0; y < output.height; ++y)
            for (std::uint64_t x = 0; x < output.width; ++x)
                for (std::uint64_t k = 0; k < output.channels; ++k) {
                    std::int32_t expected = 0;
                    if (mode == PoolMode::kNone) {
                        expected = value_of(y, x, k);
                    } else {
                        std::int32_t sum = 0, most = -128, count = 0;
                        for (std::uint64_t py = 2 * y; py < 2 * y + 3; ++py)
                            for (std::uint64_t px = x; px < x + 2; ++px) {
                                if (py < 1 || px < 1 || py > 6 || px > 6) continue;
                                const std::int32_t value = value_of(py - 1, px - 1, k);
                                ++count;
                                sum += value;
                                most = std::max(most, value);
                            }
                        expected = mode == PoolMode::kMax ? most
                                   : sum > 0              ? (sum + count / 2) / count
                                                          : (sum - count / 2) / count;
                    }
                    ASSERT_EQ(machine.at(output, y, x, k), expected)
                        << "seed " << seed << " at " << y << ", " << x << ", " << k;
                }
    }
}

TEST(NpuConvolve, WrongStreamsAndSumsAreFaults) {
    Case random(1);
    Machine machine;
    Instruction i = random.make(Opcode::kConvolve, 8);
    random.fill(machine, i);
    Instruction short_stream = i;
    short_stream.set(kWeightBytes, 1);
    EXPECT_THROW(machine.run(short_stream), ProgramFault);
    Instruction goes_on = i;
    goes_on.set(kAccumulate, 1);
    EXPECT_THROW(machine.run(goes_on), ProgramFault);
    Instruction other_group = i;
    other_group.set(kOutChannels, 20);
    other_group.set(kWeightGroup, 4);
    EXPECT_THROW(machine.run(other_group), InputError);
}

TEST(NpuMatrixMultiply, TakesBothOperandsFromTheSram) {
    for (const bool transposed : {false, true}) {
        Machine machine;
        std::mt19937 random(3);
        machine.fill(0, 1 << 14, random);
        constexpr std::uint64_t kRows = 5, kLanes = 7, kColumns = 9;
        Instruction i(Opcode::kMatrixMultiply, {{kInput, 0},
                                                {kHeight, 1},
                                                {kWidth, kRows},
                                                {kChannels, kLanes},
                                                {kInputPixel, kLanes},
                                                {kInputRow, kRows * kLanes},
                                                {kInputZero, 3},
                                                {kOperand, 0x400},
                                                {kOperandZero, -2},
                                                {kOperandRow, 16},
                                                {kTransposed, transposed},
                                                {kOutChannels, kColumns},
                                                {kOutputType, ElementType::kInt32},
                                                {kOutput, 0x1000},
                                                {kOutputPixel, 4 * kColumns},
                                                {kOutputRow, 4 * kColumns * kRows}});
        machine.run(i);
        const auto a = machine.get<std::int8_t>(0, kRows * kLanes),
                   b = machine.get<std::int8_t>(0x400, 256);
        const auto y = machine.get<std::int32_t>(0x1000, kRows * kColumns);
        for (std::uint64_t r = 0; r < kRows; ++r)
            for (std::uint64_t c = 0; c < kColumns; ++c) {
                std::int32_t sum = 0;
                for (std::uint64_t l = 0; l < kLanes; ++l)
                    sum += (a[r * kLanes + l] - 3) * (b[transposed ? c * 16 + l : l * 16 + c] + 2);
                EXPECT_EQ(y[r * kColumns + c], sum) << r << ", " << c;
            }
    }
}

}  // namespace
}  // namespace lockstep::npu
