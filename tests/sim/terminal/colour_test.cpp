// SPDX-License-Identifier: Apache-2.0
#include "sim/terminal/colour.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <pty.h>
#include <unistd.h>

#include <cstdlib>
#include <regex>

namespace lockstep::terminal {
namespace {

using testing::HasSubstr;

constexpr const char* kReport =
    "vector_add  (4, 1, 1)x(256, 1, 1)  on h200\n"
    "  Elapsed Cycles                     1,234    Duration                      1.00 us\n"
    "    long scoreboard      41.2 %  ########             global memory\n"
    "  Bound by latency: no unit is used above 3%\n"
    "verified c: 100 elements\n"
    "MISMATCH d: element 3\n";

std::string without_colour(const std::string& text) {
    return std::regex_replace(text, std::regex("\033\\[[0-9;]*m"), "");
}

/// A terminal, and no choice but the environment's.
class Colour : public testing::Test {
  protected:
    Colour() {
        unsetenv("LOCKSTEP_COLOR");
        unsetenv("NO_COLOR");
        setenv("TERM", "xterm", 1);
        EXPECT_EQ(openpty(&keyboard_, &screen_, nullptr, nullptr, nullptr), 0);
        EXPECT_EQ(pipe(pipe_), 0);
    }
    ~Colour() override {
        unsetenv("LOCKSTEP_COLOR");
        for (const int file : {keyboard_, screen_, pipe_[0], pipe_[1]}) close(file);
    }
    int keyboard_ = -1, screen_ = -1;
    int pipe_[2];
};

TEST_F(Colour, IsForTerminalsAlone) {
    EXPECT_TRUE(shows_colour(screen_));
    EXPECT_FALSE(shows_colour(pipe_[1]));
    EXPECT_EQ(report_for(pipe_[1], kReport), kReport);
    EXPECT_NE(report_for(screen_, kReport), kReport);
}

TEST_F(Colour, TheEnvironmentTurnsItOff) {
    setenv("NO_COLOR", "1", 1);
    EXPECT_FALSE(shows_colour(screen_));
    setenv("NO_COLOR", "", 1);  // as no-color.org has it
    EXPECT_TRUE(shows_colour(screen_));
    setenv("TERM", "dumb", 1);
    EXPECT_FALSE(shows_colour(screen_));
}

TEST_F(Colour, AChoiceComesFirst) {
    setenv("NO_COLOR", "1", 1);
    choose_colour("always");
    EXPECT_TRUE(shows_colour(screen_));
    EXPECT_TRUE(shows_colour(pipe_[1]));
    unsetenv("NO_COLOR");
    choose_colour("never");
    EXPECT_FALSE(shows_colour(screen_));
    choose_colour("auto");
    EXPECT_TRUE(shows_colour(screen_));
    EXPECT_FALSE(shows_colour(pipe_[1]));
}

TEST_F(Colour, PaintTakesNothingAway) {
    const std::string painted = painted_report(kReport);
    EXPECT_EQ(without_colour(painted), kReport);
    EXPECT_THAT(painted, HasSubstr("\033[36m########\033[0m "));
    EXPECT_THAT(painted, HasSubstr("\033[1mvector_add"));
    EXPECT_THAT(painted, HasSubstr("\033[32mverified"));
    EXPECT_THAT(painted, HasSubstr("\033[1;31mMISMATCH"));
    EXPECT_EQ(painted_report("no line end"), "no line end");
    EXPECT_EQ(without_colour(painted_error("lockstep: a: b\n")), "lockstep: a: b\n");
    EXPECT_THAT(painted_error("lockstep: a: b\n"), testing::StartsWith("\033[1;31mlockstep:\033["));
}

}  // namespace
}  // namespace lockstep::terminal
