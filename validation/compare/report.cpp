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

/// Columns as wide as their widest cell; `sides` has an `l` or `r` for each, or `f` for one that is
/// as it is.
std::string align(const std::vector<Line>& lines, std::string_view sides) {
    std::vector<std::size_t> widths(sides.size());
    for (const Line& line : lines)
        for (std::size_t i = 0; i < line.size(); ++i)
            widths[i] = std::max(widths[i], line[i].size());
    std::string text;
    for (const Line& line : lines) {
        std::string row;
        for (std::size_t i = 0; i < line.size(); ++i) {
            if (i > 0) row += ' ';
            row += sides[i] == 'f'   ? line[i]
                   : sides[i] == 'l' ? fmt::format("{:<{}}", line[i], widths[i])
                                     : fmt::format("{:>{}}", line[i], widths[i]);
        }
        row.erase(row.find_last_not_of(' ') + 1);
        text += row + "\n";
    }
    return text;
}

bool is_within(const Row& row) {
    return std::abs(row.simulated - row.reference) <= row.allowed;
}

bool has_allowances(std::span<const Row> rows) {
    return std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.allowed > 0; });
}

/// A name, and a note behind it or, where the line gets too long, below it.
std::string with_note(const std::string& line, const std::string& note) {
    if (note.empty()) return line + "\n";
    constexpr std::size_t kColumns = 100;
    return line + (line.size() + 3 + note.size() <= kColumns ? " (" : "\n        (") + note + ")\n";
}

std::string row_lines(const Suite& suite, std::span<const Row> rows) {
    const bool allowances = has_allowances(rows);
    Line header = {"error", "reference", "simulated"};
    if (allowances) header.insert(header.end(), {"allowed", "within"});
    header.insert(header.end(), {"unit", "part", "quantity", "name"});
    std::vector<Line> lines = {header};
    std::vector<std::string> notes = {""};
    for (const Row& row : rows) {
        if (suite.is_exact && row.simulated == row.reference) continue;
        Line line = {error_text(row, suite.error), number_text(row.reference),
                     number_text(row.simulated)};
        if (allowances)
            line.insert(line.end(), {row.allowed > 0 ? number_text(row.allowed) : "",
                                     row.allowed > 0 ? is_within(row) ? "yes" : "NO" : ""});
        line.insert(line.end(),
                    {row.unit, std::string(part_name(row.part)), row.quantity, row.name});
        lines.push_back(std::move(line));
        notes.push_back(row.note);
    }
    if (lines.size() == 1) return "";
    const std::string aligned = align(lines, allowances ? "rrrrllllf" : "rrrlllf");
    std::string text;
    for (std::size_t at = 0, i = 0; at < aligned.size(); ++i) {
        const std::size_t end = aligned.find('\n', at);
        text += with_note(aligned.substr(at, end - at), notes[i]);
        at = end + 1;
    }
    return text + "\n";
}

struct Group {
    std::string quantity, part;
    ErrorStatistics statistics;
    bool is_part = true;  ///< all, train or test; not a group of the rows' own
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
                            statistics_of(selected, suite.error), false});
        }
    }
    return list;
}

constexpr std::string_view kStatisticsSides = "llrrrrrrrrr";

Line statistics_line(const std::string& quantity, const std::string& part,
                     const ErrorStatistics& s) {
    const auto fixed = [](double value) {
        return std::isfinite(value) ? fmt::format("{:.2f}", value) : std::string("n/a");
    };
    const auto optional = [](std::optional<double> value) {
        return value ? fmt::format("{:.4f}", *value) : std::string("-");
    };
    return {quantity,
            part,
            fmt::format("{}", s.rows),
            fmt::format("{}", s.equal),
            std::isfinite(s.mean_signed) ? fmt::format("{:+.2f}", s.mean_signed) : "n/a",
            fixed(s.mean_absolute),
            fixed(s.median_absolute),
            fixed(s.p90_absolute),
            fixed(s.maximum_absolute),
            optional(s.pearson),
            optional(s.kendall_tau)};
}

/// Nothing to compare: no row has anything but 0.
bool is_zero(std::span<const Row> rows) {
    return !rows.empty() && std::all_of(rows.begin(), rows.end(), [](const Row& row) {
        return row.reference == 0 && row.simulated == 0;
    });
}

