// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/npu/program.h"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/run/npu/simulate.h"
#include "workloads/run/program_arguments.h"

namespace lockstep::run {

bool is_npu_program(const std::string& path, std::span<const std::uint8_t> bytes) {
    return npu::is_program(bytes) || path.ends_with(".npu");
}

npu::Program load_npu_program(const std::string& path, std::span<const std::uint8_t> bytes) {
    // A text begins with what the assembler reads; anything else must be the binary file.
    const bool text = !bytes.empty() && !npu::is_program(bytes) &&
                      std::find(bytes.begin(), bytes.end(), 0) == bytes.end();
    if (!text) return npu::read_program(bytes, path);
    return npu::assemble({reinterpret_cast<const char*>(bytes.data()), bytes.size()}, path);
}

void write_npu_program(const Job& job, const npu::Program& program) {
    const std::string& path = job.program_file;
    if (path.empty()) return;
    if (!path.ends_with(".npu"))
        throw InputError(fmt::format("--program {}: an NPU program ends in .npu", path));
    npu::validate(program, job.what);
    const std::vector<std::uint8_t> bytes = npu::write_program(program);
    stats::write_whole(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

Outcome run_npu_program(const Job& job, const Subject& subject, const MachinePtr& machine,
                        Screen& screen) {
    const npu::Parameters parameters(*machine);
    const npu::Program program = load_npu_program(job.what, subject.bytes);
    write_npu_program(job, program);
    ProgramArguments arguments(job, program);
    npu::Storage storage(program, !job.no_values);
    if (!job.no_values) arguments.fill(storage);
    Outcome outcome{{machine->name(), std::string(name_of(job.mode)), job.what}};
    if (job.mode == Mode::kEmulate)
        emulate_npu_program(program, parameters, storage, outcome.statistics, screen);
    else
        simulate_npu_program(job, program, parameters, storage, outcome.statistics, screen);
    if (!job.no_values) arguments.take_results(storage, screen);
    return outcome;
}

}  // namespace lockstep::run
