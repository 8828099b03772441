// SPDX-License-Identifier: Apache-2.0
#include "sim/config/parameters_page.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/config/value.h"

namespace lockstep::config {

namespace {

/// "1 to 8", or what a value that is no number may be.
std::string range_text(const Entry& entry) {
    switch (entry.type) {
        case Type::kText: {
            std::string list;
            for (const Choice& choice : entry.choices)
                list += fmt::format("{}{}", list.empty() ? "" : ", ", choice.name);
            return list.empty() ? "text" : list;
        }
        case Type::kBoolean:
            return "true, false";
        case Type::kInteger:
        case Type::kNumber:
            break;
    }
    return fmt::format("{} to {}", entry.minimum, entry.maximum);
}

/// What a file may leave out.
std::string absence(const Entry& entry) {
    if (!entry.default_value.empty()) return fmt::format(" *Default: {}.*", entry.default_value);
    return entry.is_optional ? " *Optional.*" : "";
}

std::string_view group_of(std::string_view path) {
    return path.substr(0, path.find('.'));
}

}  // namespace

std::string parameters_page(const Kind& kind) {
    std::vector<Entry> entries = kind.entries;
    std::ranges::sort(entries, {}, &Entry::path);
    std::string page = fmt::format(
        "# Parameters of a machine of kind {}\n"
        "Made from the rows of the models; do not edit. `lockstep machines NAME` shows the values "
        "of "
        "a machine with the evidence for each, `--set PATH=VALUE` changes one for a run. Files may "
        "give multiples of the unit (\"25MiB\"). *Reports*: names the machine or bounds what a "
        "program may ask for; moves no time. *Optional*, *default*: a file may leave it out.\n",
        kind.name);
    std::string_view group;
    for (const Entry& entry : entries) {
        if (group_of(entry.path) != group) {
            group = group_of(entry.path);
            page += fmt::format(
                "\n## {}\n| parameter | unit | range | meaning |\n|---|---|---|---|\n", group);
        }
        page += fmt::format("| `{}` | {} | {} | {}{}{} |\n", entry.path, entry.unit,
                            range_text(entry), meaning_of_choices(entry),
                            entry.is_reporting_only ? " *Reports.*" : "", absence(entry));
    }
    return page;
}

}  // namespace lockstep::config
