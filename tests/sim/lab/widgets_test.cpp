// SPDX-License-Identifier: Apache-2.0
// What pictures show is what the models compute.
#include "sim/lab/widgets/widgets.h"

#include <gtest/gtest.h>

#include "sim/error/error.h"
#include "sim/lab/widgets/roofline.h"

namespace lockstep::lab {
namespace {

using Json = nlohmann::json;

Json answer(const std::string& name, const std::string& request) {
    return Json::parse(widget_answer(name, request));
}

std::string error_of(const std::string& name, const std::string& request) {
    try {
        widget_answer(name, request);
    } catch (const InputError& error) {
        return error.what();
    }
    return "none";
}

TEST(SystolicWidget, HasTheProductAndAFrameACycle) {
    for (const char* dataflow : {"ws", "os", "is"})
        for (const char* overlap : {"none", "drain", "double"}) {
            const Json run = answer(
                "systolic", R"({"m": 5, "n": 4, "k": 6, "rows": 3, "columns": 2, "dataflow": ")" +
                                std::string(dataflow) + R"(", "overlap": ")" + overlap + "\"}");
            EXPECT_EQ(run["frames"].size(), run["cycles"].get<std::size_t>() + 1);
            EXPECT_EQ(run["frames"][0].size(), 6u);
            for (std::size_t i = 0; i < 5; ++i)
                for (std::size_t j = 0; j < 4; ++j) {
                    int sum = 0;
                    for (std::size_t l = 0; l < 6; ++l)
                        sum += run["a"][i][l].get<int>() * run["b"][l][j].get<int>();
                    EXPECT_EQ(run["c"][i][j], sum) << dataflow;
                }
        }
}

/// sectors, wavefronts
std::pair<int, int> access(const std::string& request) {
    const Json run = answer("warp_access", request);
    return {run["global"]["sectors"], run["shared"]["wavefronts"]};
}

TEST(WarpAccessWidget, HasTheCountsOfTheMemoryUnit) {
    EXPECT_EQ(access(R"({"stride": 1})"), std::pair(4, 1));
    EXPECT_EQ(access(R"({"stride": 2})"), std::pair(8, 2));
    EXPECT_EQ(access(R"({"stride": 8})"), std::pair(32, 8));
    EXPECT_EQ(access(R"({"stride": 0})"), std::pair(1, 1));
    EXPECT_EQ(access(R"({"offset": 4})").first, 5);
    EXPECT_EQ(access(R"({"width": 16, "offset": 16, "lanes": 8})").first, 5);
    EXPECT_EQ(access(R"({"pattern": "column", "pitch": 256})").first, 32);
    EXPECT_EQ(access(R"({"pattern": "column", "pitch": 32})").second, 32);
    EXPECT_EQ(access(R"({"pattern": "column", "pitch": 33})").second, 1);
    EXPECT_EQ(access(R"({"pattern": "column", "pitch": 40})").second, 8);
    EXPECT_EQ(access(R"({"width": 8})").second, 2);
    EXPECT_EQ(access(R"({"width": 16, "stride": 2})").second, 8);
}

TEST(WarpAccessWidget, SwizzlesAsTheTmaDoes) {
    const auto wavefronts = [](const char* swizzle) {
        return access(R"({"pattern": "column", "width": 16, "pitch": 8, "lanes": 8, "swizzle": ")" +
                      std::string(swizzle) + "\"}")
            .second;
    };
    EXPECT_EQ(wavefronts("0"), 8);
    EXPECT_EQ(wavefronts("32"), 4);
    EXPECT_EQ(wavefronts("64"), 2);
    EXPECT_EQ(wavefronts("128"), 1);
    const Json run = answer(
        "warp_access",
        R"({"pattern": "column", "width": 16, "pitch": 8, "column": 3, "lanes": 8, "swizzle": "128"})");
    EXPECT_EQ(run["addresses"][5], (5 * 8 + 6) * 16);  // chunk 3 of row 5
}

TEST(WarpAccessWidget, SaysWhatIsWrong) {
    EXPECT_EQ(error_of("warp_access", R"({"width": 3})"), "width: unknown '3'");
    EXPECT_EQ(error_of("warp_access", R"({"width": 16, "offset": 8})"),
              "offset: elements of 16 bytes are aligned to their size; 8 is not");
    EXPECT_EQ(error_of("warp_access", R"({"strid": 3})"), "unknown 'strid'; did you mean stride?");
}

