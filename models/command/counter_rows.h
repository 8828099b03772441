// SPDX-License-Identifier: Apache-2.0
// Counters of a step as rows: one sums them, names them in --stats and documents them.
#pragma once

#include <fmt/format.h>

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "sim/stats/statistics.h"

namespace lockstep::command {

/// A counter, a member of `Result` (a machine's StepResult), or what follows from counters.
template <typename Result, typename Parameters>
struct CounterRow {
    using Member = std::uint64_t Result::*;
    using Formula = double (*)(const Result&, const Parameters&);

    template <typename T>
    constexpr CounterRow(std::uint64_t T::*member, std::string_view name, std::string_view unit,
                         std::string_view meaning)
        : member(member), name(name), unit(unit), meaning(meaning) {}
    constexpr CounterRow(Formula formula, std::string_view name, std::string_view unit,
                         std::string_view meaning)
        : formula(formula), name(name), unit(unit), meaning(meaning) {}

    Member member = nullptr;  ///< or nullptr, where there is a
    Formula formula = nullptr;
    std::string_view name;  ///< in --stats
    std::string_view unit;
    std::string_view meaning;
};

/// Of what follows from counters.
inline double percent(double part, double whole) {
    return whole == 0 ? 0 : 100 * part / whole;
}

/// Operations by time, two for each useful multiply-add: 10^12 a second.
template <typename Result, typename Parameters>
double tops(const Result& result, const Parameters& parameters) {
    constexpr double kTera = 1e12;
    const double seconds = double(result.cycles) / (parameters.clock_mhz * 1e6);
    return seconds == 0 ? 0 : 2 * double(result.useful_macs) / seconds / kTera;
}

/// Adds all counters of `other` to `sum`.
template <typename Result, typename Parameters>
void add(std::span<const CounterRow<Result, Parameters>> rows, Result& sum, const Result& other) {
    for (const auto& row : rows)
        if (row.member != nullptr) sum.*row.member += other.*row.member;
}

/// In the rows' order, under their names.
template <typename Result, typename Parameters>
std::vector<std::pair<std::string, stats::Value>> metrics(
    std::span<const CounterRow<Result, Parameters>> rows, const Result& result,
    const Parameters& parameters) {
    std::vector<std::pair<std::string, stats::Value>> list;
    for (const auto& row : rows)
        list.emplace_back(row.name, row.member != nullptr
                                        ? stats::Value(result.*row.member)
                                        : stats::Value(row.formula(result, parameters)));
    return list;
}

/// The rows as a table in Markdown.
template <typename Result, typename Parameters>
std::string metrics_table(std::span<const CounterRow<Result, Parameters>> rows) {
    std::string table = "| metric | unit | meaning |\n|---|---|---|\n";
    for (const auto& row : rows)
        table += fmt::format("| `{}` | {} | {} |\n", row.name, row.unit, row.meaning);
    return table;
}

}  // namespace lockstep::command
