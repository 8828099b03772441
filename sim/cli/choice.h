// SPDX-License-Identifier: Apache-2.0
// An option whose words stand for values of an enumeration.
#pragma once

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <CLI/CLI.hpp>
#include <map>
#include <ranges>
#include <string>
#include <type_traits>

namespace lockstep::cli {

/// Takes the words that are the map's keys. CLI11's own CheckedTransformer prints what each stands
/// for, too, in --help and in errors: a number, or a character of that code.
template <typename Value>
CLI::Option* choose(CLI::Option* option, const std::map<std::string, Value>& words) {
    const std::string list = fmt::format("{}", fmt::join(words | std::views::keys, ","));
    const auto translate = [words, list](std::string& word) -> std::string {
        const auto at = words.find(word);
        if (at == words.end()) return fmt::format("{} not in {{{}}}", word, list);
        word = std::to_string(static_cast<std::underlying_type_t<Value>>(at->second));
        return "";
    };
    return option->transform(CLI::Validator(translate, "{" + list + "}"))->type_name("TEXT");
}

}  // namespace lockstep::cli
