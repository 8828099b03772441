// SPDX-License-Identifier: Apache-2.0
#include "sim/lab/lab_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/regex.hpp>
#include <cmath>
#include <set>

#include "sim/config/value.h"
#include "sim/error/error.h"
#include "sim/lab/number_text.h"
#include "sim/lab/run_request.h"
#include "sim/lab/yaml_reader.h"

namespace lockstep::lab {

namespace {

using Node = YAML::Node;

constexpr int kMostMinutes = 240;

class LabReader {
  public:
    explicit LabReader(const std::string& file) : yaml_(file) {}

    Lab read(const std::string& text) {
        yaml_.keys(yaml_.load(text), "a lab",
                   {{"lab", [&](const Node& n) { lab_.name = name(n); }, true},
                    {"title", [&](const Node& n) { lab_.title = yaml_.text(n); }, true},
                    {"goal", [&](const Node& n) { lab_.goal = yaml_.text(n); }, true},
                    {"minutes",
                     [&](const Node& n) { lab_.minutes = yaml_.whole(n, 1, kMostMinutes); }, true},
                    {"sheet", [&](const Node& n) { lab_.sheet = yaml_.text(n); }},
                    {"steps", [&](const Node& n) { read_steps(n); }, true}});
        return std::move(lab_);
    }

  private:
    /// Of a lab, question or choice: what a page's address and a key may have.
    std::string name(const Node& node) const {
        const std::string text = yaml_.text(node);
        check_name(text, yaml_.place(node));
        return text;
    }
    static void check_name(const std::string& text, const config::Place& place) {
        const auto is_right = [](char c) {
            return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
        };
        if (text.empty() || !std::all_of(text.begin(), text.end(), is_right))
            config::fail(place, fmt::format("'{}': a name has only a to z, 0 to 9 and _", text));
    }

    void read_steps(const Node& node) {
        if (!node.IsSequence()) config::fail(yaml_.place(node), "steps: wanted a list");
        for (const auto& item : node) {
            Step step;
            yaml_.keys(item, "a step",
                       {{"title", [&](const Node& n) { step.title = yaml_.text(n); }, true},
                        {"text", [&](const Node& n) { step.text = yaml_.text(n); }, true},
                        {"widget", [&](const Node& n) { step.widget = widget(n); }},
                        {"commands", [&](const Node& n) { step.commands = yaml_.list(n); }},
                        {"questions", [&](const Node& n) { read_questions(n, step); }}});
            lab_.steps.push_back(std::move(step));
        }
    }

    Widget widget(const Node& node) const {
        Widget widget;
        widget.parameters = yaml_.json(node);
        if (!widget.parameters.is_object() || !widget.parameters.contains("name"))
            config::fail(yaml_.place(node), "widget: its name is missing");
        widget.name = yaml_.scalar(node["name"]);
        widget.parameters.erase("name");
        return widget;
    }

    void read_questions(const Node& node, Step& step) {
        if (!node.IsSequence()) config::fail(yaml_.place(node), "questions: wanted a list");
        for (const auto& item : node) {
            Question question;
            question.place = yaml_.place(item);
            int kinds = 0;
            const auto of_kind = [&](Kind kind, std::function<void(const Node&)> read) {
                return [&question, &kinds, kind, read](const Node& n) {
                    question.kind = kind;
                    ++kinds;
                    read(n);
                };
            };
            const auto choices = [&](const Node& n) { read_choices(n, question); };
            yaml_.keys(item, "a question",
                       {{"id", [&](const Node& n) { question.id = name(n); }, true},
                        {"ask", [&](const Node& n) { question.ask = yaml_.text(n); }, true},
                        {"number",
                         of_kind(Kind::kNumber, [&](const Node& n) { read_number(n, question); })},
                        {"choice", of_kind(Kind::kChoice, choices)},
                        {"several", of_kind(Kind::kSeveral, choices)},
                        {"text", of_kind(Kind::kText, [&](const Node& n) { yaml_.text(n); })}});
            if (kinds != 1)
                config::fail(question.place,
                             "a question has one of number, choice, several and text");
            if (!ids_.insert(question.id).second)
                config::fail(question.place,
                             fmt::format("question '{}' stands there twice", question.id));
            step.questions.push_back(std::move(question));
        }
    }

