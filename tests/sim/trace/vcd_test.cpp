// SPDX-License-Identifier: Apache-2.0
#include "tests/vcd/vcd.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <limits>

#include "sim/error/error.h"
#include "sim/trace/trace.h"
#include "sim/trace/vcd_writer.h"

namespace lockstep::trace {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;

class VcdFile : public testing::Test {
  protected:
    ~VcdFile() override { std::remove(path_.c_str()); }
    const std::string path_ = testing::TempDir() + "/waves_" + std::to_string(getpid()) + ".vcd";
};

TEST_F(VcdFile, ASliceIsTheValueOfItsTrackWhileItLasts) {
    {
        Trace trace(path_, {}, "$title");
        const TrackId track = trace.track("sm0.sub core 1", "the pipe");
        Recorder& recorder = trace.recorder();
        recorder.slice(track, {trace.name("IADD3 R1, \\R2")}, 10, 20);
        recorder.slice(track, {trace.name("CTA"), 7}, 20, 25);
        recorder.slice(track, {trace.name("outer")}, 30, 40);
        recorder.slice(track, {trace.name("inner")}, 32, 35);
    }
    const Vcd vcd = Vcd::read(path_);
    EXPECT_EQ(vcd.timescale, "1 ns ");
    EXPECT_EQ(vcd.variables.at("sm0.sub_core_1.the_pipe").type, "string");
    EXPECT_THAT(
        vcd.variables.at("sm0.sub_core_1.the_pipe").values,
        ElementsAre(Pair(0, ""), Pair(10, "IADD3 R1, \\R2"), Pair(20, "CTA 7"), Pair(25, ""),
                    Pair(30, "outer"), Pair(32, "inner"), Pair(35, "outer"), Pair(40, "")));
}

TEST_F(VcdFile, ChangesComeInTheOrderOfTime) {
    {
        Trace trace(path_, {.from = 5, .until = 100}, "t");
        const TrackId a = trace.track("g", "a", TrackKind::kInteger);
        const TrackId b = trace.track("g", "b", TrackKind::kReal);
        Recorder &first = trace.recorder(), &second = trace.recorder();
        first.counter(a, 3, 50);
        first.counter(a, 3, 60);  // no change
        second.counter(b, 0.25, 20);
        second.counter(b, 1, 4);    // before the window
        second.counter(b, 1, 100);  // after it
        trace.drain(30);
        first.counter(a, std::numeric_limits<double>::quiet_NaN(), 70);
        first.counter(a, 5, 40);
        first.counter(a, 6, 40);
    }
    const Vcd vcd = Vcd::read(path_);
    EXPECT_THAT(vcd.variables.at("g.a").values,
                ElementsAre(Pair(0, "x"), Pair(40, "110"), Pair(50, "11"), Pair(70, "x")));
    EXPECT_THAT(vcd.variables.at("g.b").values, ElementsAre(Pair(0, "0"), Pair(20, "0.25")));
}

TEST_F(VcdFile, IsWholeAfterEachCompletionAlsoWhereTracksAreMadeLater) {
    Trace trace(path_, {}, "t");
    Recorder& recorder = trace.recorder();
    recorder.slice(trace.track("g", "a"), {trace.name("x")}, 1, 2);
    trace.complete();
    EXPECT_EQ(Vcd::read(path_).variables.size(), 1u);
    recorder.slice(trace.track("g", "a"), {trace.name("y")}, 3, 4);
    trace.complete();
    EXPECT_EQ(Vcd::read(path_).variables.at("g.a").at(3), "y");
    recorder.slice(trace.track("h", "b"), {trace.name("x")}, 5, 6);
    trace.complete();
    const Vcd vcd = Vcd::read(path_);
    EXPECT_EQ(vcd.variables.at("g.a").at(1), "x");
    EXPECT_EQ(vcd.variables.at("h.b").at(5), "x");
}

TEST_F(VcdFile, EndsWhereItGrowsTooLarge) {
    constexpr std::uint64_t kMost = 200'000;
    Trace trace(std::make_unique<VcdWriter>(path_, "t", kMost), {});
    Recorder& recorder = trace.recorder();
    const TrackId track = trace.track("g", "a", TrackKind::kInteger);
    for (Cycle at = 0; at < 100'000; ++at) recorder.counter(track, double(at), at);
    try {
        trace.drain(kForever);
        FAIL() << "no limit";
    } catch (const InputError& error) {
        EXPECT_THAT(error.what(), testing::AllOf(HasSubstr("--trace-window"), HasSubstr("GiB"),
                                                 HasSubstr(path_)));
    }
    trace.complete();
    EXPECT_FALSE(std::filesystem::exists(path_));
}

}  // namespace
}  // namespace lockstep::trace
