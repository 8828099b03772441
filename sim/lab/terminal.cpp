// SPDX-License-Identifier: Apache-2.0
#include "sim/lab/terminal.h"

#include <fmt/format.h>

#include "sim/error/error.h"
#include "sim/lab/answer.h"
#include "sim/lab/number_text.h"

namespace lockstep::lab {

namespace {

constexpr int kTries = 3;

std::string given_text(const nlohmann::json& answer) {
    if (answer.is_number()) return number_text(answer.get<double>());
    if (answer.is_string()) return answer.get<std::string>();
    std::string list;
    for (const auto& item : answer) list += (list.empty() ? "" : ",") + item.get<std::string>();
    return list;
}

/// "a, c" as a list of choices; anything else as it is.
nlohmann::json answer_of(const Question& question, const std::string& line) {
    if (question.kind != Kind::kSeveral) return line;
    nlohmann::json list = nlohmann::json::array();
    std::string item;
    for (const char c : line + ",") {
        if (c != ',' && c != ' ') {
            item += c;
        } else if (!item.empty()) {
            list.push_back(std::exchange(item, {}));
        }
    }
    return list;
}

void print_question(const Question& question, int number) {
    fmt::print("\n{}. {}\n", number, question.ask);
    for (const Choice& choice : question.choices) fmt::print("   {}) {}\n", choice.id, choice.text);
    if (!question.tolerance.reason.empty())
        fmt::print("   (counts as right within {}: {})\n",
                   question.tolerance.relative > 0
                       ? number_text(100 * question.tolerance.relative) + " %"
                       : number_text(question.tolerance.absolute),
                   question.tolerance.reason);
}

std::string prompt_of(const Question& question) {
    switch (question.kind) {
        case Kind::kNumber:
            return question.unit.empty() ? "number" : "number, in " + question.unit;
        case Kind::kChoice:
            return "one of the letters";
        case Kind::kSeveral:
            return "all that are right, as a,c";
        case Kind::kText:
            break;
    }
    return "a word or two";
}

/// True once it was answered rightly.
bool ask(const Question& question, const Answer& answer, Service& service, std::istream& input) {
    const auto metrics = [&](const std::string& run) { return service.metrics(run); };
    for (int left = kTries; left > 0; --left) {
        fmt::print("   [{}; Enter passes] ", prompt_of(question));
        std::fflush(stdout);
        std::string line;
        if (!std::getline(input, line) || line.find_first_not_of(" \t\r") == std::string::npos) {
            fmt::print("\n");
            return false;
        }
        if (line.ends_with('\r')) line.pop_back();
        try {
            const Verdict verdict = check(question, answer, answer_of(question, line), metrics);
            fmt::print("   {} {}\n", verdict.is_right ? "Right." : "No.", verdict.text);
            if (verdict.is_right) return true;
        } catch (const InputError& error) {
            fmt::print("   {}\n", error.what());
        }
    }
    return false;
}

void run_commands(const Step& step, Service& service) {
    for (const std::string& command : step.commands) {
        fmt::print("\n$ ./lockstep {}\n", command);
        std::fflush(stdout);
        const ChildResult result = service.command(command);
        fmt::print("{}{}", result.output, result.errors);
    }
}

}  // namespace

int work_through(const KeyedLab& keyed, Service& service, std::istream& input) {
    const Lab& lab = keyed.lab;
    fmt::print("# {}\n{}\nAbout {} minutes.\n", lab.title, lab.goal, lab.minutes);
    int number = 0, right = 0;
    for (std::size_t i = 0; i < lab.steps.size(); ++i) {
        const Step& step = lab.steps[i];
        fmt::print("\n## {} of {}: {}\n\n{}\n", i + 1, lab.steps.size(), step.title, step.text);
        if (step.widget)
            fmt::print("\n(In the browser there is a picture here to play with: ./lockstep lab)\n");
        run_commands(step, service);
        for (const Question& question : step.questions) {
            print_question(question, ++number);
            right += ask(question, keyed.key.at(question.id), service, input) ? 1 : 0;
        }
    }
    fmt::print("\n{} of {} right.{}\n", right, number,
               lab.sheet.empty() ? "" : " To go on: " + lab.sheet);
    return right;
}

void print_key(const KeyedLab& keyed, Service& service) {
    const auto metrics = [&](const std::string& run) { return service.metrics(run); };
    fmt::print("# {}: the instructor's key\n", keyed.lab.title);
    int number = 0;
    for (const Step& step : keyed.lab.steps) {
        if (!step.questions.empty()) fmt::print("\n## {}\n", step.title);
        for (const Question& question : step.questions) {
            const Answer& answer = keyed.key.at(question.id);
            print_question(question, ++number);
            fmt::print("   {}: {}{}\n   {}\n", question.id,
                       given_text(right_answer(question, answer, metrics)),
                       question.unit.empty() ? "" : " " + question.unit,
                       explanation(answer, metrics));
        }
    }
}

void print_list(const Library& library) {
    for (const KeyedLab& keyed : library.labs()) {
        std::size_t questions = 0;
        for (const Step& step : keyed.lab.steps) questions += step.questions.size();
        fmt::print("{:12} {} ({} steps, {} questions, about {} minutes)\n", keyed.lab.name,
                   keyed.lab.title, keyed.lab.steps.size(), questions, keyed.lab.minutes);
    }
}

}  // namespace lockstep::lab
