// SPDX-License-Identifier: Apache-2.0
// Every lab there is: its size, its key against the models, its commands.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>

#include "sim/lab/answer.h"
#include "sim/lab/library.h"
#include "sim/lab/service.h"
#include "tests/paths.h"

namespace lockstep::lab {
namespace {

class Labs : public testing::Test {
  protected:
    const Library library_;
    Service service_{binary_path("bin/lockstep")};
    const MetricsOf metrics_ = [this](const std::string& run) { return service_.metrics(run); };
};

/// Answers that are not right: another number, all other choices, a word that no pattern takes.
nlohmann::json wrong_answer(const Question& question, const nlohmann::json& right) {
    switch (question.kind) {
        case Kind::kNumber:
            return right.get<double>() * 3 + 7;
        case Kind::kChoice:
            for (const Choice& choice : question.choices)
                if (choice.id != right) return choice.id;
            break;
        case Kind::kSeveral: {
            auto others = nlohmann::json::array();
            for (const Choice& choice : question.choices)
                if (std::find(right.begin(), right.end(), choice.id) == right.end())
                    others.push_back(choice.id);
            return others;
        }
        case Kind::kText:
            break;
    }
    return "~";
}

TEST_F(Labs, AreOfTheSizeOfALesson) {
    ASSERT_GE(library_.labs().size(), 1u);
    for (const KeyedLab& keyed : library_.labs()) {
        const Lab& lab = keyed.lab;
        SCOPED_TRACE(lab.name);
        EXPECT_GE(lab.minutes, 60);
        EXPECT_LE(lab.minutes, 90);
        EXPECT_GE(lab.steps.size(), 6u);
        EXPECT_LE(lab.steps.size(), 10u);
        EXPECT_GE(keyed.key.size(), 10u);
        for (const Step& step : lab.steps) EXPECT_LE(step.text.size(), 2000u) << step.title;
        if (!lab.sheet.empty()) {
            EXPECT_TRUE(std::ifstream(source_path(lab.sheet)).good()) << lab.sheet;
        }
    }
}

TEST_F(Labs, HaveKeysThatTheModelsBearOut) {
    for (const KeyedLab& keyed : library_.labs())
        for (const Step& step : keyed.lab.steps)
            for (const Question& question : step.questions) {
                SCOPED_TRACE(keyed.lab.name + "." + question.id);
                const Answer& answer = keyed.key.at(question.id);
                EXPECT_NO_THROW(check_claims(answer, metrics_));
                const auto right = right_answer(question, answer, metrics_);
                const Verdict verdict = check(question, answer, right, metrics_);
                EXPECT_TRUE(verdict.is_right) << right << ": " << verdict.text;
                const auto wrong = wrong_answer(question, right);
                EXPECT_FALSE(check(question, answer, wrong, metrics_).is_right) << wrong;
            }
}

TEST_F(Labs, HaveCommandsThatRun) {
    for (const KeyedLab& keyed : library_.labs())
        for (const Step& step : keyed.lab.steps)
            for (const std::string& command : step.commands) {
                const ChildResult result = service_.command(command);
                EXPECT_EQ(result.status, 0) << keyed.lab.name << ": " << command << "\n"
                                            << result.errors;
                EXPECT_FALSE(result.output.empty()) << command;
            }
}

TEST_F(Labs, AreFoundWithTheNearestName) {
    EXPECT_EQ(library_.find("systolic").lab.name, "systolic");
    try {
        library_.find("sistolic");
        FAIL();
    } catch (const InputError& error) {
        EXPECT_STREQ(error.what(), "no lab 'sistolic'; did you mean systolic? (lab --list)");
    }
}

}  // namespace
}  // namespace lockstep::lab
