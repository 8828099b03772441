// SPDX-License-Identifier: Apache-2.0
// A verb's words are read as far as they go: which option waits for its value, which machine is
// named by --on. What cannot be read (a machine file with an error) offers nothing.
#include "sim/cli/completion.h"

#include <algorithm>
#include <set>

#include "sim/config/machine.h"
#include "sim/config/schema.h"
#include "sim/config/value.h"
#include "sim/error/error.h"
#include "validation/compare/suite.h"
#include "workloads/cuda/workload.h"
#include "workloads/network/builtin/builtin.h"

namespace lockstep::cli {

namespace {

using config::Machine;

/// What has been read of the words before the last one.
struct Line {
    const CLI::App* verb = nullptr;
    std::vector<std::string> machines;     ///< of --on
    std::vector<std::string> positionals;  ///< before the last word
    std::set<std::string> given;           ///< options
    const CLI::Option* waits = nullptr;    ///< whose value the last word is
    bool is_behind_dashes = false;
    std::string word;    ///< the last one; of --option=value the value
    std::string before;  ///< "--option=", or ""
};

bool takes_value(const CLI::Option& option) {
    return option.get_expected_max() > 0;
}

void split(std::vector<std::string>& into, const std::string& list) {
    std::size_t begin = 0;
    for (std::size_t comma; (comma = list.find(',', begin)) != std::string::npos; begin = comma + 1)
        into.push_back(list.substr(begin, comma - begin));
    into.push_back(list.substr(begin));
}

void take_value(Line& line, const std::string& option, const std::string& value) {
    line.given.insert(option);
    if (option != "--on") return;
    line.machines.clear();
    split(line.machines, value);
}

Line read(const CLI::App& app, const std::vector<std::string>& words) {
    Line line;
    for (const CLI::App* verb : app.get_subcommands({}))
        if (verb->get_name() == words[0]) line.verb = verb;
    line.word = words.back();
    if (words.size() == 1 || line.verb == nullptr) return line;
    const CLI::Option* waits = nullptr;
    for (std::size_t i = 1; i + 1 < words.size(); ++i) {
        const std::string& word = words[i];
        if (word == "--") {
            line.is_behind_dashes = true;
            return line;
        }
        if (waits != nullptr) {
            take_value(line, waits->get_name(), word);
            waits = nullptr;
            continue;
        }
        if (!word.starts_with("--")) {
            line.positionals.push_back(word);
            continue;
        }
        const std::size_t equals = word.find('=');
        const std::string name = word.substr(0, equals);
        const CLI::Option* option = line.verb->get_option_no_throw(name);
        if (equals != std::string::npos)
            take_value(line, name, word.substr(equals + 1));
        else if (option != nullptr && takes_value(*option))
            waits = option;
        else
            line.given.insert(name);
    }
    line.waits = waits;
    const std::size_t equals = line.word.find('=');
    if (waits == nullptr && line.word.starts_with("--") && equals != std::string::npos) {
        line.waits = line.verb->get_option_no_throw(line.word.substr(0, equals));
        line.before = line.word.substr(0, equals + 1);
        line.word = line.word.substr(equals + 1);
    }
    return line;
}

/// "{cold,warm}": what a value may be.
std::vector<std::string> choices_of(const CLI::Option& option) {
    const std::string type = option.get_type_name();
    const std::size_t open = type.find('{'), close = type.find('}');
    if (open == std::string::npos || close == std::string::npos) return {};
    std::vector<std::string> list;
    split(list, type.substr(open + 1, close - open - 1));
    return list;
}

class Completer {
  public:
    Completer(const CLI::App& app, const std::vector<std::string>& words)
        : app_(app), line_(read(app, words)), is_verb_(words.size() == 1) {}

    Completion run() {
        if (is_verb_)
            verbs();
        else if (line_.is_behind_dashes || line_.verb == nullptr)
            made_.files = true;
        else if (line_.waits != nullptr)
            value(*line_.waits);
        else if (line_.word.starts_with("-"))
            options();
        else
            positional();
        std::erase_if(made_.candidates, [this](const Candidate& candidate) {
            return !candidate.text.starts_with(line_.word);
        });
        for (Candidate& candidate : made_.candidates) candidate.text.insert(0, line_.before);
        return std::move(made_);
    }

  private:
    void add(std::string text, std::string_view meaning = "") {
        made_.candidates.push_back({std::move(text), std::string(meaning)});
    }

    void verbs() {
        for (const CLI::App* verb : app_.get_subcommands({}))
            if (!verb->get_group().empty()) add(verb->get_name(), verb->get_description());
        add("test", "Build and run every test");
    }

    void options() {
        for (const CLI::Option* option : line_.verb->get_options()) {
            const std::string name = option->get_name();
            const bool may_be_repeated =
                option->get_multi_option_policy() == CLI::MultiOptionPolicy::TakeAll;
            if (option->get_positional() || option->get_group().empty() ||
                (line_.given.contains(name) && !may_be_repeated))
                continue;
            add(option->get_lnames().empty() ? name : "--" + option->get_lnames().front(),
                option->get_description());
        }
    }

