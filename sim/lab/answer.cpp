// SPDX-License-Identifier: Apache-2.0
#include "sim/lab/answer.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/regex.hpp>
#include <cmath>

#include "sim/error/error.h"
#include "sim/lab/number_text.h"

namespace lockstep::lab {

namespace {

using Json = nlohmann::json;

constexpr std::size_t kMostLetters = 500;

/// The value of a formula over the runs of an answer.
class Values {
  public:
    Values(const Answer& answer, const MetricsOf& metrics) : answer_(answer), metrics_(metrics) {}

    double of(const sweep::Expression& expression) {
        const auto value = expression.evaluate([&](std::string_view name) { return find(name); });
        if (!value)
            config::fail(expression.place(), fmt::format("{}: has no value", expression.text()));
        return *value;
    }

    /// Formulas in {= } filled in.
    std::string fill(const std::string& text) {
        std::string filled;
        std::size_t from = 0;
        for (std::size_t at; (at = text.find("{=", from)) != std::string::npos;) {
            const std::size_t end = text.find('}', at);
            if (end == std::string::npos) break;
            filled += text.substr(from, at - from);
            filled += number_text(
                of(sweep::Expression(text.substr(at + 2, end - at - 2), answer_.place)));
            from = end + 1;
        }
        return filled + text.substr(from);
    }

  private:
    std::optional<double> find(std::string_view name) {
        const std::size_t dot = name.find('.');
        const auto run = answer_.runs.find(std::string(name.substr(0, dot)));
        if (run == answer_.runs.end() || dot == std::string_view::npos) return std::nullopt;
        auto known = results_.find(run->first);
        if (known == results_.end())
            known = results_.emplace(run->first, metrics_(run->second)).first;
        const sweep::Result& result = known->second;
        const std::string_view metric = name.substr(dot + 1);
        if (metric == "cycles") return static_cast<double>(result.cycles);
        if (metric == "seconds") return result.seconds;
        const auto found = result.metrics.find(metric);
        if (found == result.metrics.end()) return std::nullopt;
        return found->second;
    }

    const Answer& answer_;
    const MetricsOf& metrics_;
    std::map<std::string, sweep::Result> results_;
};

bool is_near(double given, double right, const Tolerance& tolerance) {
    // Exact answers are compared as they are printed: six digits.
    const double printed = std::fabs(right) * 1e-6;
    return std::fabs(given - right) <=
           std::max({tolerance.absolute, tolerance.relative * std::fabs(right), printed});
}

bool takes(const std::string& pattern, const std::string& text) {
    return boost::regex_match(text, boost::regex(pattern, boost::regex::icase));
}

std::string trimmed(const std::string& text) {
    const std::size_t first = text.find_first_not_of(" \t\n");
    if (first == std::string::npos) return "";
    return text.substr(first, text.find_last_not_of(" \t\n") + 1 - first);
}

/// The first hint that fits, else what is always said.
template <typename Fits>
std::string hint_for(const Answer& answer, Values& values, const Fits& fits) {
    for (const Hint& hint : answer.hints)
        if (hint.when.empty() || fits(hint)) return values.fill(hint.text);
    return "Not yet. Look again, or try it in the model.";
}

std::string text_of(const Json& given) {
    if (!given.is_string()) throw InputError("answer: wanted a text");
    if (given.get_ref<const std::string&>().size() > kMostLetters)
        throw InputError(fmt::format("answer: more than {} letters", kMostLetters));
    return trimmed(given.get<std::string>());
}

Verdict check_number(const Question& question, const Answer& answer, const Json& given,
                     Values& values) {
    std::optional<double> number;
    if (given.is_number())
        number = given.get<double>();
    else
        number = number_of(text_of(given), question.unit);
    if (!number)
        return {false, fmt::format("That is no number{}. Write it as 12, 1.5 or 3e6.",
                                   question.unit.empty() ? "" : " of " + question.unit)};
    const double right = values.of(*answer.number);
    if (is_near(*number, right, question.tolerance)) return {true, values.fill(answer.why)};
    return {false, hint_for(answer, values, [&](const Hint& hint) {
                return is_near(*number, values.of(*hint.number), question.tolerance);
            })};
}

std::vector<std::string> chosen(const Question& question, const Json& given) {
    std::vector<std::string> ids;
    if (question.kind == Kind::kSeveral) {
        if (!given.is_array()) throw InputError("answer: wanted a list of choices");
        for (const Json& item : given) ids.push_back(text_of(item));
    } else {
        ids.push_back(text_of(given));
    }
    std::sort(ids.begin(), ids.end());
    ids.erase(std::unique(ids.begin(), ids.end()), ids.end());
    for (const std::string& id : ids)
        if (std::none_of(question.choices.begin(), question.choices.end(),
                         [&](const Choice& choice) { return choice.id == id; }))
            throw InputError(fmt::format("answer: no choice '{}'", id));
    return ids;
}

Verdict check_choices(const Question& question, const Answer& answer, const Json& given,
                      Values& values) {
    const std::vector<std::string> ids = chosen(question, given);
    std::vector<std::string> right = answer.choices;
    std::sort(right.begin(), right.end());
    if (ids == right) return {true, values.fill(answer.why)};
    // What is ticked and should not be, or should be and is not.
    std::vector<std::string> off;
    std::set_symmetric_difference(ids.begin(), ids.end(), right.begin(), right.end(),
                                  std::back_inserter(off));
    if (question.kind == Kind::kChoice) off = ids;
    return {false, hint_for(answer, values, [&](const Hint& hint) {
                return std::find(off.begin(), off.end(), hint.when) != off.end();
            })};
}

Verdict check_text(const Answer& answer, const Json& given, Values& values) {
    const std::string text = text_of(given);
    if (takes(answer.pattern, text)) return {true, values.fill(answer.why)};
    return {false,
            hint_for(answer, values, [&](const Hint& hint) { return takes(hint.when, text); })};
}

}  // namespace

Verdict check(const Question& question, const Answer& answer, const Json& given,
              const MetricsOf& metrics) {
    Values values(answer, metrics);
    switch (question.kind) {
        case Kind::kNumber:
            return check_number(question, answer, given, values);
        case Kind::kChoice:
        case Kind::kSeveral:
            return check_choices(question, answer, given, values);
        case Kind::kText:
            break;
    }
    return check_text(answer, given, values);
}

Json right_answer(const Question& question, const Answer& answer, const MetricsOf& metrics) {
    switch (question.kind) {
        case Kind::kNumber:
            return Values(answer, metrics).of(*answer.number);
        case Kind::kChoice:
            return answer.choices.front();
        case Kind::kSeveral:
            return answer.choices;
        case Kind::kText:
            break;
    }
    return answer.example;
}

std::string explanation(const Answer& answer, const MetricsOf& metrics) {
    return Values(answer, metrics).fill(answer.why);
}

void check_claims(const Answer& answer, const MetricsOf& metrics) {
    Values values(answer, metrics);
    for (const sweep::Expression& claim : answer.holds)
        if (values.of(claim) == 0)
            config::fail(claim.place(), fmt::format("{} does not hold", claim.text()));
    values.fill(answer.why);
    for (const Hint& hint : answer.hints) values.fill(hint.text);
}

}  // namespace lockstep::lab
