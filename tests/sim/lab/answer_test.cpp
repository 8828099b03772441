// SPDX-License-Identifier: Apache-2.0
#include "sim/lab/answer.h"

#include <gtest/gtest.h>

#include "sim/error/error.h"
#include "sim/lab/number_text.h"

namespace lockstep::lab {
namespace {

sweep::Result metrics(const std::string& run) {
    sweep::Result result;
    result.cycles = run == "small" ? 40 : 60;
    result.metrics["array_utilization.pct"] = 29.166666;
    return result;
}

Answer number_answer() {
    Answer answer;
    answer.runs = {{"a", "small"}, {"b", "large"}};
    answer.number = sweep::Expression("b.cycles / a.cycles", {"key", 1});
    answer.why = "{= b.cycles} / {= a.cycles}, at {= b.array_utilization.pct} %";
    Hint inverse;
    inverse.when = "inverse";
    inverse.number = sweep::Expression("a.cycles / b.cycles", {"key", 2});
    inverse.text = "The other way round, {= b.cycles} over ...";
    Hint any;
    any.text = "Run both.";
    answer.hints = {inverse, any};
    return answer;
}

Question question(Kind kind) {
    Question question;
    question.kind = kind;
    question.unit = "%";
    question.choices = {{"a", "A"}, {"b", "B"}, {"c", "C"}};
    return question;
}

TEST(Answer, OfNumbersIsTheModels) {
    const Answer key = number_answer();
    const Question number = question(Kind::kNumber);
    const Verdict right = check(number, key, "1.5 %", metrics);
    EXPECT_TRUE(right.is_right);
    EXPECT_EQ(right.text, "60 / 40, at 29.1667 %");
    EXPECT_TRUE(check(number, key, 1.5, metrics).is_right);
    EXPECT_FALSE(check(number, key, "1.51", metrics).is_right);
    EXPECT_EQ(check(number, key, "0.666667", metrics).text, "The other way round, 60 over ...");
    EXPECT_EQ(check(number, key, "3", metrics).text, "Run both.");
    EXPECT_EQ(check(number, key, "three", metrics).text,
              "That is no number of %. Write it as 12, 1.5 or 3e6.");
    EXPECT_THROW(check(number, key, nlohmann::json::array(), metrics), InputError);
}

TEST(Answer, MayBeOffByTheTolerance) {
    const Answer key = number_answer();
    Question number = question(Kind::kNumber);
    number.tolerance.relative = 0.1;
    EXPECT_TRUE(check(number, key, 1.36, metrics).is_right);
    EXPECT_TRUE(check(number, key, 1.64, metrics).is_right);
    EXPECT_FALSE(check(number, key, 1.34, metrics).is_right);
    EXPECT_FALSE(check(number, key, 1.66, metrics).is_right);
}

TEST(Answer, OfChoicesIsAllAndNoOther) {
    Answer key;
    key.choices = {"c", "a"};
    key.why = "So.";
    Hint b;
    b.when = "b";
    b.text = "Not B.";
    Hint c;
    c.when = "c";
    c.text = "And C?";
    key.hints = {b, c};
    const Question several = question(Kind::kSeveral);
    EXPECT_TRUE(check(several, key, {"a", "c"}, metrics).is_right);
    EXPECT_EQ(check(several, key, {"a", "b", "c"}, metrics).text, "Not B.");
    EXPECT_EQ(check(several, key, nlohmann::json::array({"a"}), metrics).text, "And C?");
    EXPECT_EQ(check(several, key, nlohmann::json::array({"c"}), metrics).text,
              "Not yet. Look again, or try it in the model.");
    EXPECT_THROW(check(several, key, "a", metrics), InputError);
    EXPECT_THROW(check(several, key, nlohmann::json::array({"d"}), metrics), InputError);
    key.choices = {"a"};
    EXPECT_TRUE(check(question(Kind::kChoice), key, "a", metrics).is_right);
    EXPECT_EQ(check(question(Kind::kChoice), key, "c", metrics).text, "And C?");
}

TEST(Answer, OfTextsIsWhatThePatternTakes) {
    Answer key;
    key.pattern = "(bank )?conflicts?";
    key.example = "conflict";
    EXPECT_TRUE(check(question(Kind::kText), key, " Bank Conflict ", metrics).is_right);
    EXPECT_FALSE(check(question(Kind::kText), key, "no conflict", metrics).is_right);
    EXPECT_THROW(check(question(Kind::kText), key, std::string(1000, 'x'), metrics), InputError);
}

TEST(Answer, ClaimsThatDoNotHoldAreToldWithTheirPlace) {
    Answer key = number_answer();
    key.holds.emplace_back("a.cycles < b.cycles", config::Place{"key.yaml", 3});
    check_claims(key, metrics);
    key.holds.emplace_back("a.cycles > b.cycles", config::Place{"key.yaml", 4});
    try {
        check_claims(key, metrics);
        FAIL();
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(), "key.yaml:4: a.cycles > b.cycles does not hold");
    }
}

TEST(NumberText, IsReadAsPeopleWriteIt) {
    for (const char* text :
         {"1118", "1,118", "1 118", " 1118 ", "1118.0", "+1118", "1.118e3", "1118 cycles"})
        EXPECT_EQ(number_of(text, "cycles"), 1118) << text;
    for (const char* text : {"", "x", "1,11", "1118 B", "nan", "inf", "1e999", "0x10", "1 2"})
        EXPECT_FALSE(number_of(text, "cycles")) << text;
    EXPECT_EQ(number_text(1118), "1118");
    EXPECT_EQ(number_text(42.857142857), "42.8571");
    EXPECT_EQ(number_text(1e7), "10000000");
}

}  // namespace
}  // namespace lockstep::lab