    void machines(const std::string& before) {
        for (const std::string& name : Machine::names()) add(before + name);
        made_.files = true;
    }

    /// The last of a list with commas.
    std::string before_comma() const {
        const std::size_t comma = line_.word.rfind(',');
        return comma == std::string::npos ? "" : line_.word.substr(0, comma + 1);
    }

    /// Parameters of the machines of --on as path=, and behind that the value that they have.
    void settings(const std::string& default_machine) {
        std::vector<std::string> names = line_.machines;
        if (names.empty()) names.push_back(default_machine);
        const std::size_t equals = line_.word.find('=');
        std::set<std::string> seen;
        for (const std::string& name : names) {
            const auto machine = Machine::load(name);
            for (const config::Parameter& p : machine->parameters()) {
                if (!seen.insert(p.path).second) continue;
                if (equals == std::string::npos)
                    add(p.path + "=",
                        p.value + (p.unit == "1" ? "" : " " + p.unit) + ": " + p.meaning);
                else if (line_.word.compare(0, equals, p.path) == 0)
                    setting(*machine, p);
            }
        }
    }

    void setting(const Machine& machine, const config::Parameter& p) {
        const config::Entry& entry =
            config::find_entry(config::find_kind(machine.kind())->entries, p.path, {p.path, 0});
        if (entry.type == config::Type::kBoolean) {
            add(p.path + "=true");
            add(p.path + "=false");
        } else if (!entry.choices.empty()) {
            for (const config::Choice& choice : entry.choices)
                add(p.path + "=" + std::string(choice.name), std::string(choice.meaning));
        } else {
            add(p.path + "=" + p.value);
        }
    }

    void value(const CLI::Option& option) {
        const std::string name = option.get_name(), verb = line_.verb->get_name();
        if (name == "--on") return machines(verb == "compare" ? "" : before_comma());
        if (name == "--diff") return machines("");
        if (name == "--set" && verb == "machines")
            return settings(line_.positionals.empty() ? "h200" : line_.positionals[0]);
        if (name == "--set" || name == "--vary") return settings("h200");
        if (name == "--suite")
            for (const validation::Suite& suite : validation::suites())
                add(std::string(suite.name), suite.summary);
        for (const std::string& choice : choices_of(option)) add(choice);
        // What is left may be the name of a file: --stats, --trace, --html and their like.
        made_.files = made_.candidates.empty();
    }

    /// name, or of name: the parameters that are not given yet, each with its default.
    template <typename List, typename Default>
    void workload(std::string_view name, std::string_view summary, const List& parameters,
                  Default default_value) {
        const std::size_t colon = line_.word.find(':');
        if (colon == std::string::npos) return add(std::string(name), summary);
        if (line_.word.compare(0, colon, name) != 0) return;
        std::size_t begin = line_.word.find_last_of(":,") + 1;
        const std::string before = line_.word.substr(0, begin);
        for (const auto& p : parameters) {
            const std::string key = std::string(p.name) + "=";
            const bool is_given = before.find(":" + key) != std::string::npos ||
                                  before.find("," + key) != std::string::npos;
            if (is_given) continue;
            const bool wants_value = line_.word.find('=', begin) != std::string::npos;
            add(before + key + (wants_value ? std::to_string(p.*default_value) : ""));
        }
    }

    void workloads() {
        for (const cuda::Workload& w : cuda::workloads())
            workload(w.name, w.summary, w.parameters, &cuda::ParameterInfo::default_value);
        networks();
    }

    void networks() {
        for (const network::BuiltinNetwork& n : network::builtin_networks())
            workload(n.name, n.description, n.parameters, &network::BuiltinParameter::otherwise);
    }

    void positional() {
        const std::string verb = line_.verb->get_name();
        const std::size_t index = line_.positionals.size();
        if (verb == "machines" && index == 0) return machines("");
        if (verb == "workloads" && index == 0) return workloads();
        if (verb == "completion" && index == 0) {
            add("bash");
            add("zsh");
            return;
        }
        if (verb == "choose" && index == 0) networks();
        if ((verb == "run" && index == 0) || verb == "sweep") workloads();
        const bool has_parameters =
            line_.word.find(':') != std::string::npos && !made_.candidates.empty();
        made_.files =
            verb != "machines" && verb != "workloads" && verb != "completion" && !has_parameters;
    }

    const CLI::App& app_;
    const Line line_;
    const bool is_verb_;
    Completion made_;
};

}  // namespace

Completion complete(const CLI::App& app, const std::vector<std::string>& words) {
    if (words.empty()) return {};
    try {
        return Completer(app, words).run();
    } catch (const Error&) {  // a machine file that does not load
        return {};
    }
}

}  // namespace lockstep::cli