TEST(GradientWidget, HasWhatAPencilFinds) {
    const Json hand = answer("gradient", "{}");
    EXPECT_EQ(hand["values"]["h"], Json({3, -1}));
    EXPECT_EQ(hand["values"]["a"], Json({3, 0}));
    EXPECT_EQ(hand["values"]["loss"], Json({4}));
    EXPECT_EQ(hand["gradients"]["y"], Json({4}));
    EXPECT_EQ(hand["gradients"]["w2"], Json({12, 0}));
    EXPECT_EQ(hand["gradients"]["a"], Json({8, 12}));
    EXPECT_EQ(hand["gradients"]["h"], Json({8, 0}));
    EXPECT_EQ(hand["gradients"]["w1"], Json({8, 0, 16, 0}));
    EXPECT_NEAR(hand["next"]["loss"], 0.788544, 1e-12);
    EXPECT_NEAR(answer("gradient", R"({"rate": [0.1]})")["next"]["loss"], 16, 1e-12);
}

TEST(GradientWidget, AgreesWithDifferences) {
    const Json run =
        answer("gradient",
               R"({"x": [0.7, -1.3], "w1": [0.4, 2, -1.1, 0.3], "w2": [1.5, -2], "target": [3]})");
    for (const char* name : {"w1", "w2"})
        for (std::size_t i = 0; i < run["gradients"][name].size(); ++i)
            EXPECT_NEAR(run["gradients"][name][i], run["differences"][name][i].get<double>(), 1e-6);
    EXPECT_GT(run["nodes"].size(), 8u);
    EXPECT_EQ(error_of("gradient", R"({"x": [1]})"), "x: wanted 2 numbers");
}

TEST(WarpWidget, ShowsBothSidesAndWhereTheyMeet) {
    const Json run = answer("warp", R"({"kernel": "sides", "split": 12, "work": 2})");
    std::vector<std::uint32_t> sums, barriers;
    for (const auto& issue : run["issues"]) {
        const std::string text = issue["text"];
        if (text.starts_with("FFMA")) sums.push_back(issue["lanes"]);
        if (text.starts_with("BSYNC")) barriers.push_back(issue["lanes"]);
    }
    EXPECT_EQ(sums, (std::vector<std::uint32_t>{0xfffff000, 0xfffff000, 0xfff, 0xfff}));
    EXPECT_EQ(barriers, (std::vector<std::uint32_t>{0xfffff000, 0xfff}));
    EXPECT_EQ(run["issues"].back()["lanes"], 0xffffffffu);
}

TEST(WarpWidget, HasControlBitsAndWaits) {
    const Json run = answer("warp", R"({"kernel": "warps", "work": 3, "warp": 1})");
    std::uint64_t before = 0;
    bool waited = false;
    for (const auto& issue : run["issues"]) {
        EXPECT_GT(issue["cycle"], before);
        before = issue["cycle"];
        if (!issue["text"].get<std::string>().starts_with("FFMA")) continue;
        EXPECT_EQ(issue["control"]["wait"], 32);  // barrier 5, which the load sets
        waited = waited || !issue["waits"].empty();
    }
    EXPECT_TRUE(waited);
    EXPECT_EQ(error_of("warp", R"({"kernel": "side"})"),
              "kernel: unknown 'side'; did you mean sides?");
}

// The sheet's table (models/tpu/systolic/lab.md), which is what the VCD shows.
TEST(SystolicWidget, ShowsWhatTheWaveformShows) {
    const Json run = answer("systolic", R"({"m": 3, "n": 2, "k": 2, "values": "run"})");
    EXPECT_EQ(run["cycles"], 7);
    const auto wire = [&](std::size_t cycle, std::size_t pe, std::size_t name) {
        return run["frames"][cycle][pe][name].get<int>();
    };
    constexpr std::size_t kWest = 0, kSumIn = 2, kSumOut = 3, kHeld = 4;
    EXPECT_EQ(wire(3, 0, kWest), -122);
    EXPECT_EQ(wire(3, 0, kHeld), -84);
    EXPECT_EQ(wire(3, 2, kSumIn), -8232);
    EXPECT_EQ(wire(4, 2, kWest), 120);
    EXPECT_EQ(wire(4, 2, kSumIn), 10248);
    EXPECT_EQ(wire(4, 2, kSumOut), -7044);
    EXPECT_EQ(wire(5, 2, kSumOut), 2328);
}

