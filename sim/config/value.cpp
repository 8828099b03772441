// SPDX-License-Identifier: Apache-2.0
#include "sim/config/value.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>

#include "sim/config/nearest.h"
#include "sim/config/units.h"
#include "sim/error/error.h"

namespace lockstep::config {

namespace {

std::vector<std::string> paths(std::span<const Entry> entries) {
    std::vector<std::string> list;
    for (const Entry& entry : entries) list.emplace_back(entry.path);
    return list;
}

double parse_number(std::string_view text, std::string_view path, const Place& place) {
    double value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value))
        fail(place, fmt::format("{}: '{}' is not a number", path, text));
    return value;
}

}  // namespace

void fail(const Place& place, const std::string& message) {
    throw InputError(fmt::format("{}: {}", place.text(), message));
}

std::string did_you_mean(std::string_view wanted, const std::vector<std::string>& candidates) {
    const std::string near = nearest(wanted, candidates);
    return near.empty() ? "" : fmt::format("; did you mean {}?", near);
}

const Entry& find_entry(std::span<const Entry> entries, std::string_view path, const Place& place) {
    for (const Entry& entry : entries)
        if (entry.path == path) return entry;
    fail(place, fmt::format("unknown parameter {}{}", path, did_you_mean(path, paths(entries))));
}

bool has_entry(std::span<const Entry> entries, std::string_view path) {
    return std::any_of(entries.begin(), entries.end(),
                       [&](const Entry& entry) { return entry.path == path; });
}

bool is_group(std::span<const Entry> entries, std::string_view path) {
    return std::any_of(entries.begin(), entries.end(), [&](const Entry& entry) {
        return entry.path.size() > path.size() && entry.path[path.size()] == '.' &&
               entry.path.starts_with(path);
    });
}

std::string meaning_of_choices(const Entry& entry) {
    std::string text(entry.meaning);
    for (const Choice& choice : entry.choices)
        if (!choice.meaning.empty())
            text += fmt::format("{}{} ({})", text.size() == entry.meaning.size() ? ": " : ", ",
                                choice.name, choice.meaning);
    return text;
}

std::string full_meaning(const Entry& entry) {
    return meaning_of_choices(entry) + (entry.is_reporting_only ? " (reporting only)" : "");
}

std::string canonical_value(const Entry& entry, const std::string& value, const std::string& unit,
                            const Place& place) {
    if (entry.type == Type::kText) {
        if (entry.choices.empty()) return value;
        std::vector<std::string> names;
        for (const Choice& choice : entry.choices) names.emplace_back(choice.name);
        if (std::ranges::find(names, value) == names.end())
            fail(place, fmt::format("{}: '{}' is none of {}{}", entry.path, value,
                                    fmt::join(names, ", "), did_you_mean(value, names)));
        return value;
    }
    if (entry.type == Type::kBoolean) {
        if (value != "true" && value != "false")
            fail(place, fmt::format("{}: '{}' is neither true nor false", entry.path, value));
        return value;
    }
    const auto factor = conversion(unit, entry.unit);
    if (!factor)
        fail(place, fmt::format("{}: unit '{}' where {} is wanted", entry.path, unit,
                                units_for(entry.unit)));
    const double number = parse_number(value, entry.path, place) * *factor;
    if (entry.type == Type::kInteger && number != std::floor(number))
        fail(place, fmt::format("{}: {} is not a whole number{}", entry.path,
                                unit == "1" ? value : value + " " + unit,
                                entry.unit == "1" ? "" : " of " + std::string(entry.unit)));
    if (number < entry.minimum || number > entry.maximum)
        fail(place,
             fmt::format("{}: {} is out of range ({} to {}{})", entry.path, number, entry.minimum,
                         entry.maximum, entry.unit == "1" ? "" : " " + std::string(entry.unit)));
    return entry.type == Type::kInteger ? fmt::format("{}", static_cast<std::int64_t>(number))
                                        : fmt::format("{}", number);
}

std::string canonical_setting(const Entry& entry, const std::string& text, const Place& place) {
    std::string value = text, unit(entry.unit);
    if (entry.type == Type::kInteger || entry.type == Type::kNumber) {
        const std::size_t end = text.find_first_not_of("0123456789.+-eE");
        if (end != std::string::npos && end != 0) {
            unit = text.substr(std::min(text.find_first_not_of(' ', end), text.size()));
            if (unit.empty()) unit = entry.unit;
            value.resize(end);
        }
    }
    return canonical_value(entry, value, unit, place);
}

}  // namespace lockstep::config
