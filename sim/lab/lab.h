// SPDX-License-Identifier: Apache-2.0
// A lab as its files say it: steps with explanation, widget, commands and questions, and the
// instructor's key. Plain data; lab_file.h reads it.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "sim/config/place.h"
#include "workloads/sweep/expression.h"

namespace lockstep::lab {

/// How a question is answered.
enum class Kind : std::uint8_t {
    kNumber,
    kChoice,   ///< one of several
    kSeveral,  ///< all that are right, and no other
    kText,     ///< a short text that a pattern takes
};

struct Choice {
    std::string id, text;
};

/// How far a number may be off: by the larger of the two.
struct Tolerance {
    double absolute = 0, relative = 0;
    std::string reason;  ///< "" where the answer is exact
};

struct Question {
    std::string id, ask;
    Kind kind = Kind::kNumber;
    std::string unit;  ///< of a number; "": none
    Tolerance tolerance;
    std::vector<Choice> choices;
    config::Place place;
};

/// A picture to play with: one of widgets/widgets.h, or one of the pages' own, and what it shows
/// first.
struct Widget {
    std::string name;
    nlohmann::ordered_json parameters;
};

struct Step {
    std::string title, text;  ///< Markdown
    std::optional<Widget> widget;
    std::vector<std::string> commands;  ///< behind "./lockstep "
    std::vector<Question> questions;
};

struct Lab {
    std::string name, title, goal;
    int minutes = 0;
    std::string sheet;  ///< the page in the repository that goes further; "": none
    std::vector<Step> steps;

    /// nullptr where there is none.
    const Question* question(const std::string& id) const;
};

/// Said of a wrong answer: where it is this number (a formula), this choice, or what this pattern
/// takes; without `when` of any.
struct Hint {
    std::string when;
    std::optional<sweep::Expression> number;
    std::string text;
};

struct Answer {
    std::optional<sweep::Expression> number;  ///< over the metrics of `runs`
    /// What formulas name: `a.cycles` is of run `a`. Words behind "./lockstep run ".
    std::map<std::string, std::string> runs;
    std::vector<sweep::Expression> holds;  ///< what the answer takes for granted of the models
    std::vector<std::string> choices;
    std::string pattern, example;  ///< of a text: what is right, and one such text
    std::string why;               ///< shown after a right answer
    std::vector<Hint> hints;
    config::Place place;
};

/// By the question's id.
using Key = std::map<std::string, Answer>;

struct KeyedLab {
    Lab lab;
    Key key;
};

}  // namespace lockstep::lab
