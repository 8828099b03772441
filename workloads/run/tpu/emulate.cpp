// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/tpu/emulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "isa/command/disassembler.h"

namespace lockstep::run {

namespace {

/// What emulation counts of a program's step: as the model does, without what the sequencer does
/// itself.
struct EmulatedStep {
    std::uint64_t instructions = 0, macs = 0;

    void add(const tpu::Instruction& instruction) {
        using tpu::Field;
        if (instruction.queue() != tpu::Queue::kSequencer) ++instructions;
        if (time_of(instruction.opcode()) == tpu::Time::kStream)
            macs += instruction[Field::kRows] * instruction[Field::kLanes] *
                    instruction[Field::kColumns];
    }
};

}  // namespace

void execute_tpu_program(const tpu::Program& program, const tpu::Parameters& parameters,
                         tpu::Storage& storage, const std::function<void(std::uint32_t)>& host,
                         const std::function<void(std::size_t, const tpu::Instruction&)>& visit) {
    command::check_driver(program, host != nullptr);
    tpu::State state(parameters.limits(), storage);
    state.host = host;
    for (std::size_t i = 0; i < program.instructions.size(); ++i) {
        const tpu::Instruction& instruction = program.instructions[i];
        if (visit) visit(i, instruction);
        std::string wrong = check_bounds(instruction, parameters.limits(), storage);
        try {
            if (wrong.empty()) execute(instruction, state);
        } catch (const ProgramFault& fault) {
            wrong = fault.what();
        }
        if (!wrong.empty())
            throw ProgramFault(
                fmt::format("instruction {}: {}: {}", i, disassemble(instruction), wrong));
    }
}

void emulate_tpu_program(const tpu::Program& program, const tpu::Parameters& parameters,
                         tpu::Storage& storage, stats::Statistics& statistics, Screen& screen,
                         const std::function<void(std::uint32_t)>& host) {
    std::vector<EmulatedStep> steps(std::max<std::size_t>(program.steps.size(), 1));
    std::size_t step = 0;
    execute_tpu_program(program, parameters, storage, host,
                        [&](std::size_t i, const tpu::Instruction& instruction) {
                            if (instruction.opcode() == tpu::Opcode::kTag)
                                step = instruction[tpu::Field::kStep];
                            steps[step].add(instruction);
                            screen.progress("instructions", i, program.instructions.size());
                        });
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const tpu::ProgramStep declared =
            i < program.steps.size() ? program.steps[i] : tpu::ProgramStep{"program", 0};
        stats::Step made;
        made.name = declared.name;
        made.metrics = {{"macs", declared.macs != 0 ? declared.macs : steps[i].macs},
                        {"lockstep__instructions", steps[i].instructions}};
        statistics.add(std::move(made));
        statistics.add_time(0, 0, steps[i].instructions);
        screen.print(fmt::format("{}  {} instructions  {} MACs\n", statistics.steps().back().name,
                                 steps[i].instructions,
                                 declared.macs != 0 ? declared.macs : steps[i].macs));
    }
}

}  // namespace lockstep::run
