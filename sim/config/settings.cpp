// SPDX-License-Identifier: Apache-2.0
#include "sim/config/settings.h"

#include <fmt/format.h>

#include <charconv>

#include "sim/config/value.h"

namespace lockstep::config {

double Settings::number_before(std::string_view path) const {
    const auto before = before_.find(path);
    const std::string& value = before != before_.end() ? before->second.value : machine_.text(path);
    double result = 0;
    std::from_chars(value.data(), value.data() + value.size(), result);
    return result;
}

void Settings::follow(std::string_view path, double value, std::string_view cause) {
    follow(path, fmt::format("{}", value), cause);
}

void Settings::follow(std::string_view path, const std::string& text, std::string_view cause) {
    const Entry& entry = find_entry(find_kind(machine_.kind())->entries, path, place_);
    const Place place{fmt::format("{} {}", place_.text(), cause), 0};
    Parameter& parameter = now_.find(path)->second;
    const std::string value = canonical_value(entry, text, std::string(entry.unit), place);
    if (value == parameter.value) return;
    parameter.value = value;
    parameter.evidence = fmt::format("assumed: follows {}, which was set", cause);
}

void Settings::refuse(const std::string& reason) const {
    fail(place_, reason);
}

}  // namespace lockstep::config
