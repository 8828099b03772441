// SPDX-License-Identifier: Apache-2.0
#include "sim/trace/trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/error/error.h"

namespace lockstep::trace {
namespace {

using testing::HasSubstr;

class TraceFile : public testing::Test {
  protected:
    ~TraceFile() override {
        std::remove(path(".json").c_str());
        std::remove(path(".kanata").c_str());
    }
    static std::string path(const std::string& ending) {
        return testing::TempDir() + "/trace_" + std::to_string(getpid()) + ending;
    }
    static std::string text(const std::string& ending) {
        std::ostringstream text;
        text << std::ifstream(path(ending), std::ios::binary).rdbuf();
        return text.str();
    }
    static nlohmann::json events() {
        return nlohmann::json::parse(text(".json")).at("traceEvents");
    }
    /// The events that are not names of tracks.
    static std::vector<nlohmann::json> records() {
        std::vector<nlohmann::json> result;
        for (const auto& event : events())
            if (event["ph"] != "M") result.push_back(event);
        return result;
    }
};

TEST_F(TraceFile, AnEmptyTraceIsValid) {
    { Trace trace(path(".json"), {}, "a \"quoted\"\\title\n"); }
    const auto root = nlohmann::json::parse(text(".json"));
    EXPECT_TRUE(root["traceEvents"].empty());
    EXPECT_EQ(root["otherData"]["title"], "a \"quoted\"\\title\n");
}

TEST_F(TraceFile, ARecorderOfAnotherClockIsShifted) {
    {
        Trace trace(path(".json"), {.from = 100, .until = 200}, "t");
        const TrackId track = trace.track("g", "n");
        Recorder& late = trace.recorder();
        late.shift(95);
        late.slice(track, {trace.name("shifted")}, 10, 20);
        late.instant(track, {trace.name("before the window")}, 4);
        Recorder& other = trace.recorder();
        other.slice(track, {trace.name("as told")}, 110, 120);
        late.shift(-1000);
        late.slice(track, {trace.name("back")}, 1150, 1160);
    }
    const auto all = records();
    ASSERT_EQ(all.size(), 3u);
    EXPECT_EQ(all[0]["ts"], 105);
    EXPECT_EQ(all[0]["dur"], 10);
    EXPECT_EQ(all[1]["ts"], 150);
    EXPECT_EQ(all[2]["ts"], 110);
}

TEST_F(TraceFile, HasItsNameFromTheFirstEndOn) {
    for (const char* ending : {".json", ".kanata"}) {
        Trace trace(path(ending), {}, "t");
        EXPECT_FALSE(std::filesystem::exists(path(ending)));
        trace.complete();
        EXPECT_TRUE(std::filesystem::exists(path(ending)));
    }
    EXPECT_THROW(Trace("/nowhere/t.json", {}, "t"), InputError);
}

TEST_F(TraceFile, ChromeShowsSlicesInstantsAndCountersOnNamedTracks) {
    Trace trace(path(".json"), {}, "t");
    const TrackId warp = trace.track("sm0", "warp 3"), queue = trace.track("sm0", "queue");
    const TrackId other = trace.track("sm1", "warp 3");
    EXPECT_EQ(trace.track("sm0", "warp 3"), warp);
    EXPECT_NE(other, warp);
    const NameId cta = trace.name("CTA"), wait = trace.name("wait");
    EXPECT_EQ(trace.name("CTA"), cta);
    Recorder& recorder = trace.recorder();
    recorder.begin(warp, {cta, 17}, 100);
    recorder.slice(warp, {wait}, 110, 115);
    recorder.instant(other, {wait}, 112);
    recorder.counter(queue, 2.5, 113);
    recorder.end(warp, 150);
    recorder.end(warp, 160);  // nothing is open
    trace.complete();

    std::map<std::string, std::string> names;
    for (const auto& event : events())
        if (event["name"] == "thread_name") names[event["args"]["name"]] += "x";
    EXPECT_EQ(names["warp 3"], "xx");
    const auto all = records();
    ASSERT_EQ(all.size(), 4u);
    EXPECT_EQ(all[0]["ph"], "X");
    EXPECT_EQ(all[0]["name"], "wait");
    EXPECT_EQ(all[0]["ts"], 110);
    EXPECT_EQ(all[0]["dur"], 5);
    EXPECT_EQ(all[1]["ph"], "i");
    EXPECT_NE(all[1]["pid"], all[0]["pid"]);
    EXPECT_EQ(all[2]["ph"], "C");
    EXPECT_EQ(all[2]["name"], "queue");
    EXPECT_EQ(all[2]["args"]["value"], 2.5);
    EXPECT_EQ(all[3]["name"], "CTA 17");
    EXPECT_EQ(all[3]["ts"], 100);
    EXPECT_EQ(all[3]["dur"], 50);
    EXPECT_EQ(all[3]["tid"], all[0]["tid"]);
}

TEST_F(TraceFile, TheWindowCutsSlicesAndDropsTheRest) {
    Trace trace(path(".json"), {.from = 100, .until = 200}, "t");
    const TrackId track = trace.track("g", "t");
    const Label name{trace.name("n")};
    Recorder& recorder = trace.recorder();
    recorder.slice(track, name, 50, 100);  // before
    recorder.slice(track, name, 50, 120);  // cut
    recorder.begin(track, name, 150);
    recorder.end(track, 300);               // cut
    recorder.slice(track, name, 200, 210);  // after
    recorder.instant(track, name, 99);
    recorder.counter(track, 1, 200);
    trace.complete();
    const auto all = records();
    ASSERT_EQ(all.size(), 2u);
    EXPECT_EQ(all[0]["ts"], 100);
    EXPECT_EQ(all[0]["dur"], 20);
    EXPECT_EQ(all[1]["ts"], 150);
    EXPECT_EQ(all[1]["dur"], 50);
}

TEST_F(TraceFile, TheFileIsCompleteAfterEachPart) {
    Trace trace(path(".json"), {}, "t");
    const TrackId track = trace.track("g", "t");
    Recorder& recorder = trace.recorder();
    for (unsigned launch = 1; launch <= 3; ++launch) {
        recorder.slice(track, {trace.name("n")}, 10 * launch, 10 * launch + 5);
        trace.complete();
        EXPECT_EQ(records().size(), launch);
    }
}

TEST_F(TraceFile, RecordersAreWrittenInTheOrderInWhichTheyWereMade) {
    Trace trace(path(".json"), {}, "t");
    const TrackId track = trace.track("g", "t");
    const NameId name = trace.name("n");
    Recorder& first = trace.recorder();
    Recorder& second = trace.recorder();
    second.slice(track, {name, 2}, 1, 2);
    first.slice(track, {name, 1}, 5, 6);
    trace.drain(10);
    first.slice(track, {name, 3}, 11, 12);
    trace.complete();
    const auto all = records();
    ASSERT_EQ(all.size(), 3u);
    for (unsigned i = 0; i < 3; ++i) EXPECT_EQ(all[i]["name"], "n " + std::to_string(i + 1));
}

TEST_F(TraceFile, KanataIsInTheOrderOfTime) {
    Trace trace(path(".kanata"), {.from = 10}, "t");
    EXPECT_TRUE(trace.shows_instructions());
    const NameId ffma = trace.name("FFMA R1"), load = trace.name("LDG R2");
    const NameId issue = trace.name("Is"), execute = trace.name("Ex");
    Recorder& a = trace.recorder();
    Recorder& b = trace.recorder();
    EXPECT_EQ(a.instruction({load}, 0, 9), 0u);  // before the window
    const InstructionId first = a.instruction({ffma}, 7, 12);
    a.stage(first, issue, 12);
    a.stage(first, execute, 14);
    a.retire(first, 18);  // known ahead
    const InstructionId second = b.instruction({load, 3}, 8, 11);
    b.stage(second, issue, 11);
    trace.drain(15);
    b.stage(second, execute, 16);
    b.retire(second, 16);
    trace.complete();
    EXPECT_EQ(text(".kanata"),
              "Kanata\t0004\n"
              "C=\t11\nI\t0\t0\t8\nL\t0\t0\tLDG R2\nL\t0\t1\tmask 00000003\nS\t0\t0\tIs\n"
              "C\t1\nI\t1\t1\t7\nL\t1\t0\tFFMA R1\nS\t1\t0\tIs\n"
              "C\t2\nE\t1\t0\tIs\nS\t1\t0\tEx\n"
              "C\t2\nE\t0\t0\tIs\nS\t0\t0\tEx\nE\t0\t0\tEx\nR\t0\t0\t0\n"
              "C\t2\nE\t1\t0\tEx\nR\t1\t1\t0\n");
}

TEST_F(TraceFile, EachFormTakesItsOwnPart) {
    Trace trace(path(".kanata"), {}, "t");
    Recorder& recorder = trace.recorder();
    recorder.slice(trace.track("g", "t"), {trace.name("n")}, 1, 2);
    trace.complete();
    EXPECT_EQ(text(".kanata"), "Kanata\t0004\n");
}

TEST_F(TraceFile, WhatCannotBeWrittenIsTheUsersError) {
    EXPECT_THROW(Trace("trace.txt", {}, "t"), InputError);
    EXPECT_THROW(Trace("/no/such/folder/t.json", {}, "t"), InputError);
}

}  // namespace
}  // namespace lockstep::trace
