// SPDX-License-Identifier: Apache-2.0
// What pictures show is what the models compute.
#include "sim/lab/widgets/widgets.h"

#include <gtest/gtest.h>

#include "sim/error/error.h"

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

TEST(Widgets, TellWhatIsWrongInARequest) {
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
