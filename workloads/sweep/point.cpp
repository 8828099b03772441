// SPDX-License-Identifier: Apache-2.0
#include "workloads/sweep/point.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "sim/stats/sha256.h"
#include "sim/stats/version.h"
#include "workloads/sweep/program_id.h"

namespace lockstep::sweep {

namespace {

/// "gemm:m=64" with n set: "gemm:m=64,n=8"; a key that is there has its value replaced.
std::string with_parameter(const std::string& text, std::string_view key,
                           const std::string& value) {
    const std::string setting = fmt::format("{}={}", key, value);
    const std::size_t colon = text.rfind(':');
    if (colon == std::string::npos || text.find('/', colon) != std::string::npos)
        return text + ":" + setting;
    std::string made = text.substr(0, colon);
    char separator = ':';
    bool is_there = false;
    for (std::size_t at = colon + 1;;) {
        const std::size_t comma = std::min(text.find(',', at), text.size());
        std::string part = text.substr(at, comma - at);
        if (part.starts_with(fmt::format("{}=", key))) {
            part = setting;
            is_there = true;
        }
        made += separator + part;
        separator = ',';
        if (comma == text.size()) break;
        at = comma + 1;
    }
    return is_there ? made : made + separator + setting;
}

}  // namespace

std::string workload_text(const Study& study, const Point& point) {
    std::string text = study.workloads[point.workload].text;
    for (std::size_t i = 0; i < study.axes.size(); ++i)
        if (study.axes[i].is_of_workload())
            text = with_parameter(text, study.axes[i].workload_key(), point.values[i].text);
    return text;
}

std::vector<std::string> overrides_of(const Study& study, const Point& point) {
    std::vector<std::string> list = study.overrides;
    for (std::size_t i = 0; i < study.axes.size(); ++i)
        if (!study.axes[i].is_of_workload())
            list.push_back(study.axes[i].name + "=" + point.values[i].text);
    return list;
}

run::Job job_of(const Study& study, const Point& point) {
    run::Job job;
    job.what = workload_text(study, point);
    job.arguments = study.arguments;
    job.machine = study.machines[point.machine].name;
    job.overrides = overrides_of(study, point);
    job.mode = study.mode;
    job.seed = study.seed;
    job.no_values = study.no_values;
    job.quiet = true;
    if (!study.l2.empty()) {
        job.l2 = study.l2;
        job.given.push_back("--l2");
        job.options.push_back("--l2 " + study.l2);
    }
    if (study.counts_energy) {
        job.energy = true;
        job.given.push_back("--energy");
        job.options.push_back("--energy");
    }
    if (study.no_values) {
        job.given.push_back("--no-values");
        job.options.push_back("--no-values");
    }
    return job;
}

std::string describe(const Study& study, const Point& point) {
    std::string text =
        fmt::format("{} on {}", workload_text(study, point), study.machines[point.machine].name);
    for (std::size_t i = 0; i < study.axes.size(); ++i)
        if (!study.axes[i].is_of_workload())
            text += fmt::format(", {}={}", study.axes[i].name, point.values[i].text);
    return text;
}

std::string key_of(const Study& study, const Point& point) {
    const SweptMachine& machine = study.machines[point.machine];
    // A line each: none of them can say two things.
    std::string text =
        fmt::format("{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n{}\n", program_id(), machine.machine->name(),
                    machine.text_sha256, workload_text(study, point),
                    study.workloads[point.workload].contents_sha256, run::name_of(study.mode),
                    study.seed, study.l2, study.no_values);
    if (study.counts_energy) text += "energy\n";
    for (const std::string& argument : study.arguments)
        text += fmt::format("argument {}\n", argument);
    for (const std::string& set : study.overrides) text += fmt::format("set {}\n", set);
    for (std::size_t i = 0; i < study.axes.size(); ++i)
        if (!study.axes[i].is_of_workload())
            text += study.axes[i].unit == "1"
                        ? fmt::format("vary {}={}\n", study.axes[i].name, point.values[i].text)
                        : fmt::format("vary {}={}\n", study.axes[i].name, point.values[i].number);
    return stats::sha256(text);
}

}  // namespace lockstep::sweep
