// SPDX-License-Identifier: Apache-2.0
#include "validation/compare/report.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "sim/error/error.h"
#include "validation/compare/statistics.h"

namespace lockstep::validation {

namespace {

using Json = nlohmann::ordered_json;
using Line = std::vector<std::string>;

/// Columns as wide as their widest cell; the first to the left, the others to the right, the last
/// as it is.
std::string align(const std::vector<Line>& lines) {
    std::vector<std::size_t> widths;
    for (const Line& line : lines)
        for (std::size_t i = 0; i < line.size(); ++i) {
            widths.resize(std::max(widths.size(), i + 1));
            widths[i] = std::max(widths[i], line[i].size());
        }
    std::string text;
    for (const Line& line : lines) {
        std::string row;
        for (std::size_t i = 0; i < line.size(); ++i)
            row += i == 0                 ? fmt::format("{:<{}}", line[i], widths[i])
                   : i + 1 == line.size() ? fmt::format("  {}", line[i])
                                          : fmt::format("  {:>{}}", line[i], widths[i]);
        row.erase(row.find_last_not_of(' ') + 1);
        text += row + "\n";
    }
    return text;
}

std::string number(double value) {
    return value == std::floor(value) && std::abs(value) < 1e15 ? fmt::format("{:.0f}", value)
                                                                : fmt::format("{:.6g}", value);
}

std::string_view part_name(Part part) {
    return part == Part::kTrain ? "train" : "test";
}

std::string error_text(const Row& row, Error kind) {
    return fmt::format("{:+.2f}{}", error_of(row, kind),
                       kind == Error::kDifference ? ""
                       : row.is_percentage        ? " points"
                                                  : "%");
}

bool is_within(const Row& row) {
    return std::abs(row.simulated - row.reference) <= row.allowed;
}

bool has_allowances(std::span<const Row> rows) {
    return std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.allowed > 0; });
}

std::string row_lines(const Suite& suite, std::span<const Row> rows) {
    const bool allowances = has_allowances(rows);
    Line header = {"name", "quantity", "reference", "simulated", "unit", "error"};
    if (allowances) header.insert(header.end(), {"allowed", "within"});
    header.insert(header.end(), {"part", "note"});
    std::vector<Line> lines = {header};
    for (const Row& row : rows) {
        if (suite.is_exact && row.simulated == row.reference) continue;
        Line line = {row.name,
                     row.quantity,
                     number(row.reference),
                     number(row.simulated),
                     row.unit,
                     error_text(row, suite.error)};
        if (allowances)
            line.insert(line.end(), {row.allowed > 0 ? number(row.allowed) : "",
                                     row.allowed > 0 ? is_within(row) ? "yes" : "NO" : ""});
        line.insert(line.end(), {std::string(part_name(row.part)), row.note});
        lines.push_back(std::move(line));
    }
    return lines.size() == 1 ? "" : align(lines) + "\n";
}

struct Group {
    std::string quantity, part;
    ErrorStatistics statistics;
};

/// By quantity, and by part within it where there are both.
std::vector<Group> groups(const Suite& suite, std::span<const Row> rows) {
    std::vector<Group> list;
    const auto add = [&](const std::string& quantity, const char* name, std::optional<Part> part) {
        const std::vector<Row> selected = select(rows, quantity, part);
        if (!selected.empty())
            list.push_back(
                {quantity.empty() ? "all" : quantity, name, statistics_of(selected, suite.error)});
    };
    const bool has_parts = !select(rows, "", Part::kTrain).empty();
    std::vector<std::string> names = quantities(rows);
    // Percents and percentage points have no common mean.
    const bool is_mixed =
        std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.is_percentage; });
    if (names.size() > 1 && !is_mixed) names.push_back("");
    for (const std::string& quantity : names) {
        add(quantity, "all", std::nullopt);
        if (has_parts) {
            add(quantity, "train", Part::kTrain);
            add(quantity, "test", Part::kTest);
        }
        std::vector<std::string> seen;
        for (const Row& row : select(rows, quantity, std::nullopt)) {
            if (row.group.empty() || std::find(seen.begin(), seen.end(), row.group) != seen.end())
                continue;
            seen.push_back(row.group);
            std::vector<Row> selected = select(rows, quantity, std::nullopt);
            std::erase_if(selected, [&](const Row& other) { return other.group != row.group; });
            list.push_back({quantity.empty() ? "all" : quantity, row.group,
                            statistics_of(selected, suite.error)});
        }
    }
    return list;
}

