// SPDX-License-Identifier: Apache-2.0
#include "sim/lab/run_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <boost/regex.hpp>

#include "sim/config/machine.h"
#include "sim/config/value.h"
#include "sim/error/error.h"

namespace lockstep::lab {

namespace {

constexpr std::size_t kMostWords = 64, kMostLetters = 256;

struct Option {
    const char* name;
    const char* value;  ///< what its value looks like; nullptr: it has none
};
const Option kOptions[] = {
    {"--on", "[a-z0-9_]+(,[a-z0-9_]+)*"},
    {"--set", "[a-z0-9_.]+=[A-Za-z0-9_.%+ -]+"},
    {"--mode", "cycle|emulate"},
    {"--l2", "cold|warm"},
    {"--precision", "[a-z0-9_,]+"},
    {"--seed", "[0-9]{1,18}"},
    {"--check", "[a-z]+(,[a-z]+)*"},
    {"--accuracy", "[0-9.]{1,8}"},
    {"--epochs", "[0-9]{1,4}"},
    {"--top", "[0-9]{1,4}"},
    {"--no-values", nullptr},
    {"--verify", nullptr},
    {"--energy", nullptr},
    {"--train", nullptr},
    {"--host", nullptr},
    {"--schedule", nullptr},
    {"--hazards", nullptr},
    {"--sample", nullptr},
    {"--source", nullptr},
};

bool looks_like(const std::string& word, const char* pattern) {
    return boost::regex_match(word, boost::regex(pattern));
}

void check_machines(const std::string& list) {
    const std::vector<std::string> known = config::Machine::names();
    for (std::size_t from = 0; from <= list.size();) {
        const std::size_t end = std::min(list.find(',', from), list.size());
        const std::string name = list.substr(from, end - from);
        if (std::find(known.begin(), known.end(), name) == known.end())
            throw InputError(
                fmt::format("no machine '{}'{}", name, config::did_you_mean(name, known)));
        from = end + 1;
    }
}

}  // namespace

std::vector<std::string> words_of(const std::string& command) {
    std::vector<std::string> words;
    std::string word;
    char quote = 0;
    bool is_begun = false;
    for (const char c : command) {
        if (quote != 0 ? c == quote : (c == '\'' || c == '"')) {
            quote = quote != 0 ? '\0' : c;
            is_begun = true;
        } else if (quote == 0 && (c == ' ' || c == '\n')) {
            if (is_begun) words.push_back(std::exchange(word, {}));
            is_begun = false;
        } else {
            word += c;
            is_begun = true;
        }
    }
    if (quote != 0) throw InputError(fmt::format("{}: a quote is not closed", command));
    if (is_begun) words.push_back(word);
    return words;
}

RunRequest RunRequest::from_text(const std::string& text) {
    RunRequest request;
    std::vector<std::string> words = words_of(text);
    if (!words.empty() && words.front() == "./lockstep") words.erase(words.begin());
    if (!words.empty() && words.front() == "run") words.erase(words.begin());
    request.words_.insert(request.words_.end(), words.begin(), words.end());
    request.check();
    return request;
}

RunRequest RunRequest::from_json(const nlohmann::json& json) {
    if (!json.is_object()) throw InputError("wanted an object");
    const auto text_of = [](const std::string& name, const nlohmann::json& value) {
        if (value.is_string()) return value.get<std::string>();
        if (value.is_number()) return value.dump();
        throw InputError(fmt::format("{}: wanted a text", name));
    };
    if (json.contains("command")) return from_text(text_of("command", json["command"]));
    if (!json.contains("x")) throw InputError("x is missing: what is to be run");
    RunRequest request;
    request.words_.push_back(text_of("x", json["x"]));
    for (const auto& [name, value] : json.items()) {
        if (name == "x") continue;
        std::string option = "--" + name;
        std::replace(option.begin(), option.end(), '_', '-');
        if (value.is_boolean()) {
            if (value.get<bool>()) request.words_.push_back(option);
            continue;
        }
        const auto values = value.is_array() ? value : nlohmann::json::array({value});
        for (const nlohmann::json& item : values) {
            request.words_.push_back(option);
            request.words_.push_back(text_of(name, item));
        }
    }
    request.check();
    return request;
}

void RunRequest::check() {
    if (words_.size() < 2) throw InputError("what is to be run is missing, as gemm:m=8,n=8,k=8");
    if (words_.size() > kMostWords) throw InputError(fmt::format("more than {} words", kMostWords));
    for (const std::string& word : words_)
        if (word.size() > kMostLetters)
            throw InputError(fmt::format("a word of more than {} letters", kMostLetters));
    if (!looks_like(words_[1],
                    "[a-z0-9_]+(:[a-z0-9_]+=[A-Za-z0-9_.+-]+(,[a-z0-9_]+=[A-Za-z0-9_.+-]+)*)?"))
        throw InputError(
            fmt::format("'{}': labs run what is built in, as gemm:m=8,n=8,k=8", words_[1]));
    for (std::size_t i = 2; i < words_.size(); ++i) {
        const std::string& name = words_[i];
        const auto* option = std::find_if(std::begin(kOptions), std::end(kOptions),
                                          [&](const Option& row) { return row.name == name; });
        if (option == std::end(kOptions)) {
            std::vector<std::string> names;
            for (const Option& row : kOptions) names.emplace_back(row.name);
            throw InputError(fmt::format("'{}': labs do not take this option{}", name,
                                         config::did_you_mean(name, names)));
        }
        if (option->value == nullptr) continue;
        if (++i == words_.size()) throw InputError(fmt::format("{}: its value is missing", name));
        if (!looks_like(words_[i], option->value))
            throw InputError(fmt::format("{} {}: not a value that labs take", name, words_[i]));
        if (name == "--on") check_machines(words_[i]);
    }
}

}  // namespace lockstep::lab
