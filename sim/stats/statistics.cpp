// SPDX-License-Identifier: Apache-2.0
// The file that --stats writes: schema 1 of the command line's contract. Everything under
// "simulator" describes the host's run and differs from run to run; nothing else does.
#include "sim/stats/statistics.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "sim/error/error.h"
#include "sim/stats/live_cycles.h"

namespace lockstep::stats {
namespace {

nlohmann::ordered_json to_json(const Value& value) {
    if (value.is_count) return value.count;
    return value.number;
}

nlohmann::ordered_json to_json(const Profile& profile) {
    nlohmann::ordered_json rows = nlohmann::ordered_json::array();
    for (const Profile::Row& row : profile.rows) {
        nlohmann::ordered_json entry = {
            {"function", row.function}, {"pc", row.pc}, {"sass", row.sass}};
        if (!row.source.empty()) entry["source"] = row.source;
        entry["values"] = row.values;
        rows.push_back(std::move(entry));
    }
    return {{"columns", profile.columns}, {"rows", std::move(rows)}};
}

std::string to_text(const Value& value) {
    return value.is_count ? std::to_string(value.count) : fmt::format("{}", value.number);
}

std::string csv_text(std::string_view text) {
    std::string result = "\"";
    for (char c : text) {
        if (c == '"') result += '"';
        result += c;
    }
    return result + '"';
}

bool is_csv(std::string_view path) {
    return path.ends_with(".csv");
}

}  // namespace

Statistics::Statistics(std::string machine, std::string mode, std::string workload)
    : machine_(std::move(machine)), mode_(std::move(mode)), workload_(std::move(workload)) {}

void Statistics::add_time(std::uint64_t cycles, double seconds, std::uint64_t instructions) {
    cycles_ += cycles;
    seconds_ += seconds;
    instructions_ += instructions;
    publish_over(cycles_);
}

std::string Statistics::json() const {
    using Json = nlohmann::ordered_json;
    Json steps = Json::array();
    for (const Step& step : steps_) {
        Json metrics = Json::object();
        for (const auto& [name, value] : step.metrics) metrics[name] = to_json(value);
        Json entry = {{"name", step.name}, {"grid", step.grid}, {"block", step.block}};
        if (!step.mode.empty()) entry["mode"] = step.mode;
        entry["metrics"] = std::move(metrics);
        if (step.profile) entry["source"] = to_json(*step.profile);
        steps.push_back(std::move(entry));
    }
    const double wall =
        std::chrono::duration<double>(end_.value_or(std::chrono::steady_clock::now()) - start_)
            .count();
    rusage usage{};
    getrusage(RUSAGE_SELF, &usage);
    Json root = {{"schema", 1}, {"machine", machine_}, {"mode", mode_}, {"workload", workload_}};
    if (origin_)
        root["run"] = {{"version", origin_->version},
                       {"commit", origin_->commit},
                       {"machine_file", origin_->machine_file},
                       {"machine_sha256", origin_->machine_sha256},
                       {"set", origin_->overrides},
                       {"options", origin_->options},
                       {"seed", origin_->seed}};
    root["steps"] = std::move(steps);
    root["totals"] = {{"cycles", cycles_}, {"seconds", seconds_}};
    for (const auto& [name, value] : totals_) root["totals"][name] = to_json(value);
    root["simulator"] = {
        {"wall_seconds", wall},
        {"instructions", instructions_},
        {"instructions_per_second", wall > 0 ? static_cast<double>(instructions_) / wall : 0.0},
        {"peak_rss_bytes", static_cast<std::uint64_t>(usage.ru_maxrss) * 1024}};
    return root.dump(1, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string Statistics::csv() const {
    std::vector<std::string> columns;
    for (const Step& step : steps_)
        for (const auto& [name, value] : step.metrics)
            if (std::find(columns.begin(), columns.end(), name) == columns.end())
                columns.push_back(name);
    std::string text = "step,name,grid_x,grid_y,grid_z,block_x,block_y,block_z";
    const bool has_modes = std::any_of(steps_.begin(), steps_.end(),
                                       [](const Step& step) { return !step.mode.empty(); });
    if (has_modes) text += ",mode";
    for (const std::string& column : columns) text += "," + column;
    text += ",machine,workload\n";
    for (std::size_t i = 0; i < steps_.size(); ++i) {
        const Step& step = steps_[i];
        text +=
            fmt::format("{},{},{},{},{},{},{},{}", i, csv_text(step.name), step.grid[0],
                        step.grid[1], step.grid[2], step.block[0], step.block[1], step.block[2]);
        if (has_modes) text += "," + (step.mode.empty() ? mode_ : step.mode);
        for (const std::string& column : columns) {
            text += ",";
            for (const auto& [name, value] : step.metrics)
                if (name == column) text += to_text(value);
        }
        text += "," + csv_text(machine_) + "," + csv_text(workload_) + "\n";
    }
    return text;
}

void Statistics::check_path(const std::string& path) {
    if (!path.ends_with(".json") && !is_csv(path))
        throw InputError(fmt::format("{}: a statistics file ends in .json or .csv", path));
    check_writable(path);
}

void Statistics::write(const std::string& path) const {
    check_path(path);
    write_whole(path, is_csv(path) ? csv() : json());
}

std::string source_text(const Statistics& statistics) {
    std::string text;
    for (const Step& step : statistics.steps())
        if (step.profile) text += fmt::format("\n{}\n{}", step.name, source_text(*step.profile));
    return text;
}

}  // namespace lockstep::stats
