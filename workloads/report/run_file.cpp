// SPDX-License-Identifier: Apache-2.0
#include "workloads/report/run_file.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "sim/error/error.h"

namespace lockstep::report {

namespace {

using Json = nlohmann::ordered_json;

Metrics metrics_of(const Json& json) {
    Metrics metrics;
    for (const auto& [name, value] : json.items())
        if (value.is_number()) metrics.add(name, value.get<double>());
    return metrics;
}

stats::Profile profile_of(const Json& json) {
    stats::Profile profile;
    profile.columns = json.at("columns").get<std::vector<std::string>>();
    for (const Json& row : json.at("rows")) {
        stats::Profile::Row made{.function = row.at("function").get<std::string>(),
                                 .pc = row.at("pc").get<std::uint64_t>(),
                                 .sass = row.at("sass").get<std::string>(),
                                 .source = row.value("source", ""),
                                 .values = row.at("values").get<std::vector<std::uint64_t>>()};
        if (made.values.size() != profile.columns.size())
            throw InputError("a row of \"source\" has not as many values as there are columns");
        profile.rows.push_back(std::move(made));
    }
    return profile;
}

Step step_of(const Json& json) {
    Step step;
    step.name = json.at("name").get<std::string>();
    step.mode = json.value("mode", "");
    step.grid = json.at("grid").get<std::array<std::uint32_t, 3>>();
    step.block = json.at("block").get<std::array<std::uint32_t, 3>>();
    step.metrics = metrics_of(json.at("metrics"));
    if (json.contains("source")) step.profile = profile_of(json.at("source"));
    return step;
}

}  // namespace

const double* Metrics::find(std::string_view name) const {
    for (const auto& [own, value] : list_)
        if (own == name) return &value;
    return nullptr;
}
double Metrics::operator[](std::string_view name) const {
    const double* const value = find(name);
    return value != nullptr ? *value : 0;
}
bool Metrics::has(std::string_view name) const {
    return find(name) != nullptr;
}

double Step::cycles() const {
    return is_launch() ? metrics["sm__cycles_elapsed.max"] : metrics["cycles"];
}

RunFile parse_run(const std::string& file, std::string_view json) {
    RunFile run;
    run.file = file;
    try {
        const Json root = Json::parse(json);
        if (root.at("schema") != 1)
            throw InputError(fmt::format("{}: of a schema that is not known", file));
        run.machine = root.at("machine").get<std::string>();
        run.mode = root.at("mode").get<std::string>();
        run.workload = root.at("workload").get<std::string>();
        if (root.contains("run")) {
            const Json& origin = root["run"];
            run.version = origin.value("version", "");
            run.machine_file = origin.value("machine_file", "");
            run.overrides = origin.value("set", std::vector<std::string>());
            run.options = origin.value("options", std::vector<std::string>());
        }
        for (const Json& step : root.at("steps")) run.steps.push_back(step_of(step));
        run.totals = metrics_of(root.at("totals"));
    } catch (const Json::parse_error& error) {
        throw InputError(fmt::format("{}: no JSON at byte {}", file, error.byte));
    } catch (const Json::exception& error) {
        throw InputError(fmt::format("{}: not the statistics of a run: {}", file, error.what()));
    } catch (const InputError& error) {
        throw InputError(std::string(error.what()).starts_with(file)
                             ? error.what()
                             : fmt::format("{}: {}", file, error.what()));
    }
    return run;
}

RunFile read_run(const std::string& file) {
    std::ifstream stream(file, std::ios::binary);
    if (!stream || std::filesystem::is_directory(file))
        throw InputError(fmt::format("{}: cannot be read", file));
    std::ostringstream text;
    text << stream.rdbuf();
    return parse_run(file, text.str());
}

}  // namespace lockstep::report
