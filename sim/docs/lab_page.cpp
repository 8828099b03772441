// SPDX-License-Identifier: Apache-2.0
// sim/lab/README.md says what a lab's file has; sim/lab checks it. Here it is only shown.
#include "sim/docs/lab_page.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "sim/error/error.h"

namespace lockstep::docs {

namespace {

std::string text_of(const YAML::Node& node, const char* key) {
    return node[key] ? node[key].as<std::string>() : "";
}

std::string question(const YAML::Node& node) {
    std::string text = "- " + text_of(node, "ask");
    if (const YAML::Node number = node["number"]; number && number["unit"])
        text += fmt::format(" ({})", number["unit"].as<std::string>());
    text += '\n';
    for (const char* kind : {"choice", "several"})
        if (node[kind])
            for (const auto& choice : node[kind])
                text += fmt::format("  - {}\n", choice.second.as<std::string>());
    return text;
}

std::string step(const YAML::Node& node, int number) {
    std::string text =
        fmt::format("## {}. {}\n{}\n", number, text_of(node, "title"), text_of(node, "text"));
    if (node["widget"]) text += "In the browser a picture of the model's run stands here.\n\n";
    if (node["commands"]) {
        text += "```\n";
        for (const auto& command : node["commands"])
            text += fmt::format("$ ./lockstep {}\n", command.as<std::string>());
        text += "```\n";
    }
    if (node["questions"])
        for (const auto& each : node["questions"]) text += question(each);
    return text + '\n';
}

}  // namespace

std::string lab_page(std::string_view yaml) {
    try {
        const YAML::Node lab = YAML::Load(std::string(yaml));
        const std::string name = lab["lab"].as<std::string>();
        std::string text = fmt::format(
            "# {}\n{}\n\nSome {} minutes. `./lockstep lab` has it in the browser, with "
            "pictures and "
            "checked answers; `./lockstep lab {}` in the terminal.",
            text_of(lab, "title"), text_of(lab, "goal"), text_of(lab, "minutes"), name);
        if (lab["sheet"]) text += fmt::format(" Further: `{}`.", text_of(lab, "sheet"));
        text += "\n\n";
        int number = 0;
        for (const auto& each : lab["steps"]) text += step(each, ++number);
        return text;
    } catch (const YAML::Exception& error) {
        throw InputError(fmt::format("a lab: {}", error.what()));
    }
}

}  // namespace lockstep::docs
