// SPDX-License-Identifier: Apache-2.0
// Nsight Compute's raw page as CSV: messages that begin with "==", the header line ("ID", ...,
// metric names), a line of units, then a line for each launch. Numbers have commas between
// thousands; units have decimal prefixes unless `--print-units base` was given.
#include "validation/measure/ncu_csv.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <cmath>
#include <limits>
#include <optional>

#include "sim/error/error.h"

namespace lockstep::validation {

namespace {

constexpr std::string_view kMetrics[] = {
    "gpu__time_duration.sum",
    "sm__cycles_elapsed.max",
    "sm__cycles_elapsed.avg.per_second",
    "smsp__inst_executed.sum",
    "sm__cycles_active.avg",
    "smsp__thread_inst_executed_per_inst_executed.ratio",
    "smsp__issue_active.avg.per_cycle_active",
    "sm__warps_active.avg.pct_of_peak_sustained_active",
    "l1tex__t_sectors.sum",
    "l1tex__t_sector_hit_rate.pct",
    "lts__t_sectors.sum",
    "lts__t_sector_hit_rate.pct",
    "dram__bytes_read.sum",
    "dram__bytes_write.sum",
    "dram__cycles_elapsed.avg.per_second",
    "smsp__sass_thread_inst_executed_op_fadd_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_fmul_pred_on.sum",
    "smsp__sass_thread_inst_executed_op_ffma_pred_on.sum",
    "sm__inst_executed_pipe_tensor.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_ld.sum",
    "l1tex__data_bank_conflicts_pipe_lsu_mem_shared_op_st.sum",
    "smsp__average_warp_latency_per_inst_issued.ratio",
    "smsp__average_warps_issue_stalled_long_scoreboard_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_short_scoreboard_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_wait_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_barrier_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_math_pipe_throttle_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_mio_throttle_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_lg_throttle_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_dispatch_stall_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_no_instruction_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_not_selected_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_drain_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_branch_resolving_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_imc_miss_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_membar_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_misc_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_sleeping_per_issue_active.ratio",
    "smsp__average_warps_issue_stalled_tex_throttle_per_issue_active.ratio",
};

/// The name of a metric where its own is not known (newer chips), and the one it is stored under.
constexpr std::pair<std::string_view, std::string_view> kAliases[] = {
    {"dram__bytes_op_read.sum", "dram__bytes_read.sum"},
    {"dram__bytes_op_write.sum", "dram__bytes_write.sum"},
};

using Scale = std::pair<std::string_view, double>;
constexpr Scale kTimes[] = {{"ns", 1},   {"nsecond", 1},   {"us", 1e3}, {"usecond", 1e3},
                            {"ms", 1e6}, {"msecond", 1e6}, {"s", 1e9},  {"second", 1e9}};
constexpr Scale kBytes[] = {
    {"byte", 1}, {"Kbyte", 1e3}, {"Mbyte", 1e6}, {"Gbyte", 1e9}, {"Tbyte", 1e12}};
constexpr Scale kFrequencies[] = {
    {"hz", 1},    {"Hz", 1},    {"cycle/s", 1},    {"cycle/second", 1},
    {"Khz", 1e3}, {"KHz", 1e3}, {"cycle/ms", 1e3}, {"cycle/msecond", 1e3},
    {"Mhz", 1e6}, {"MHz", 1e6}, {"cycle/us", 1e6}, {"cycle/usecond", 1e6},
    {"Ghz", 1e9}, {"GHz", 1e9}, {"cycle/ns", 1e9}, {"cycle/nsecond", 1e9},
};

/// The units that a metric may have; none: it is a count or a ratio, whose units are not scaled.
std::span<const Scale> units_of(std::string_view metric) {
    if (metric.starts_with("gpu__time_duration")) return kTimes;
    if (metric.ends_with(".per_second")) return kFrequencies;
    if (metric.find("__bytes") != std::string_view::npos) return kBytes;
    return {};
}

/// What a unit is worth in the base unit (byte, ns, Hz); nothing: it is not known. A profiler that
/// prints no units was asked for base units.
std::optional<double> scale_of(std::string_view metric, std::string_view unit) {
    const std::span<const Scale> units = units_of(metric);
    if (units.empty() || unit.empty()) return 1;
    for (const auto& [name, scale] : units)
        if (unit == name) return scale;
    return std::nullopt;
}

/// `(132, 1, 1)`.
bool parse_size(std::string_view text, sass::Dim3& size) {
    std::uint32_t values[3] = {};
    const char *at = text.data(), *const end = text.data() + text.size();
    for (std::uint32_t& value : values) {
        while (at != end && (*at == '(' || *at == ',' || *at == ' ')) ++at;
        const auto [stop, error] = std::from_chars(at, end, value);
        if (error != std::errc()) return false;
        at = stop;
    }
    size = {values[0], values[1], values[2]};
    return at != end && *at == ')';
}

bool parse_number(std::string text, double& value) {
    std::erase(text, ',');
    const auto [stop, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    return error == std::errc() && stop == text.data() + text.size() && std::isfinite(value);
}

/// The name that a metric is stored under.
std::string stored_name(const std::string& metric) {
    for (const auto& [alias, name] : kAliases)
        if (metric == alias) return std::string(name);
    return metric;
}

bool is_alias_of(std::string_view metric, std::string_view name) {
    return std::find(std::begin(kAliases), std::end(kAliases), std::pair(metric, name)) !=
           std::end(kAliases);
}

}  // namespace

std::span<const std::string_view> profiled_metrics() {
    return kMetrics;
}

std::vector<std::string_view> asked_metrics() {
    std::vector<std::string_view> all(std::begin(kMetrics), std::end(kMetrics));
    for (const auto& [alias, name] : kAliases) all.push_back(alias);
    return all;
}

std::span<const std::string_view> quick_metrics() {
    return profiled_metrics().first(4);
}

std::vector<std::vector<std::string>> parse_csv(std::string_view text,
                                                const std::string& file_name) {
    std::vector<std::vector<std::string>> lines;
    std::size_t number = 1;
    for (std::size_t i = 0; i < text.size();) {
        std::vector<std::string> fields(1);
        const std::size_t first_line = number;
        for (bool is_quoted = false;; ++i) {
            if (i == text.size()) {
                if (is_quoted)
                    throw InputError(fmt::format("{}:{}: a quote does not end (is the file whole?)",
                                                 file_name, first_line));
                break;
            }
            const char c = text[i];
            number += c == '\n';
            if (is_quoted) {
                if (c != '"') {
                    fields.back() += c;
                } else if (i + 1 < text.size() && text[i + 1] == '"') {
                    fields.back() += c, ++i;
                } else {
                    is_quoted = false;
                }
            } else if (c == '"' && fields.back().empty()) {
                is_quoted = true;
            } else if (c == ',') {
                fields.emplace_back();
            } else if (c == '\n') {
                ++i;
                break;
            } else if (c != '\r') {
                fields.back() += c;
            }
        }
        lines.push_back(std::move(fields));
    }
    return lines;
}

namespace {

/// The lines of the table, without ncu's messages before, between and after them.
std::string table_of(std::string_view csv) {
    std::string table;
    while (!csv.empty()) {
        const std::size_t end = std::min(csv.find('\n'), csv.size() - 1) + 1;
        if (!csv.starts_with("==")) table += csv.substr(0, end);
        csv.remove_prefix(end);
    }
    return table;
}

/// The CSV by columns.
class Table {
  public:
    Table(std::string_view csv, const std::string& file_name)
        : file_(file_name), lines_(parse_csv(table_of(csv), file_name)) {
        header_ = std::find_if(lines_.begin(), lines_.end(),
                               [](const auto& line) { return line[0] == "ID"; });
        if (header_ == lines_.end())
            throw InputError(fmt::format("{}: there is no header line (\"ID\", ...)", file_));
        units_ = header_ + 1;
        if (units_ == lines_.end() || units_->size() != header_->size() || !(*units_)[0].empty())
            throw InputError(fmt::format("{}: no line of units follows the header", file_));
    }
    bool has_launch(std::size_t launch) const {
        const auto at = line(launch);
        return at < lines_.end() && !(at->size() == 1 && (*at)[0].empty());
    }
    bool has_column(std::string_view name) const {
        return std::find(header_->begin(), header_->end(), name) != header_->end();
    }
    const std::string& text(std::size_t launch, std::string_view name) const {
        const auto at = line(launch);
        if (at->size() != header_->size())
            fail(launch, fmt::format("{} fields, the header has {}", at->size(), header_->size()));
        return (*at)[column(name)];
    }
    /// In base units.
    double number(std::size_t launch, std::string_view name) const {
        const std::string& value = text(launch, name);
        if (double number = 0; parse_number(value, number)) return number * scale(name);
        std::string lower = value;
        for (char& c : lower) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
        const bool is_none = lower.find("n/a") != std::string::npos ||
                             lower.find("nan") != std::string::npos ||
                             lower.find("inf") != std::string::npos;
        if (!is_none || is_quick(name))
            fail(launch, fmt::format("column '{}' is '{}', not a number", name, value));
        return std::numeric_limits<double>::quiet_NaN();
    }
    [[noreturn]] void fail(std::size_t launch, const std::string& why) const {
        throw InputError(fmt::format("{}: launch {}: {}", file_, launch, why));
    }

