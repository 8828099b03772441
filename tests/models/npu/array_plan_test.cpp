// SPDX-License-Identifier: Apache-2.0
// The closed form against a machine that goes cycle by cycle: a decoder, an array and an output
// stage that hand each other weights and sums.
#include "models/npu/array_plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck.h>

#include <deque>

#include "sim/config/machine.h"

namespace lockstep::npu {
namespace {

using enum Field;

struct Stepwise {
    std::uint64_t cycles = 0, active = 0;
};

/// All of it, a cycle at a time.
Stepwise run_stepwise(const ArrayPlan& plan, std::uint32_t values_a_cycle) {
    struct Job {
        std::uint64_t decode, positions, values;  // values: of its group's, after its last step
        bool begins, ends;
    };
    std::deque<Job> to_decode;
    for (std::uint64_t first = 0; first < plan.positions; first += plan.stripe) {
        const std::uint64_t end = std::min(first + plan.stripe, plan.positions);
        const std::uint64_t pixels = plan.pixels_before(end) - plan.pixels_before(first);
        for (const OutputGroup& group : plan.groups) {
            const std::size_t begin = to_decode.size();
            for (const Steps& step : group.steps)
                for (std::uint64_t n = 0; n < step.count; ++n)
                    to_decode.push_back(
                        {step.decode, end - first, pixels * group.outputs, false, false});
            to_decode[begin].begins = to_decode.back().ends = true;
        }
    }
    Stepwise result;
    std::deque<Job> decoded, in_array;  // one each: the registers behind and in front
    std::uint64_t decoding = to_decode.front().decode;
    bool decoder_busy = true;
    std::uint64_t passing = 0;
    std::deque<std::uint64_t> sums;  // values of the groups whose sums have room: 2 at most
    std::size_t open = 0;            // groups begun whose sums have not all left
    for (std::uint64_t cycle = 0;; ++cycle) {
        // What is ready at the beginning of this cycle.
        for (bool any = true; any;) {
            any = false;
            if (!in_array.empty() && passing == 0) {
                if (in_array[0].ends) sums.push_back(values_a_cycle == 0 ? 0 : in_array[0].values);
                in_array.clear();
                any = true;
            }
            while (!sums.empty() && sums.front() == 0) {
                sums.pop_front();
                --open;
                any = true;
            }
            if (decoder_busy && decoding == 0 && decoded.empty()) {
                decoded.push_back(to_decode.front());
                to_decode.pop_front();
                decoder_busy = false;
                any = true;
            }
            if (in_array.empty() && !decoded.empty() && (!decoded[0].begins || open < 2)) {
                if (decoded[0].begins) ++open;
                in_array.swap(decoded);
                passing = in_array[0].positions;
                any = true;
                // The next weights are begun with as these positions begin to pass.
                if (!to_decode.empty()) {
                    decoder_busy = true;
                    decoding = to_decode.front().decode;
                }
            }
        }
        if (in_array.empty() && sums.empty() && to_decode.empty() && decoded.empty()) {
            result.cycles = cycle;
            return result;
        }
        if (decoder_busy && decoding != 0) --decoding;
        if (!in_array.empty()) --passing, ++result.active;
        if (!sums.empty()) sums.front() -= std::min<std::uint64_t>(sums.front(), values_a_cycle);
    }
}

Parameters parameters_of(const std::vector<std::string>& overrides) {
    return Parameters(*config::Machine::load("npu_mobile", overrides));
}

Instruction convolution(std::uint64_t height, std::uint64_t width, std::uint64_t channels,
                        std::uint64_t outputs, std::uint64_t kernel) {
    Instruction i(Opcode::kConvolve, {{kHeight, height},
                                      {kWidth, width},
                                      {kChannels, channels},
                                      {kOutHeight, height},
                                      {kOutWidth, width},
                                      {kOutChannels, outputs},
                                      {kKernelHeight, kernel},
                                      {kKernelWidth, kernel},
                                      {kStrideHeight, 1},
                                      {kStrideWidth, 1},
                                      {kDilationHeight, 1},
                                      {kDilationWidth, 1},
                                      {kOutputPixel, outputs},
                                      {kOutputRow, outputs * width}});
    i.set(kWeightBytes, weights_of(i));
    return i;
}

TEST(NpuArrayPlan, TakesTheCyclesOfAMachineThatGoesStepByStep) {
    EXPECT_TRUE(rc::check([] {
        const auto draw = [](int low, int high) { return *rc::gen::inRange(low, high + 1); };
        const auto set = [](const char* path, int value) {
            return fmt::format("{}={}", path, value);
        };
        const Parameters parameters =
            parameters_of({set("array.inputs", draw(1, 20)), set("array.outputs", draw(1, 20)),
                           set("array.pixels", draw(1, 4)), set("array.stripe", draw(1, 40)),
                           set("decoder.values", draw(1, 64)), set("decoder.bytes", draw(1, 64)),
                           set("array.depthwise_taps", draw(1, 4)),
                           fmt::format("array.winograd={}", draw(0, 1) != 0),
                           set("array.lines_share_lanes", draw(1, 4)),
                           fmt::format("array.taps_share_lanes={}", draw(0, 1) != 0)});
        Instruction i = convolution(std::uint64_t(draw(1, 9)), std::uint64_t(draw(1, 9)),
                                    std::uint64_t(draw(1, 40)), std::uint64_t(draw(1, 40)),
                                    std::uint64_t(draw(1, 3)));
        i.set(kWeightType, draw(0, 5));
        const ArrayPlan plan = plan_array(i, parameters, {});
        const auto rate = static_cast<std::uint32_t>(draw(0, 16));
        const ArrayTime time = array_time(plan, rate);
        const Stepwise stepwise = run_stepwise(plan, rate);
        RC_ASSERT(time.cycles == stepwise.cycles);
        RC_ASSERT(time.active == stepwise.active);
        RC_ASSERT(time.active + time.decode_stall + time.output_stall == time.cycles);
        // Nothing is left out: each output takes each input of its window once.
        if (!uses_winograd(i, parameters.limits())) {
            std::uint64_t macs = 0;
            for (const OutputGroup& group : plan.groups)
                for (const Steps& step : group.steps)
                    macs += plan.pixels * group.outputs * step.count * step.inputs;
            RC_ASSERT(macs == macs_of(i));
        }
    }));
}

TEST(NpuArrayPlan, AFullArrayTakesMacsOverMultipliers) {
    const Parameters parameters = parameters_of({"decoder.values=4096", "decoder.bytes=4096"});
    // 16 x 16 x 2 multipliers; 64 inputs, 32 outputs, 3 x 3 taps, 16 x 16 pixels.
    const ArrayTime time =
        array_time(plan_array(convolution(16, 16, 64, 32, 3), parameters, {}), 0);
    EXPECT_EQ(time.active, std::uint64_t{64} * 32 * 9 * 256 / 512);
    EXPECT_EQ(time.cycles, time.active + 1);  // and the first step's weights
}

TEST(NpuArrayPlan, NarrowWeightsAreTwoAndFourToAMultiplier) {
    const Parameters parameters = parameters_of({"decoder.values=4096", "decoder.bytes=4096"});
    Instruction i = convolution(16, 16, 64, 32, 3);
    const std::uint64_t bytes = array_time(plan_array(i, parameters, {}), 0).active;
    i.set(kWeightType, ElementType::kInt4);
    EXPECT_EQ(array_time(plan_array(i, parameters, {}), 0).active, bytes / 2);
    i.set(kWeightType, ElementType::kInt2);
    EXPECT_EQ(array_time(plan_array(i, parameters, {}), 0).active, bytes / 4);
    // Where both operands must be narrow, 8-bit inputs keep it back.
    const Parameters both = parameters_of({"array.split=both"});
    EXPECT_EQ(split_factor(i, both.array), 1u);
    i.set(kInputType, ElementType::kUint4);
    EXPECT_EQ(split_factor(i, both.array), 2u);
}

TEST(NpuArrayPlan, WinogradFormsSixteenProductsForThirtySix) {
    const std::vector<std::string> fast = {"decoder.values=4096", "decoder.bytes=4096"};
    auto with = fast;
    with.push_back("array.winograd=true");
    const Instruction i = convolution(16, 16, 64, 32, 3);
    const std::uint64_t direct = array_time(plan_array(i, parameters_of(fast), {}), 0).active,
                        winograd = array_time(plan_array(i, parameters_of(with), {}), 0).active;
    EXPECT_DOUBLE_EQ(double(direct) / double(winograd), 2.25);
}

TEST(NpuArrayPlan, SkippedInputsTakeNoSteps) {
    const Parameters parameters = parameters_of({"array.zero_skipping=true"});
    const Instruction i = convolution(8, 8, 64, 32, 1);
    // Two groups of 16 outputs, one tap: of 64 inputs 16 and 33 have weights.
    const std::uint32_t used[] = {16, 33};
    const ArrayPlan plan = plan_array(i, parameters, used);
    EXPECT_EQ(plan.groups[0].steps[0].count, 1u);
    EXPECT_EQ(plan.groups[1].steps[0].count + plan.groups[1].steps[1].count, 3u);
}

TEST(NpuArrayPlan, NvdlasSheetIsTheBoundWithoutPartialSteps) {
    // Layers of ResNet-50 as NVDLA's performance sheet counts them, where channels fill the lanes:
    // Res2b_branch2b (3 x 3, Winograd, 64 to 64 channels, which the sheet rounds up to 128).
    const Parameters nvdla(*config::Machine::load("nvdla_large"));
    const ArrayTime time = array_time(plan_array(convolution(56, 56, 64, 128, 3), nvdla, {}), 32);
    EXPECT_EQ(time.active, 50176u);
}

}  // namespace
}  // namespace lockstep::npu