std::string statistics_lines(const Suite& suite, std::span<const Row> rows) {
    const auto header = [](const char* first, const char* second) -> Line {
        return {first,    second, "rows", "equal",   "mean",   "|mean|",
                "median", "p90",  "max",  "pearson", "kendall"};
    };
    std::vector<Line> lines = {header("quantity", "part")}, by_group = {header("", "group")};
    std::string notes, zeros;
    const std::vector<Group> all = groups(suite, rows);
    for (const Group& group : all) {
        if (is_zero(select(rows, group.quantity, std::nullopt))) {
            if (group.part == "all") zeros += (zeros.empty() ? "" : ", ") + group.quantity;
            continue;
        }
        if (group.is_part)
            lines.push_back(statistics_line(group.quantity, group.part, group.statistics));
        else if (group.quantity == all[0].quantity)
            by_group.push_back(statistics_line("", group.part, group.statistics));
        if (const std::size_t n = group.statistics.without_error; n > 0 && group.part == "all")
            notes += fmt::format("{}: {} of {} values have a reference of 0 and so no error\n",
                                 group.quantity, n, group.statistics.rows);
    }
    const bool has_percentages =
        std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.is_percentage; });
    std::string text =
        fmt::format("errors in {}{}: mean; then of the absolute ones mean, median, p90, max\n",
                    suite.error == Error::kRelative ? "%" : "the values' own units",
                    has_percentages ? ", of rates and shares in points" : "");
    text += align(lines, kStatisticsSides) + notes;
    if (!zeros.empty()) text += "0 on both sides: " + zeros + "\n";
    if (by_group.size() > 1)
        text += fmt::format("\n{} by group\n", all[0].quantity) + align(by_group, kStatisticsSides);
    return text;
}

/// Whether the goal is reached, and the rows that are furthest from it, train or test.
std::string goal_lines(const Suite& suite, std::span<const Row> rows) {
    const std::string verdict = goal_text(suite, rows);
    if (verdict.empty()) return "";
    std::string text = "\n" + verdict + "\n\nfurthest off:\n";
    for (const Row& row :
         furthest_off(select(rows, suite.goal->quantity, std::nullopt), suite.error, kWorstRows))
        text += row_text(suite, row);
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
            {"without_error", s.without_error},
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

std::string number_text(double value) {
    const double size = std::abs(value);
    const bool is_whole = value == std::floor(value) || size >= 1e6;  // six digits are enough
    return is_whole && size < 1e15 ? fmt::format("{:.0f}", value) : fmt::format("{:.6g}", value);
}

std::string_view part_name(Part part) {
    return part == Part::kTrain ? "train" : part == Part::kNoisy ? "noisy" : "test";
}

std::string error_text(const Row& row, Error kind) {
    const double error = error_of(row, kind);
    if (!std::isfinite(error)) return "n/a";
    return fmt::format("{:+.2f}{}", error,
                       kind == Error::kDifference ? ""
                       : row.is_percentage        ? " points"
                                                  : "%");
}

bool is_shown(const Row& row) {
    for (const char* exact : {"instructions", "outputs", "mufu_results"})
        if (row.quantity == exact) return row.simulated != row.reference;
    return row.quantity.ends_with("cycles") || row.quantity.starts_with("micro_");
}

std::string row_text(const Suite& suite, const Row& row) {
    return with_note(
        fmt::format("{:>9} {:>11} {:>11} {:<5} {:<14} {}", error_text(row, suite.error),
                    number_text(row.reference), number_text(row.simulated), part_name(row.part),
                    row.quantity, row.name),
        row.note);
}

std::string sample_warning(std::span<const Row> rows) {
    const bool is_sample = std::any_of(
        rows.begin(), rows.end(), [](const Row& row) { return row.source.starts_with("SAMPLE"); });
    return is_sample ? "SAMPLE DATA: nothing here was measured.\n\n" : "";
}

std::string goal_text(const Suite& suite, std::span<const Row> rows) {
    if (!suite.goal) return "";
    const Goal& goal = *suite.goal;
    const std::vector<Row> test = select(rows, goal.quantity, Part::kTest);
    if (test.empty()) return "";
    const ErrorStatistics s = statistics_of(test, suite.error);
    const auto verdict = [](bool is_reached) { return is_reached ? "reached" : "MISSED"; };
    return fmt::format(
        "{} of the {} test rows: mean |error| {:.2f}% (at most {:g}: {}),\nmax {:.2f}% (at most "
        "{:g}: "
        "{}), Pearson {} (at least {:g}: {})",
        goal.quantity, test.size(), s.mean_absolute, goal.mean_absolute,
        verdict(s.mean_absolute <= goal.mean_absolute), s.maximum_absolute, goal.maximum_absolute,
        verdict(s.maximum_absolute <= goal.maximum_absolute),
        s.pearson ? fmt::format("{:.4f}", *s.pearson) : "-", goal.pearson,
        verdict(s.pearson && *s.pearson >= goal.pearson));
}

std::string text_report(const Suite& suite, const std::string& machine, std::span<const Row> rows,
                        bool with_rows) {
    std::string text = fmt::format("{} on {}: {}\n\n", suite.name, machine, suite.summary);
    if (with_rows) text += sample_warning(rows);
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
        text += fmt::format("\nmean absolute error{} {:.2f}, to reach {:.2f}: {}\n({})\n",
                            quantity.empty() ? "" : " of " + quantity, mean, suite.bar,
                            mean <= suite.bar ? "reached" : "MISSED", suite.bar_source);
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