  private:
    double scale(std::string_view name) const {
        const std::string& unit = (*units_)[column(name)];
        const std::optional<double> scale = scale_of(name, unit);
        if (!scale)
            throw InputError(
                fmt::format("{}: column '{}' has the unknown unit '{}'", file_, name, unit));
        return *scale;
    }
    static bool is_quick(std::string_view name) {
        const auto quick = quick_metrics();
        return std::find(quick.begin(), quick.end(), name) != quick.end();
    }
    std::vector<std::vector<std::string>>::const_iterator line(std::size_t launch) const {
        const auto left = static_cast<std::size_t>(lines_.end() - units_) - 1;
        return units_ + 1 + static_cast<std::ptrdiff_t>(std::min(launch, left));
    }
    std::size_t column(std::string_view name) const {
        const auto found = std::find(header_->begin(), header_->end(), name);
        if (found == header_->end())
            throw InputError(fmt::format("{}: there is no column '{}'", file_, name));
        return static_cast<std::size_t>(found - header_->begin());
    }

    std::string file_;
    std::vector<std::vector<std::string>> lines_;
    std::vector<std::vector<std::string>>::const_iterator header_, units_;
};

}  // namespace

std::vector<std::string> available_metrics(std::string_view csv, const std::string& file_name) {
    const Table table(csv, file_name);
    if (!table.has_launch(0)) throw InputError(fmt::format("{}: there is no launch", file_name));
    std::vector<std::string> list;
    for (const std::string_view metric : asked_metrics()) {
        const bool is_there = std::any_of(list.begin(), list.end(), [&](const std::string& name) {
            return is_alias_of(metric, name);
        });
        if (!is_there && table.has_column(metric) && std::isfinite(table.number(0, metric)))
            list.emplace_back(metric);
    }
    for (const std::string_view metric : quick_metrics()) table.number(0, metric);
    return list;
}

void add_counters(CounterFile& manifest, std::string_view csv, const std::string& file_name) {
    const Table table(csv, file_name);
    std::size_t number = 0;
    const auto check_size = [&](const char* column, sass::Dim3 wanted, const CountedPair& pair) {
        const std::string& text = table.text(number, column);
        if (sass::Dim3 size; !parse_size(text, size) || !(size == wanted))
            table.fail(number, fmt::format("column '{}' is '{}', {} launches ({}, {}, {})", column,
                                           text, pair.workload, wanted.x, wanted.y, wanted.z));
    };
    for (CountedPair& pair : manifest.pairs) {
        for (CountedLaunch& launch : pair.launches) {
            if (!table.has_launch(number))
                table.fail(number,
                           fmt::format("is missing ({} of {})", launch.kernel, pair.workload));
            const std::string& name = table.text(number, "Kernel Name");
            if (name.substr(0, name.find('(')) != launch.kernel)
                table.fail(number, fmt::format("column 'Kernel Name' is '{}', {} launches {}", name,
                                               pair.workload, launch.kernel));
            check_size("Grid Size", launch.grid, pair);
            check_size("Block Size", launch.block, pair);
            for (const std::string& metric : manifest.metrics)
                launch.metrics[stored_name(metric)] = table.number(number, metric);
            ++number;
        }
    }
    for (std::string& metric : manifest.metrics) metric = stored_name(metric);
    if (table.has_launch(number)) table.fail(number, "is one more than the plan has");
}

}  // namespace lockstep::validation
