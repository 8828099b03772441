// SPDX-License-Identifier: Apache-2.0
// Wires against words: the netlist gives the cycles of the closed form and the bits of the
// instruction.
#include "models/npu/mac_array/netlist.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>

#include "sim/config/machine.h"

namespace lockstep::npu {
namespace {

using testing::HasSubstr;
using enum Field;

struct Convolution {
    Instruction i{Opcode::kConvolve};
    std::vector<std::int32_t> input, weights;

    explicit Convolution(std::mt19937& random) {
        const auto draw = [&](std::uint64_t low, std::uint64_t high) {
            return low + random() % (high - low + 1);
        };
        for (const Field one : {kDilationHeight, kDilationWidth}) i.set(one, draw(1, 2));
        for (const Field stride : {kStrideHeight, kStrideWidth}) i.set(stride, draw(1, 2));
        for (const Field kernel : {kKernelHeight, kKernelWidth}) i.set(kernel, draw(1, 3));
        for (const Field size : {kHeight, kWidth, kOutHeight, kOutWidth}) i.set(size, draw(1, 5));
        for (const Field pad : {kPadTop, kPadLeft}) i.set(pad, draw(0, 2));
        i.set(kChannels, draw(1, 12));
        i.set(kOutChannels, draw(1, 10));
        i.set(kWeightType, draw(0, 5));
        i.set(kWeightBytes, weights_of(i));
        input.resize(i[kHeight] * i[kWidth] * i[kChannels]);
        weights.resize(weights_of(i));
        for (auto* values : {&input, &weights})
            for (std::int32_t& value : *values)
                value = static_cast<std::int32_t>(random() % 256) - 128;
    }
    std::int32_t input_at(std::int64_t y, std::int64_t x, std::uint64_t c) const {
        if (y < 0 || x < 0 || y >= std::int64_t(i[kHeight]) || x >= std::int64_t(i[kWidth]))
            return 0;
        return input[(std::uint64_t(y) * i[kWidth] + std::uint64_t(x)) * i[kChannels] + c];
    }
    std::int32_t weight_at(std::uint64_t k, std::uint64_t ky, std::uint64_t kx,
                           std::uint64_t c) const {
        return weights[((k * i[kKernelHeight] + ky) * i[kKernelWidth] + kx) * i[kChannels] + c];
    }
    NetlistOperands operands() const {
        return {[this](auto... at) { return input_at(at...); },
                [this](auto... at) { return weight_at(at...); }};
    }
    std::vector<std::int32_t> sums() const {
        std::vector<std::int32_t> all;
        for (std::uint64_t y = 0; y < i[kOutHeight]; ++y)
            for (std::uint64_t x = 0; x < i[kOutWidth]; ++x)
                for (std::uint64_t k = 0; k < i[kOutChannels]; ++k) {
                    std::int32_t sum = 0;
                    for (std::uint64_t ky = 0; ky < i[kKernelHeight]; ++ky)
                        for (std::uint64_t kx = 0; kx < i[kKernelWidth]; ++kx)
                            for (std::uint64_t c = 0; c < i[kChannels]; ++c)
                                sum += input_at(std::int64_t(y * i[kStrideHeight] +
                                                             ky * i[kDilationHeight] - i[kPadTop]),
                                                std::int64_t(x * i[kStrideWidth] +
                                                             kx * i[kDilationWidth] - i[kPadLeft]),
                                                c) *
                                       weight_at(k, ky, kx, c);
                    all.push_back(sum);
                }
        return all;
    }
};

Parameters small_array(std::mt19937& random) {
    const auto set = [&](const char* path, std::uint32_t most) {
        return fmt::format("{}={}", path, 1 + random() % most);
    };
    return Parameters(*config::Machine::load(
        "npu_mobile", {set("array.inputs", 8), set("array.outputs", 8), set("array.pixels", 3),
                       set("array.stripe", 9), set("decoder.values", 16), set("decoder.bytes", 16),
                       set("array.lines_share_lanes", 4),
                       fmt::format("array.taps_share_lanes={}", random() % 2 != 0)}));
}

TEST(NpuNetlist, HasTheClosedFormsCyclesAndTheInstructionsBits) {
    std::mt19937 random(11);
    for (int repeat = 0; repeat < 60; ++repeat) {
        const Convolution made(random);
        const Parameters parameters = small_array(random);
        const auto rate = static_cast<std::uint32_t>(random() % 9);
        const ArrayTime time = array_time(plan_array(made.i, parameters, {}), rate);
        const NetlistResult result = run_netlist(made.i, parameters, made.operands(), rate);
        EXPECT_EQ(result.cycles, time.cycles) << repeat;
        EXPECT_EQ(result.sums, made.sums()) << repeat;
    }
}

TEST(NpuNetlist, WritesItsWiresAndRefusesWhatIsTooLarge) {
    std::mt19937 random(3);
    const Convolution made(random);
    const std::string path =
        (std::filesystem::temp_directory_path() / "lockstep_npu_netlist.vcd").string();
    const Parameters parameters = small_array(random);
    run_netlist(made.i, parameters, made.operands(), 4, path);
    std::ifstream file(path);
    const std::string text{std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
    std::remove(path.c_str());
    EXPECT_THAT(text, HasSubstr("banks_used"));
    EXPECT_THAT(text, HasSubstr("output_0"));
    EXPECT_THAT(text, HasSubstr("$enddefinitions"));
    EXPECT_THAT(check_netlist(made.i, Parameters(*config::Machine::load("nvdla_large",
                                                                        {"array.winograd=false"}))),
                HasSubstr("--set array.inputs="));
}

}  // namespace
}  // namespace lockstep::npu
