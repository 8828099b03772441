// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>

#include "tests/isa/tpu/semantics/core.h"

namespace lockstep::tpu {
namespace {

using testing::ElementsAre;
using enum Field;

TEST(TpuMatrix, TilesComeOutOfTheFifoInOrder) {
    Core core;
    core.put<std::int8_t>(0, {1, 2, 3, 4});   // [lane][column]
    core.put<std::int8_t>(16, {5, 6, 7, 8});  // [column][lane]
    core.put<std::int8_t>(32, {10, -1});
    core.run(Opcode::kReadWeights,
             {{kFrom, WeightSource::kUnifiedBuffer}, {kPitch, 2}, {kLanes, 2}, {kColumns, 2}});
    core.run(Opcode::kReadWeights, {{kFrom, WeightSource::kUnifiedBuffer},
                                    {kAddress, 16},
                                    {kPitch, 2},
                                    {kLanes, 2},
                                    {kColumns, 2},
                                    {kTransposed, true}});
    const auto multiply = [&](bool next, bool accumulate, int to) {
        core.run(Opcode::kMatrixMultiply, {{kSource, 32},
                                           {kPitch, 2},
                                           {kRows, 1},
                                           {kLanes, 2},
                                           {kColumns, 2},
                                           {kAccumulator, to},
                                           {kSwitchWeights, next},
                                           {kAccumulate, accumulate}});
    };
    multiply(true, false, 0);
    EXPECT_THAT(core.accumulators(0, 2), ElementsAre(7, 16));
    multiply(false, true, 0);
    EXPECT_THAT(core.accumulators(0, 2), ElementsAre(14, 32));
    multiply(true, false, 1);
    EXPECT_THAT(core.accumulators(1, 2), ElementsAre(44, 62));
    EXPECT_THROW(multiply(true, false, 0), ProgramFault);  // no third tile
}

TEST(TpuMatrix, ConvolveIsTheDefinition) {
    // Two images of 5x6 pixels, 3 channels at a pitch of 4, any window, lanes in two pieces.
    std::mt19937 random(7);
    const int height = 5, width = 6, channels = 3, pitch = 4, outputs = 4;
    for (int repeat = 0; repeat < 20; ++repeat) {
        const int ky = 1 + static_cast<int>(random() % 3), kx = 1 + static_cast<int>(random() % 2);
        const int stride = 1 + static_cast<int>(random() % 2), pad = static_cast<int>(random() % 2);
        const int dilation = ky > 1 ? 1 + static_cast<int>(random() % 2) : 1;
        const int out_h = (height + 2 * pad - dilation * (ky - 1) - 1) / stride + 1;
        const int out_w = (width + 2 * pad - dilation * (kx - 1) - 1) / stride + 1;
        const int lanes = ky * kx * channels, pad_value = 3;
        Core core({1 << 16, 128, 16, 16, 1});
        std::vector<std::uint8_t> image(2 * height * width * pitch);
        std::vector<std::int8_t> weights(static_cast<std::size_t>(lanes * outputs));
        for (auto& value : image) value = static_cast<std::uint8_t>(random());
        for (auto& value : weights) value = static_cast<std::int8_t>(random());
        core.put(4096, image);
        core.put(0, weights);
        const int first_part = lanes > 16 ? 16 : lanes / 2 + 1;
        int lane = 0;
        const int rows = 2 * out_h * out_w - 1;
        for (const int part : {first_part, lanes - first_part}) {
            if (part == 0) continue;
            core.run(Opcode::kReadWeights, {{kFrom, WeightSource::kUnifiedBuffer},
                                            {kAddress, lane * outputs},
                                            {kPitch, outputs},
                                            {kLanes, part},
                                            {kColumns, outputs}});
            core.run(Opcode::kConvolve, {{kSource, 4096},
                                         {kPixelPitch, pitch},
                                         {kRows, rows},
                                         {kFirstRow, 1},
                                         {kLanes, part},
                                         {kFirstLane, lane},
                                         {kColumns, outputs},
                                         {kAccumulate, lane != 0},
                                         {kSwitchWeights, true},
                                         {kType, DataType::kUint8},
                                         {kHeight, height},
                                         {kWidth, width},
                                         {kChannels, channels},
                                         {kOutHeight, out_h},
                                         {kOutWidth, out_w},
                                         {kKernelHeight, ky},
                                         {kKernelWidth, kx},
                                         {kStrideHeight, stride},
                                         {kStrideWidth, stride},
                                         {kPadTop, pad},
                                         {kPadLeft, pad},
                                         {kDilationHeight, dilation},
                                         {kDilationWidth, dilation},
                                         {kPadValue, pad_value}});
            lane += part;
        }
        for (int row = 0; row < rows; ++row) {
            const int pixel = row + 1, n = pixel / (out_h * out_w), oy = pixel / out_w % out_h,
                      ox = pixel % out_w;
            for (int o = 0; o < outputs; ++o) {
                int sum = 0;
                for (int r = 0; r < ky; ++r)
                    for (int s = 0; s < kx; ++s)
                        for (int c = 0; c < channels; ++c) {
                            const int y = oy * stride - pad + r * dilation,
                                      x = ox * stride - pad + s * dilation;
                            const bool inside = y >= 0 && y < height && x >= 0 && x < width;
                            const int value = inside
                                                  ? image[static_cast<std::size_t>(
                                                        ((n * height + y) * width + x) * pitch + c)]
                                                  : pad_value;
                            sum += value * weights[static_cast<std::size_t>(
                                               ((r * kx + s) * channels + c) * outputs + o)];
                        }
                ASSERT_EQ(core.accumulators(static_cast<std::uint64_t>(row),
                                            outputs)[static_cast<std::size_t>(o)],
                          sum);
            }
        }
    }
}

TEST(TpuMatrix, BoundsNameWhatIsWrong) {
    const auto error = [](const Instruction& instruction) {
        Core core;
        return check_bounds(instruction, core.state.limits(), core.storage);
    };
    EXPECT_EQ(error({Opcode::kMatrixMultiply, {{kSource, 65530}, {kRows, 1}, {kLanes, 16}}}),
              "reads [0xfffa, 0x1000a) of 65536 bytes of the unified buffer");
    EXPECT_EQ(error({Opcode::kMatrixMultiply, {{kRows, 2}, {kLanes, 1}, {kAccumulator, 63}}}),
              "writes [0x3f, 0x41) of 64 rows of the accumulators");
    EXPECT_EQ(error({Opcode::kMatrixMultiply, {{kLanes, 17}}}),
              "17 lanes, but the array has 16 rows");
    EXPECT_EQ(error({Opcode::kReadWeights, {{kUnit, 2}}}), "matrix unit 2 of 2");
    EXPECT_EQ(error({Opcode::kReadHost, {{kHost, 5}, {kRows, 1}, {kRowBytes, 4}}}),
              "reads [0x5, 0x9) of host begins outside of every buffer");
}

}  // namespace
}  // namespace lockstep::tpu
