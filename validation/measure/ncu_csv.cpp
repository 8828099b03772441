// SPDX-License-Identifier: Apache-2.0
// Nsight Compute's raw page as CSV: messages that begin with "==", the header line ("ID", ...,
// metric names), a line of units, then a line for each launch. Numbers have commas between
// thousands; units have decimal prefixes unless `--print-units base` was given.
#include "validation/measure/ncu_csv.h"

#include <algorithm>
#include <charconv>
#include <cmath>

#include "sim/error/error.h"

namespace lockstep::validation {

namespace {

constexpr std::string_view kMetrics[] = {
    "gpu__time_duration.sum",
    "sm__cycles_elapsed.max",
    "sm__cycles_active.avg",
    "sm__cycles_elapsed.avg.per_second",
    "smsp__inst_executed.sum",
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
};

/// What a prefixed unit is worth in the base unit (byte, ns, Hz); 1: it is none of these.
double scale_of(std::string_view unit) {
    static constexpr std::pair<std::string_view, double> kScales[] = {
        {"Kbyte", 1e3},    {"Mbyte", 1e6},
        {"Gbyte", 1e9},    {"Tbyte", 1e12},
        {"usecond", 1e3},  {"us", 1e3},
        {"msecond", 1e6},  {"ms", 1e6},
        {"second", 1e9},   {"s", 1e9},
        {"Khz", 1e3},      {"Mhz", 1e6},
        {"Ghz", 1e9},      {"MHz", 1e6},
        {"GHz", 1e9},      {"cycle/usecond", 1e6},
        {"cycle/us", 1e6}, {"cycle/nsecond", 1e9},
        {"cycle/ns", 1e9},
    };
    for (const auto& [name, scale] : kScales)
        if (unit == name) return scale;
    return 1;
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

}  // namespace

std::span<const std::string_view> profiled_metrics() {
    return kMetrics;
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

void add_counters(CounterFile& manifest, std::string_view csv, const std::string& file_name) {
    const auto lines = parse_csv(csv, file_name);
    const auto header =
        std::find_if(lines.begin(), lines.end(), [](const auto& line) { return line[0] == "ID"; });
    if (header == lines.end())
        throw InputError(fmt::format("{}: there is no header line (\"ID\", ...)", file_name));
    const auto column = [&](std::string_view name) {
        const auto found = std::find(header->begin(), header->end(), name);
        if (found == header->end())
            throw InputError(fmt::format("{}: there is no column '{}'", file_name, name));
        return static_cast<std::size_t>(found - header->begin());
    };
    const std::size_t kernel_column = column("Kernel Name"), grid_column = column("Grid Size"),
                      block_column = column("Block Size");
    std::vector<std::size_t> metric_columns;
    for (const std::string_view metric : kMetrics) metric_columns.push_back(column(metric));

    const auto units = header + 1;
    if (units == lines.end() || units->size() != header->size() || !(*units)[0].empty())
        throw InputError(fmt::format("{}: no line of units follows the header", file_name));
    auto line = units + 1;
    const auto fail = [&](const std::string& why) {
        throw InputError(fmt::format("{}: launch {}: {}", file_name, line - units - 1, why));
    };
    for (CountedPair& pair : manifest.pairs) {
        for (CountedLaunch& launch : pair.launches) {
            if (line == lines.end())
                fail(fmt::format("is missing ({} of {})", launch.kernel, pair.workload));
            if (line->size() != header->size())
                fail(fmt::format("{} fields, the header has {}", line->size(), header->size()));
            const std::string& name = (*line)[kernel_column];
            if (name.substr(0, name.find('(')) != launch.kernel)
                fail(fmt::format("column 'Kernel Name' is '{}', {} launches {}", name,
                                 pair.workload, launch.kernel));
            sass::Dim3 grid, block;
            if (!parse_size((*line)[grid_column], grid) || !(grid == launch.grid))
                fail(fmt::format("column 'Grid Size' is '{}', {} launches ({}, {}, {})",
                                 (*line)[grid_column], pair.workload, launch.grid.x, launch.grid.y,
                                 launch.grid.z));
            if (!parse_size((*line)[block_column], block) || !(block == launch.block))
                fail(fmt::format("column 'Block Size' is '{}', {} launches ({}, {}, {})",
                                 (*line)[block_column], pair.workload, launch.block.x,
                                 launch.block.y, launch.block.z));
            for (std::size_t i = 0; i < std::size(kMetrics); ++i) {
                const std::string& text = (*line)[metric_columns[i]];
                double value = 0;
                if (!parse_number(text, value))
                    fail(fmt::format("column '{}' is '{}', not a number", kMetrics[i], text));
                launch.metrics[std::string(kMetrics[i])] =
                    value * scale_of((*units)[metric_columns[i]]);
            }
            ++line;
        }
    }
    if (line != lines.end() && !(line->size() == 1 && (*line)[0].empty()))
        fail("is one more than the plan has");
}

}  // namespace lockstep::validation
