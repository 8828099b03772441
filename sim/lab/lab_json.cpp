// SPDX-License-Identifier: Apache-2.0
#include "sim/lab/lab_json.h"

#include "sim/error/error.h"
#include "sim/lab/run_request.h"

namespace lockstep::lab {

namespace {

using Json = nlohmann::ordered_json;

const char* kind_name(Kind kind) {
    switch (kind) {
        case Kind::kNumber:
            return "number";
        case Kind::kChoice:
            return "choice";
        case Kind::kSeveral:
            return "several";
        case Kind::kText:
            break;
    }
    return "text";
}

/// Whether /api/run takes it, with changes of the student's.
bool is_run(const std::string& command) {
    if (!command.starts_with("run ")) return false;
    try {
        RunRequest::from_text(command);
        return true;
    } catch (const InputError&) {
        return false;
    }
}

Json question_json(const Question& question) {
    Json json = {{"id", question.id}, {"kind", kind_name(question.kind)}, {"ask", question.ask}};
    if (question.kind == Kind::kNumber) {
        json["unit"] = question.unit;
        const Tolerance& tolerance = question.tolerance;
        if (tolerance.relative > 0 || tolerance.absolute > 0)
            json["tolerance"] = {{"relative", tolerance.relative},
                                 {"absolute", tolerance.absolute},
                                 {"because", tolerance.reason}};
    }
    if (!question.choices.empty()) {
        Json choices = Json::array();
        for (const Choice& choice : question.choices)
            choices.push_back({{"id", choice.id}, {"text", choice.text}});
        json["choices"] = std::move(choices);
    }
    return json;
}

}  // namespace

Json list_json(const Library& library) {
    Json labs = Json::array();
    for (const KeyedLab& keyed : library.labs()) {
        const Lab& lab = keyed.lab;
        Json ids = Json::array();
        for (const Step& step : lab.steps)
            for (const Question& question : step.questions) ids.push_back(question.id);
        labs.push_back({{"name", lab.name},
                        {"title", lab.title},
                        {"goal", lab.goal},
                        {"minutes", lab.minutes},
                        {"steps", lab.steps.size()},
                        {"questions", std::move(ids)}});
    }
    return labs;
}

Json lab_json(const Lab& lab) {
    Json steps = Json::array();
    for (const Step& step : lab.steps) {
        Json json = {{"title", step.title}, {"text", step.text}};
        if (step.widget)
            json["widget"] = {{"name", step.widget->name}, {"parameters", step.widget->parameters}};
        Json commands = Json::array(), questions = Json::array();
        for (const std::string& command : step.commands)
            commands.push_back({{"text", command}, {"editable", is_run(command)}});
        for (const Question& question : step.questions)
            questions.push_back(question_json(question));
        json["commands"] = std::move(commands);
        json["questions"] = std::move(questions);
        steps.push_back(std::move(json));
    }
    return {{"name", lab.name},       {"title", lab.title}, {"goal", lab.goal},
            {"minutes", lab.minutes}, {"sheet", lab.sheet}, {"steps", std::move(steps)}};
}

}  // namespace lockstep::lab