// isa/sass/tensor_core: cut below 23, 24 or 25 bits under the largest exponent.
TEST(TensorCoreWidget, HasEachGenerationsBits) {
    const Json dot =
        answer("tensor_core", R"({"a": [1, 1, 1, 1], "b": [1, 1, 1, 1], "c": [16777216]})");
    ASSERT_EQ(dot["generations"].size(), 4u);
    EXPECT_EQ(dot["generations"][0]["result"], 16777216);
    EXPECT_EQ(dot["generations"][2]["result"], 16777220);
    EXPECT_EQ(dot["fused"], 16777216);
    EXPECT_EQ(dot["once"], 16777220);
    const Json& group = dot["generations"][2]["groups"][0];
    EXPECT_EQ(group["largest"], 24);
    EXPECT_EQ(group["terms"][0]["aligned"], 1);
    const Json half =
        answer("tensor_core",
               R"({"a": [1, 0, 0, 0], "b": [1, 0, 0, 0], "c": [2048], "accumulate": "fp16"})");
    EXPECT_EQ(half["generations"][0]["result"], 2048);
    EXPECT_EQ(answer("tensor_core", R"({"type": "bf16"})")["generations"].size(), 2u);
}

// PTX ISA, matrix fragments of mma.m16n8k16.
TEST(FragmentsWidget, HasTheLayoutOfThePtxIsa) {
    const Json map = answer("fragments", "{}");
    EXPECT_EQ(map["a"][5][6], Json({23, 0, 0}));
    EXPECT_EQ(map["a"][13][7], Json({23, 1, 1}));
    EXPECT_EQ(map["a"][0][8], Json({0, 2, 0}));
    EXPECT_EQ(map["b"][9][3], Json({12, 1, 1}));
    EXPECT_EQ(map["c"][8][1], Json({0, 3, 0}));
    EXPECT_EQ(answer("fragments", R"({"type": "int8"})")["a"][0].size(), 32u);
}

TEST(RooflineWidget, HasTheMachinesPeaks) {
    const Json roofs = answer("roofline", R"({"machines": ["a100", "tpu_v1"]})")["roofs"];
    EXPECT_EQ(roofs[0]["bandwidth"], 2039e9);
    EXPECT_NEAR(roofs[0]["peaks"]["fp16"].get<double>(), 312e12, 1e12);
    EXPECT_NEAR(roofs[1]["peaks"]["int8"].get<double>(), 92e12, 1e12);
}

TEST(RooflineWidget, PlacesARunUnderTheRoofItRanWith) {
    const Json point =
        roofline_point(R"({"machine": "a100", "workload": "w", "run": {"set": ["sm.count=54"]},
        "totals": {"cycles": 1000, "seconds": 1e-6}, "steps": [{"name": "k", "metrics": {
        "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum": 100, "dram__bytes.sum": 50}}]})");
    EXPECT_EQ(point["operations"], 200);
    EXPECT_EQ(point["bytes"], 50);
    EXPECT_EQ(point["precision"], "fp32");
    EXPECT_NEAR(point["roof"]["peaks"]["fp16"].get<double>(), 156e12, 1e12);
    EXPECT_EQ(point["roof"]["set"], Json({"sm.count=54"}));
}

TEST(Widgets, TellWhatIsWrongInARequest) {
    EXPECT_EQ(error_of("tensor_core", R"({"a": [1], "b": [1, 2]})"),
              "a and b: wanted the same count of numbers");
    EXPECT_EQ(error_of("tensor_core", R"({"a": [1e9]})"),
              "a and b: wanted the same count of numbers");
    EXPECT_EQ(error_of("tensor_core", R"({"a": [1e9], "b": [1]})"),
              "the netlist of a Tensor Core step takes finite numbers only");
    EXPECT_EQ(error_of("tensor_core_vcd", R"({"sm": 71})"), "sm: 71 is none of 70, 75, 80 and 90");
    EXPECT_EQ(error_of("roofline", R"({"machines": ["a1000"]})"), "machines: no machine 'a1000'");
    EXPECT_EQ(error_of("roofline", "{}"), "machines: wanted a list of 1 to 8 texts");
    EXPECT_EQ(error_of("systolic", R"({"rows": 17})"), "rows: wanted a whole number of 1 to 16");
    EXPECT_EQ(error_of("systolic", R"({"row": 2})"), "unknown 'row'; did you mean rows?");
    EXPECT_EQ(error_of("systolic", R"({"dataflow": "wss"})"),
              "dataflow: unknown 'wss'; did you mean ws?");
    EXPECT_EQ(error_of("systolic", "[]"), "wanted an object");
    EXPECT_NE(error_of("systolic", R"({"rows": 16, "columns": 16, "m": 64, "n": 64, "k": 64})")
                  .find("too many to look at"),
              std::string::npos);
}

}  // namespace
}  // namespace lockstep::lab
