// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/tpu/program.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/tpu/tpu.h"
#include "workloads/run/program_arguments.h"
#include "workloads/run/tpu/emulate.h"
#include "workloads/run/tpu/simulate.h"

namespace lockstep::run {

bool is_tpu_program(const std::string& path, std::span<const std::uint8_t> bytes) {
    return tpu::is_program(bytes) || path.ends_with(".tpu");
}

tpu::Program load_tpu_program(const std::string& path, std::span<const std::uint8_t> bytes) {
    // A text begins with what the assembler reads; anything else must be the binary file.
    const bool text = !bytes.empty() && !tpu::is_program(bytes) &&
                      std::find(bytes.begin(), bytes.end(), 0) == bytes.end();
    if (!text) return tpu::read_program(bytes, path);
    return tpu::assemble({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

void write_tpu_program(const Job& job, const tpu::Program& program) {
    const std::string& path = job.program_file;
    if (path.empty()) return;
    if (!path.ends_with(".tpu"))
        throw InputError(fmt::format("--program {}: a TPU program ends in .tpu", path));
    tpu::validate(program, job.what);
    const std::vector<std::uint8_t> bytes = tpu::write_program(program);
    stats::write_whole(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

Outcome run_tpu_program(const Job& job, const Subject& subject, const MachinePtr& machine,
                        Screen& screen) {
    const tpu::Parameters parameters(*machine);
    const tpu::Program program = load_tpu_program(job.what, subject.bytes);
    write_tpu_program(job, program);
    ProgramArguments arguments(job, program);
    tpu::Storage storage(program, !job.no_values);
    if (!job.no_values) arguments.fill(storage);
    Outcome outcome{{machine->name(), std::string(name_of(job.mode)), job.what}};
    if (job.mode == Mode::kEmulate)
        emulate_tpu_program(program, parameters, storage, outcome.statistics, screen);
    else
        simulate_tpu_program(job, program, parameters, storage, outcome.statistics, screen);
    if (!job.no_values) arguments.take_results(storage, screen);
    return outcome;
}

}  // namespace lockstep::run
