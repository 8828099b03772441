// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/kind.h"

namespace lockstep::run {

std::string_view name_of(Mode mode) {
    return mode == Mode::kCycle ? "cycle" : "emulate";
}

Outcome run(const Job& job, Screen& screen) {
    const MachinePtr machine = config::Machine::load(job.machine, job.overrides);
    const Subject subject = identify(job.what);
    const Way& way = find_way(job, subject, *machine);
    check_options(job, way, *machine);
    return way.run(job, subject, machine, screen);
}

}  // namespace lockstep::run