    void read_choices(const Node& node, Question& question) const {
        yaml_.pairs(node, "a mapping of choices, as a: text",
                    [&](const std::string& id, const Node& at, const Node& value) {
                        check_name(id, yaml_.place(at));
                        question.choices.push_back({id, yaml_.text(value)});
                    });
        if (question.choices.size() < 2)
            config::fail(yaml_.place(node), "a choice is between two at least");
    }

    void read_number(const Node& node, Question& question) const {
        Tolerance& tolerance = question.tolerance;
        yaml_.keys(node, "a number",
                   {{"unit", [&](const Node& n) { question.unit = yaml_.text(n); }},
                    {"tolerance", [&](const Node& n) { read_tolerance(n, tolerance); }},
                    {"because", [&](const Node& n) { tolerance.reason = yaml_.text(n); }}});
        const bool is_exact = tolerance.absolute == 0 && tolerance.relative == 0;
        if (!is_exact && tolerance.reason.empty())
            config::fail(yaml_.place(node), "a tolerance has a reason: because is missing");
    }

    void read_tolerance(const Node& node, Tolerance& tolerance) const {
        const std::string text = yaml_.text(node);
        const bool is_relative = text.ends_with("%");
        const auto number = number_of(text, "%");
        if (!number || *number < 0)
            config::fail(yaml_.place(node),
                         fmt::format("'{}' is no tolerance, as 2% or 0.5", text));
        (is_relative ? tolerance.relative : tolerance.absolute) =
            is_relative ? *number / 100 : *number;
    }

    const YamlReader yaml_;
    Lab lab_;
    std::set<std::string> ids_;
};

class KeyReader {
  public:
    KeyReader(const std::string& file, const Lab& lab) : yaml_(file), lab_(lab) {}

    Key read(const std::string& text) {
        const Node root = yaml_.load(text);
        yaml_.keys(root, "a key",
                   {{"lab", [&](const Node& n) { check_lab(n); }, true},
                    {"answers", [&](const Node& n) { read_answers(n); }, true}});
        for (const Step& step : lab_.steps)
            for (const Question& question : step.questions)
                if (!key_.contains(question.id))
                    config::fail(
                        yaml_.place(root["answers"]),
                        fmt::format("no answer to '{}' ({})", question.id, question.place.text()));
        return std::move(key_);
    }

  private:
    void check_lab(const Node& node) const {
        if (yaml_.scalar(node) != lab_.name)
            config::fail(yaml_.place(node), fmt::format("this is not lab {}", lab_.name));
    }

    void read_answers(const Node& node) {
        yaml_.pairs(node, "answers by question",
                    [&](const std::string& id, const Node& at, const Node& value) {
                        const Question* question = lab_.question(id);
                        if (question == nullptr)
                            config::fail(yaml_.place(at),
                                         fmt::format("no question '{}'{}", id,
                                                     config::did_you_mean(id, ids())));
                        key_[id] = answer(*question, value);
                    });
    }

    std::vector<std::string> ids() const {
        std::vector<std::string> ids;
        for (const Step& step : lab_.steps)
            for (const Question& question : step.questions) ids.push_back(question.id);
        return ids;
    }

    Answer answer(const Question& question, const Node& node) const {
        Answer answer;
        answer.place = yaml_.place(node);
        const bool is_text = question.kind == Kind::kText;
        const bool is_number = question.kind == Kind::kNumber;
        Node right, hints, holds;
        std::vector<YamlReader::Key> keys = {
            {"runs", [&](const Node& n) { read_runs(n, answer); }},
            {"holds", [&](const Node& n) { holds.reset(n); }},
            {"answer", [&](const Node& n) { right.reset(n); }, true},
            {"why", [&](const Node& n) { answer.why = yaml_.text(n); }, true},
            {"hints", [&](const Node& n) { hints.reset(n); }}};
        if (is_text)
            keys.push_back(
                {"example", [&](const Node& n) { answer.example = yaml_.text(n); }, true});
        yaml_.keys(node, "an answer", keys);
        if (is_number) {
            answer.number = formula(right, answer);
        } else if (is_text) {
            answer.pattern = pattern(right);
            if (!takes(answer.pattern, answer.example))
                config::fail(answer.place, "the pattern does not take the example");
        } else {
            answer.choices = choices(right, question);
        }
        if (holds.IsScalar()) answer.holds.push_back(formula(holds, answer));
        if (holds.IsSequence())
            for (const auto& claim : holds) answer.holds.push_back(formula(claim, answer));
        check_formulas(answer.why, answer);
        if (hints.IsDefined() && !hints.IsNull()) read_hints(hints, question, answer);
        return answer;
    }

