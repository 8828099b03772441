// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/job_for.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>

#include "workloads/run/kind.h"

namespace lockstep::run {

namespace {

/// Sets what the option sets back to what it is without it.
void forget(Job& job, const std::string& option) {
    const Job none;
    if (option == "--verify") job.verify = none.verify;
    if (option == "--no-values") job.no_values = none.no_values;
    if (option == "--energy") job.energy = none.energy;
    if (option == "--power-cap") job.power_cap = none.power_cap;
    if (option == "--source") job.source = none.source;
    if (option == "--host") job.host = none.host;
    if (option == "--precision") job.precision = none.precision;
    if (option == "--schedule") job.schedule = none.schedule;
    if (option == "--launches") job.launches = none.launches;
    if (option == "--top") job.top = none.top;
    if (option == "--l2") job.l2 = none.l2;
    if (option == "--sample") job.sample = none.sample;
    if (option == "--bounds") job.bounds = none.bounds;
    if (option == "--check" || option == "--hazards") job.checks = none.checks;
    if (option == "--max-instructions") job.max_instructions = none.max_instructions;
    if (option == "--kernel") job.kernel = none.kernel;
    if (option == "--launch-skip") job.launch_skip = none.launch_skip;
    if (option == "--launch-count") job.launch_count = none.launch_count;
    std::erase_if(job.options, [&](const std::string& text) {
        return text == option || text.starts_with(option + " ");
    });
}

}  // namespace

std::vector<std::string> machines_of(const std::string& list) {
    std::vector<std::string> machines;
    for (std::size_t begin = 0; begin <= list.size();) {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        std::string name = list.substr(begin, end - begin);
        if (name.empty()) throw InputError(fmt::format("--on {}: a name is empty", list));
        if (std::ranges::count(machines, name) != 0)
            throw InputError(fmt::format("--on {}: {} is named twice", list, name));
        machines.push_back(std::move(name));
        begin = end + 1;
    }
    return machines;
}

Job job_for(const Job& job, const std::string& machine_name, std::vector<std::string>& taken) {
    Job own = job;
    own.machine = machine_name;
    const MachinePtr machine = config::Machine::load(own.machine, own.overrides);
    const Way& way = find_way(own, identify(own.what), *machine);
    own.given.clear();
    for (const std::string& option : job.given) {
        // A machine that does not train is none to compare with.
        if (option == "--train" || takes(option, way, *machine)) {
            own.given.push_back(option);
            taken.push_back(option);
        } else {
            forget(own, option);
        }
    }
    check_options(own, way, *machine);
    return own;
}

double samples_of(const Job& job) {
    constexpr std::string_view kBatch = "batch=";
    std::size_t at = job.what.find(kBatch);
    while (at != std::string::npos && at != 0 && job.what[at - 1] != ':' && job.what[at - 1] != ',')
        at = job.what.find(kBatch, at + 1);
    if (at == std::string::npos || at == 0) return 1;
    const char* const begin = job.what.data() + at + kBatch.size();
    std::uint64_t batch = 1;
    std::from_chars(begin, job.what.data() + job.what.size(), batch);
    return static_cast<double>(std::max<std::uint64_t>(batch, 1));
}

}  // namespace lockstep::run
