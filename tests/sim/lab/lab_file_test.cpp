// SPDX-License-Identifier: Apache-2.0
// What is wrong in the files of a lab is told with file, line and the nearest right thing.
#include "sim/lab/lab_file.h"

#include <gtest/gtest.h>

#include "sim/error/error.h"

namespace lockstep::lab {
namespace {

constexpr const char* kLab = R"yaml(lab: small
title: A lab
goal: To test.
minutes: 60
steps:
  - title: One
    text: Some words.
    widget: {name: systolic, m: 3, values: run}
    commands: run gemm:m=3,n=2,k=2 --on systolic
    questions:
      - id: cycles
        ask: How many?
        number: {unit: cycles, tolerance: 2%, because: it is a guess}
      - id: which
        ask: Which?
        choice: {a: this, b: that}
      - id: all
        ask: Which of these?
        several: {a: this, b: that, c: both}
      - id: word
        ask: What is it called?
        text: a word
)yaml";

constexpr const char* kKey = R"yaml(lab: small
answers:
  cycles:
    runs: {a: "gemm:m=3,n=2,k=2 --on systolic"}
    holds: [a.cycles > 1]
    answer: a.cycles
    why: It takes {= a.cycles}.
    hints: [{when: a.cycles + 1, say: One less.}, {say: No.}]
  which: {answer: b, why: Because.}
  all: {answer: [a, c], why: Because., hints: [{when: b, say: Not that.}]}
  word: {answer: "sk(e|ew)", example: skew, why: Because.}
)yaml";

std::string with(std::string text, const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return text.replace(at, from.size(), to);
}

std::string error_of_lab(const std::string& text) {
    try {
        read_lab("small.yaml", text);
    } catch (const InputError& error) {
        return error.what();
    }
    return "none";
}

std::string error_of_key(const std::string& text) {
    try {
        read_key("key.yaml", text, read_lab("small.yaml", kLab));
    } catch (const InputError& error) {
        return error.what();
    }
    return "none";
}

TEST(LabFile, HoldsWhatStandsThere) {
    const Lab lab = read_lab("small.yaml", kLab);
    EXPECT_EQ(lab.name, "small");
    EXPECT_EQ(lab.minutes, 60);
    ASSERT_EQ(lab.steps.size(), 1u);
    const Step& step = lab.steps.front();
    EXPECT_EQ(step.widget->name, "systolic");
    EXPECT_EQ(step.widget->parameters.dump(), R"({"m":3,"values":"run"})");
    EXPECT_EQ(step.commands, std::vector<std::string>{"run gemm:m=3,n=2,k=2 --on systolic"});
    ASSERT_EQ(step.questions.size(), 4u);
    EXPECT_EQ(lab.question("cycles")->tolerance.relative, 0.02);
    EXPECT_EQ(lab.question("which")->choices[1].text, "that");
    EXPECT_EQ(lab.question("all")->kind, Kind::kSeveral);
    EXPECT_EQ(lab.question("none"), nullptr);
    const Key key = read_key("key.yaml", kKey, lab);
    EXPECT_EQ(key.at("cycles").hints.size(), 2u);
    EXPECT_EQ(key.at("all").choices, (std::vector<std::string>{"a", "c"}));
}

TEST(LabFile, TellsWhereALabIsWrong) {
    const auto expect = [](const char* from, const char* to, const char* message) {
        EXPECT_EQ(error_of_lab(with(kLab, from, to)), message);
    };
    expect("title: A lab", "titel: A lab",
           "small.yaml:2: unknown key 'titel'; did you mean title?");
    expect("title: A lab\n", "", "small.yaml:1: title is missing in a lab");
    expect("minutes: 60", "minutes: 0", "small.yaml:4: 0 is no whole number of 1 to 240");
    expect("lab: small", "lab: Small",
           "small.yaml:1: 'Small': a name has only a to z, 0 to 9 and _");
    expect("ask: Which?", "asks: Which?", "small.yaml:15: unknown key 'asks'; did you mean ask?");
    expect("id: which", "id: cycles", "small.yaml:14: question 'cycles' stands there twice");
    expect("choice: {a: this, b: that}", "choice: {a: this}",
           "small.yaml:16: a choice is between two at least");
    expect(", because: it is a guess", "",
           "small.yaml:13: a tolerance has a reason: because is missing");
    expect("tolerance: 2%", "tolerance: some",
           "small.yaml:13: 'some' is no tolerance, as 2% or 0.5");
    expect("        text: a word\n", "",
           "small.yaml:20: a question has one of number, choice, several and text");
    expect("{name: systolic", "{naem: systolic", "small.yaml:8: widget: its name is missing");
    expect("lab: small", "lab: [", "small.yaml:3: end of sequence flow not found");
}

TEST(LabFile, TellsWhereAKeyIsWrong) {
    const auto expect = [](const char* from, const char* to, const char* message) {
        EXPECT_EQ(error_of_key(with(kKey, from, to)), message);
    };
    expect("lab: small", "lab: other", "key.yaml:1: this is not lab small");
    expect("  which: {answer: b, why: Because.}\n", "",
           "key.yaml:3: no answer to 'which' (small.yaml:14)");
    expect("which:", "wich:", "key.yaml:9: no question 'wich'; did you mean which?");
    expect("answer: b,", "answer: d,", "key.yaml:9: no choice 'd'");
    expect("answer: b,", "answer: [a, b],", "key.yaml:9: wanted one choice");
    expect("answer: a.cycles", "answer: b.cycles",
           "key.yaml:6: 'b.cycles': no such run (as a.cycles of run a)");
    expect("{= a.cycles}", "{= c.cycles}",
           "key.yaml:4: 'c.cycles': no such run (as a.cycles of run a)");
    expect("{= a.cycles}", "{= a.cycles", "key.yaml:4: {=: } is missing");
    expect("--on systolic\"", "--no systolic\"",
           "key.yaml:4: '--no': labs do not take this option; did you mean --on?");
    EXPECT_TRUE(
        error_of_key(with(kKey, "sk(e|ew)", "sk(e|ew")).starts_with("key.yaml:11: 'sk(e|ew': Unm"));
    expect("example: skew", "example: wave", "key.yaml:11: the pattern does not take the example");
    expect("{when: b, say", "{when: z, say", "key.yaml:10: no choice 'z'");
}

}  // namespace
}  // namespace lockstep::lab