std::string statistics_lines(const Suite& suite, std::span<const Row> rows) {
    const auto fixed = [](double value) { return fmt::format("{:.2f}", value); };
    const auto optional = [](std::optional<double> value) {
        return value ? fmt::format("{:.4f}", *value) : std::string("-");
    };
    const std::string unit = suite.error == Error::kRelative ? " %" : "";
    std::vector<Line> lines = {{"quantity", "part", "rows", "equal", "mean error" + unit,
                                "mean |error|", "median", "p90", "max", "pearson", "kendall"}};
    for (const Group& group : groups(suite, rows)) {
        const ErrorStatistics& s = group.statistics;
        lines.push_back({group.quantity, group.part, fmt::format("{}", s.rows),
                         fmt::format("{}", s.equal), fmt::format("{:+.2f}", s.mean_signed),
                         fixed(s.mean_absolute), fixed(s.median_absolute), fixed(s.p90_absolute),
                         fixed(s.maximum_absolute), optional(s.pearson), optional(s.kendall_tau)});
    }
    return align(lines);
}

constexpr std::size_t kWorstRows = 10;

/// Whether the goal is reached, and the rows that are furthest from it, train or test.
std::string goal_lines(const Suite& suite, std::span<const Row> rows) {
    if (!suite.goal) return "";
    const Goal& goal = *suite.goal;
    const std::vector<Row> test = select(rows, goal.quantity, Part::kTest);
    std::vector<Row> all = select(rows, goal.quantity, std::nullopt);
    if (test.empty()) return "";
    const ErrorStatistics s = statistics_of(test, suite.error);
    const auto verdict = [](bool is_reached) { return is_reached ? "reached" : "MISSED"; };
    std::string text = fmt::format(
        "\n{} of the {} test rows: mean |error| {:.2f} (at most {:g}: {}), max {:.2f} (at most "
        "{:g}: {}), Pearson {} (at least {:g}: {})\n\nfurthest off:\n",
        goal.quantity, test.size(), s.mean_absolute, goal.mean_absolute,
        verdict(s.mean_absolute <= goal.mean_absolute), s.maximum_absolute, goal.maximum_absolute,
        verdict(s.maximum_absolute <= goal.maximum_absolute),
        s.pearson ? fmt::format("{:.4f}", *s.pearson) : "-", goal.pearson,
        verdict(s.pearson && *s.pearson >= goal.pearson));
    const auto error = [&](const Row& row) { return std::abs(error_of(row, suite.error)); };
    std::stable_sort(all.begin(), all.end(),
                     [&](const Row& a, const Row& b) { return error(a) > error(b); });
    for (std::size_t i = 0; i < std::min(all.size(), kWorstRows); ++i)
        text += row_text(suite, all[i]);
    return text;
}

/// JSON has no infinity.
Json finite(double value) {
    return std::isfinite(value) ? Json(value) : Json(nullptr);
}

Json to_json(const ErrorStatistics& s) {
    const auto optional = [](std::optional<double> value) {
        return value ? Json(*value) : Json(nullptr);
    };
    return {{"rows", s.rows},
            {"equal", s.equal},
            {"mean_signed_error", finite(s.mean_signed)},
            {"mean_absolute_error", finite(s.mean_absolute)},
            {"median_absolute_error", finite(s.median_absolute)},
            {"p90_absolute_error", finite(s.p90_absolute)},
            {"max_absolute_error", finite(s.maximum_absolute)},
            {"pearson", optional(s.pearson)},
            {"kendall_tau", optional(s.kendall_tau)}};
}

