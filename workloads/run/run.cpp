// SPDX-License-Identifier: Apache-2.0
#include <charconv>

#include "models/energy/account.h"
#include "models/energy/power_cap.h"
#include "sim/config/machine_text.h"
#include "sim/stats/sha256.h"
#include "sim/stats/version.h"
#include "workloads/cuda/workload.h"
#include "workloads/run/kind.h"
#include "workloads/run/run_check.h"

namespace lockstep::run {

std::string_view name_of(Mode mode) {
    return mode == Mode::kCycle ? "cycle" : "emulate";
}

CycleRange trace_window(const Job& job) {
    const std::string_view text = job.trace_window;
    CycleRange range;
    if (text.empty()) return range;
    const char* const end = text.data() + text.size();
    const auto from = std::from_chars(text.data(), end, range.from);
    bool is_good = from.ec == std::errc{} && from.ptr != end && *from.ptr == ':';
    if (is_good) {
        const auto until = std::from_chars(from.ptr + 1, end, range.until);
        is_good = until.ec == std::errc{} && until.ptr == end && range.from < range.until;
    }
    if (!is_good)
        throw InputError(fmt::format("--trace-window {}: wanted FROM:TO, in cycles", text));
    return range;
}

void check(const Job& job) {
    const MachinePtr machine = config::Machine::load(job.machine, job.overrides);
    const Subject subject = identify(job.what);
    const Way& way = find_way(job, subject, *machine);
    check_options(job, way, *machine);
    if (way.subject == SubjectKind::kKernel) {
        const cuda::WorkloadText text = cuda::parse_workload(job.what);
        cuda::parse_parameters(cuda::find_workload(text.name), text.parameters);
    }
}

Outcome run(const Job& job, Screen& screen) {
    const MachinePtr machine = config::Machine::load(job.machine, job.overrides);
    const Subject subject = identify(job.what);
    const Way& way = find_way(job, subject, *machine);
    check_options(job, way, *machine);
    std::optional<energy::Account> account;
    if (job.energy) account.emplace(machine);
    double watts = 0;
    if (!job.power_cap.empty()) {
        if (!job.energy) throw InputError("--power-cap needs --energy");
        watts = energy::power_limit(*machine, job.power_cap);
    }
    Outcome outcome =
        (job.training == nullptr ? way.run : way.train)(job, subject, machine, screen);
    if (account) {
        account->add_to(outcome.statistics);
        if (watts > 0) energy::cap_power(outcome.statistics, watts);
        screen.print(energy::report(outcome.statistics));
        screen.print(energy::power_cap_report(outcome.statistics));
    }
    outcome.statistics.set_origin(
        {.version = std::string(stats::version()),
         .commit = std::string(stats::commit()),
         .machine_file = job.machine,
         .machine_sha256 = stats::sha256(config::machine_text(job.machine)),
         .overrides = job.overrides,
         .options = job.options,
         .seed = job.seed});
    return outcome;
}

}  // namespace lockstep::run