    void read_runs(const Node& node, Answer& answer) const {
        yaml_.pairs(node, "runs, as a: gemm:m=8 --on systolic",
                    [&](const std::string& name, const Node&, const Node& value) {
                        answer.runs[name] = yaml_.text(value);
                        try {
                            RunRequest::from_text(answer.runs[name]);
                        } catch (const InputError& error) {
                            config::fail(yaml_.place(value), error.what());
                        }
                    });
    }

    sweep::Expression formula(const Node& node, const Answer& answer) const {
        return formula(yaml_.text(node), yaml_.place(node), answer);
    }
    static sweep::Expression formula(const std::string& text, const config::Place& place,
                                     const Answer& answer) {
        sweep::Expression expression(text, place);
        for (const std::string& name : expression.names())
            if (!answer.runs.contains(name.substr(0, name.find('.'))))
                config::fail(place, fmt::format("'{}': no such run (as a.cycles of run a)", name));
        return expression;
    }
    /// Those in {= } of an explanation.
    static void check_formulas(const std::string& text, const Answer& answer) {
        for (std::size_t at = 0; (at = text.find("{=", at)) != std::string::npos; ++at) {
            const std::size_t end = text.find('}', at);
            if (end == std::string::npos) config::fail(answer.place, "{=: } is missing");
            formula(text.substr(at + 2, end - at - 2), answer.place, answer);
        }
    }

    std::string pattern(const Node& node) const {
        const std::string text = yaml_.text(node);
        try {
            boost::regex(text, boost::regex::icase);
        } catch (const boost::regex_error& error) {
            config::fail(yaml_.place(node), fmt::format("'{}': {}", text, error.what()));
        }
        return text;
    }
    static bool takes(const std::string& pattern, const std::string& text) {
        return boost::regex_match(text, boost::regex(pattern, boost::regex::icase));
    }

    std::vector<std::string> choices(const Node& node, const Question& question) const {
        std::vector<std::string> known;
        for (const Choice& choice : question.choices) known.push_back(choice.id);
        const std::vector<std::string> chosen = yaml_.list(node);
        for (const std::string& id : chosen)
            if (std::find(known.begin(), known.end(), id) == known.end())
                config::fail(yaml_.place(node),
                             fmt::format("no choice '{}'{}", id, config::did_you_mean(id, known)));
        if (question.kind == Kind::kChoice && chosen.size() != 1)
            config::fail(yaml_.place(node), "wanted one choice");
        return chosen;
    }

    void read_hints(const Node& node, const Question& question, Answer& answer) const {
        if (!node.IsSequence()) config::fail(yaml_.place(node), "hints: wanted a list");
        for (const auto& item : node) {
            Hint hint;
            const auto when = [&](const Node& n) {
                hint.when = yaml_.text(n);
                if (question.kind == Kind::kNumber)
                    hint.number = formula(n, answer);
                else if (question.kind == Kind::kText)
                    pattern(n);
                else
                    choices(n, question);
            };
            yaml_.keys(
                item, "a hint",
                {{"when", when}, {"say", [&](const Node& n) { hint.text = yaml_.text(n); }, true}});
            check_formulas(hint.text, answer);
            answer.hints.push_back(std::move(hint));
        }
    }

    const YamlReader yaml_;
    const Lab& lab_;
    Key key_;
};

}  // namespace

const Question* Lab::question(const std::string& id) const {
    for (const Step& step : steps)
        for (const Question& question : step.questions)
            if (question.id == id) return &question;
    return nullptr;
}

Lab read_lab(const std::string& file, const std::string& text) {
    return LabReader(file).read(text);
}

Key read_key(const std::string& file, const std::string& text, const Lab& lab) {
    return KeyReader(file, lab).read(text);
}

}  // namespace lockstep::lab