std::string csv_text(std::string_view text) {
    std::string result = "\"";
    for (const char c : text) result += c == '"' ? std::string("\"\"") : std::string(1, c);
    return result + '"';
}

}  // namespace

std::string row_text(const Suite& suite, const Row& row) {
    std::string text = fmt::format("{:<52}  {:<24}  {:>12}  {:>12}  {:>12}  {:>5}  {}", row.name,
                                   row.quantity, number(row.reference), number(row.simulated),
                                   error_text(row, suite.error), part_name(row.part), row.note);
    text.erase(text.find_last_not_of(' ') + 1);
    return text + "\n";
}

std::string text_report(const Suite& suite, const std::string& machine, std::span<const Row> rows,
                        bool with_rows) {
    std::string text = fmt::format("{} on {}: {}\n\n", suite.name, machine, suite.summary);
    text += (with_rows ? row_lines(suite, rows) : "") + statistics_lines(suite, rows);
    text += goal_lines(suite, rows);
    const ErrorStatistics all = statistics_of(rows, suite.error);
    if (has_allowances(rows))
        text += fmt::format("\n{} of {} values within what is allowed\n",
                            std::count_if(rows.begin(), rows.end(), is_within), rows.size());
    if (suite.is_exact) text += fmt::format("\n{} of {} values equal\n", all.equal, all.rows);
    if (suite.bar > 0) {
        const std::string quantity(suite.bar_quantity);
        const double mean =
            statistics_of(select(rows, quantity, std::nullopt), suite.error).mean_absolute;
        text += fmt::format("\nmean absolute error{} {:.2f}, to reach: {:.2f} ({}): {}\n",
                            quantity.empty() ? "" : " of " + quantity, mean, suite.bar,
                            suite.bar_source, mean <= suite.bar ? "reached" : "MISSED");
    }
    return text;
}

std::string json_report(const Suite& suite, const std::string& machine, std::span<const Row> rows) {
    const std::string error = suite.error == Error::kRelative ? "error.pct" : "error.difference";
    Json steps = Json::array();
    for (const Row& row : rows)
        steps.push_back({{"name", row.name},
                         {"quantity", row.quantity},
                         {"unit", row.unit},
                         {"part", part_name(row.part)},
                         {"group", row.group},
                         {"source", row.source},
                         {"note", row.note},
                         {"metrics",
                          {{"reference", row.reference},
                           {"simulated", row.simulated},
                           {"allowed", row.allowed},
                           {error, finite(error_of(row, suite.error))}}}});
    Json statistics = Json::array();
    for (const Group& group : groups(suite, rows)) {
        Json entry = {{"quantity", group.quantity}, {"part", group.part}};
        entry.update(to_json(group.statistics));
        statistics.push_back(std::move(entry));
    }
    const Json root = {{"schema", 1},
                       {"machine", machine},
                       {"mode", "compare"},
                       {"workload", suite.name},
                       {"steps", std::move(steps)},
                       {"error", suite.error == Error::kRelative ? "percent" : "difference"},
                       {"statistics", std::move(statistics)}};
    return root.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string csv_report(const Suite& suite, std::span<const Row> rows) {
    std::string text = "name,quantity,reference,simulated,unit,error,allowed,part,source,note\n";
    for (const Row& row : rows)
        text += fmt::format("{},{},{},{},{},{},{},{},{},{}\n", csv_text(row.name),
                            csv_text(row.quantity), row.reference, row.simulated,
                            csv_text(row.unit), error_of(row, suite.error), row.allowed,
                            part_name(row.part), csv_text(row.source), csv_text(row.note));
    return text;
}

}  // namespace lockstep::validation
