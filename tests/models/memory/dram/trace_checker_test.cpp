// SPDX-License-Identifier: Apache-2.0
// The judge is judged: a controller that is one clock too quick in any single constraint is caught.
#include "tests/models/memory/dram/trace_checker.h"

#include <gtest/gtest.h>

#include <random>

#include "tests/models/memory/dram/drive.h"

namespace lockstep::memory::dram {
namespace {

struct Mutation {
    const char* name;
    void (*apply)(Timing&);
};

const Mutation kMutations[] = {
    {"RCD_read", [](Timing& t) { --t.RCD_read; }},
    {"RCD_write", [](Timing& t) { --t.RCD_write; }},
    {"RP", [](Timing& t) { --t.RP; }},
    {"RAS", [](Timing& t) { --t.RAS; }},
    {"RC", [](Timing& t) { t.RC -= 5, t.RAS -= 5, t.RP -= 1; }},
    {"CCD_S", [](Timing& t) { --t.CCD_S; }},
    {"CCD_L", [](Timing& t) { --t.CCD_L; }},
    {"CCD_R", [](Timing& t) { --t.CCD_R; }},
    {"RRD_S", [](Timing& t) { --t.RRD_S; }},
    {"RRD_L", [](Timing& t) { --t.RRD_L; }},
    {"FAW", [](Timing& t) { --t.FAW; }},
    {"WTR_S", [](Timing& t) { --t.write_to_read_S; }},
    {"WTR_L", [](Timing& t) { --t.write_to_read_L; }},
    {"turnaround", [](Timing& t) { --t.read_to_write; }},
    {"RTP", [](Timing& t) { --t.RTP; }},
    {"WR", [](Timing& t) { --t.write_to_precharge; }},
    {"RFC", [](Timing& t) { --t.RFC; }},
    {"RFC_bank", [](Timing& t) { --t.RFC_bank; }},
    {"RREFD", [](Timing& t) { --t.RREFD; }},
};

std::vector<Command> run(const Geometry& geometry, RefreshPolicy refresh, int style) {
    std::mt19937_64 random(static_cast<std::uint64_t>(style));
    ControllerParameters parameters;
    parameters.refresh = refresh;
    parameters.write_burst = 2;
    parameters.write_high = 8;
    parameters.write_low = 2;
    if (style % 2 == 1) parameters.row_policy = &closed_rows();
    std::vector<Offered> requests;
    Cycle at = 0;
    for (int i = 0; i < 4000; ++i) {
        if (style / 2 == 1) at += random() % 60;
        const std::uint32_t banks = style % 3 == 0 ? geometry.banks() : 1 + style;
        requests.push_back({random() % 3 == 0 ? Direction::kWrite : Direction::kRead,
                            {static_cast<std::uint32_t>(random() % banks),
                             static_cast<std::uint32_t>(random() % (style < 3 ? 1000 : 2)), 0},
                            at});
    }
    Controller controller(geometry, parameters);
    std::vector<Command> trace;
    controller.record(&trace);
    drive(controller, requests);
    return trace;
}

std::string verdict(const Geometry& made, const Geometry& judged) {
    for (const RefreshPolicy refresh : {RefreshPolicy::kAllBank, RefreshPolicy::kPerBank})
        for (int style = 0; style < 6; ++style)
            if (std::string wrong = check_trace(run(made, refresh, style), judged); !wrong.empty())
                return wrong;
    return "";
}

TEST(TraceChecker, FindsEveryConstraintThatIsOneClockShort) {
    Geometry geometry = make_geometry(find_preset("a100"));
    geometry.timing.RTP += 40;  // so that it, not RAS, decides
    geometry.timing.FAW += 20;  // beyond four RRD_S
    geometry.timing.RC += 3;    // likewise, beyond RAS + RP
    ASSERT_EQ(verdict(geometry, geometry), "");
    for (const Mutation& mutation : kMutations) {
        Geometry wrong = geometry;
        mutation.apply(wrong.timing);
        EXPECT_NE(verdict(wrong, geometry), "") << mutation.name;
    }
}

TEST(TraceChecker, FindsCommandsOfAWrongState) {
    const Geometry geometry = make_geometry(find_preset("t4"));
    EXPECT_NE(check_trace({{10, CommandKind::kRead, 0, 5}}, geometry), "");
    EXPECT_NE(check_trace({{10, CommandKind::kPrecharge, 0, 0}}, geometry), "");
    EXPECT_NE(check_trace({{10, CommandKind::kActivate, 0, 5}, {900, CommandKind::kActivate, 0, 6}},
                          geometry),
              "");
    EXPECT_NE(check_trace({{10, CommandKind::kActivate, 0, 5}, {900, CommandKind::kRead, 0, 6}},
                          geometry),
              "");
    EXPECT_NE(
        check_trace({{10, CommandKind::kActivate, 0, 5}, {900, CommandKind::kRefreshBank, 0, 0}},
                    geometry),
        "");
    EXPECT_NE(check_trace({{10, CommandKind::kActivate, 0, 5}, {10, CommandKind::kActivate, 8, 6}},
                          geometry),
              "");
    EXPECT_EQ(check_trace({{10, CommandKind::kActivate, 0, 5}, {900, CommandKind::kRead, 0, 5}},
                          geometry),
              "");
}

}  // namespace
}  // namespace lockstep::memory::dram
