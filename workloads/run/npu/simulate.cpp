// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/npu/simulate.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "isa/command/disassembler.h"
#include "models/npu/mac_array/netlist.h"
#include "workloads/run/npu/array_trace.h"

namespace lockstep::run {

namespace {

constexpr const char* kShown[] = {"array_utilization.pct",
                                  "lockstep__array_active.pct",
                                  "lockstep__decode_stall.pct",
                                  "lockstep__output_stall.pct",
                                  "lockstep__bank_stall.pct",
                                  "lockstep__dma_stall.pct",
                                  "lockstep__tops"};

std::string line(const npu::StepResult& step, const npu::Parameters& parameters,
                 std::size_t width) {
    std::string text =
        fmt::format("{:<{}} {:>12} {:>8}", step.name, width, step.cycles, step.instructions);
    for (const auto& [name, value] : step.metrics(parameters))
        if (std::find(std::begin(kShown), std::end(kShown), name) != std::end(kShown))
            text += fmt::format(" {:>8.2f}", value.number);
    return text + fmt::format(" {:>9.1f} {:>9.1f}\n", double(step.dram_bytes_read) / 1024,
                              double(step.dram_bytes_written) / 1024);
}

void show(const npu::RunResult& result, const npu::Parameters& parameters, std::uint64_t top,
          Screen& screen) {
    std::size_t width = 5;
    for (const npu::StepResult& step : result.steps) width = std::max(width, step.name.size());
    width = std::min<std::size_t>(width, 60);
    // In the order of the metrics.
    screen.print(
        fmt::format("{:<{}} {:>12} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>8} {:>9} {:>9}\n",
                    "step", width, "cycles", "instr.", "util.%", "active%", "decode%", "output%",
                    "bank%", "dma%", "TOPS", "read KiB", "wrote KiB"));
    const std::vector<bool> shown = shown_steps(result.steps, top);
    std::uint64_t others = 0, hidden = 0;
    for (std::size_t i = 0; i < result.steps.size(); ++i)
        if (shown[i])
            screen.print(line(result.steps[i], parameters, width));
        else
            ++hidden, others += result.steps[i].cycles;
    if (hidden != 0)
        screen.print(
            fmt::format("and {} steps more, {:.1f}% of the cycles; --stats FILE has all\n", hidden,
                        result.cycles == 0 ? 0.0 : 100.0 * double(others) / double(result.cycles)));
    if (result.steps.size() > 1) screen.print(line(result.total(), parameters, width));
}

}  // namespace

npu::RunResult simulate_npu_program(const Job& job, const npu::Program& program,
                                    const npu::Parameters& parameters, npu::Storage& storage,
                                    stats::Statistics& statistics, Screen& screen,
                                    const std::function<void(std::uint32_t)>& host) {
    // A small array shows its wires, others their commands and queues.
    const bool wires = job.trace_file.ends_with(".vcd") && npu::netlist_fits(parameters);
    const std::unique_ptr<trace::Trace> trace = wires ? nullptr : make_trace(job);
    std::optional<ArrayTrace> array;
    if (wires) array.emplace(job, parameters);
    npu::RunResult result =
        npu::run(program, parameters, storage,
                 {.values = !job.no_values,
                  .threads = job.threads,
                  .trace = trace.get(),
                  .host = host,
                  .progress =
                      [&](std::uint64_t done) {
                          screen.progress("instructions", done, program.instructions.size());
                      },
                  .observe = wires ? array->observer() : nullptr});
    if (wires)
        array->write(screen);
    else if (job.trace_file.ends_with(".vcd"))
        screen.print(fmt::format(
            "{}: commands and queues; the array's wires are shown where it has at most {} x {} "
            "lanes and stripes of {} pixels (--set array.inputs= array.outputs= array.stripe=)\n",
            job.trace_file, npu::kLargestArray, npu::kLargestArray, 2 * npu::kLargestArray));
    show(result, parameters, job.top, screen);
    for (const npu::StepResult& step : result.steps) {
        stats::Step made;
        made.name = step.name;
        made.metrics = step.metrics(parameters);
        statistics.add(std::move(made));
    }
    statistics.add_time(result.cycles, result.seconds, result.instructions);
    return result;
}

void emulate_npu_program(const npu::Program& program, const npu::Parameters& parameters,
                         npu::Storage& storage, stats::Statistics& statistics, Screen& screen,
                         const std::function<void(std::uint32_t)>& host) {
    command::check_driver(program, host != nullptr);
    const npu::CoreLimits limits = parameters.limits();
    npu::State state(limits, storage);
    state.host = host;
    struct Step {
        std::uint64_t instructions = 0, macs = 0;
    };
    std::vector<Step> steps(std::max<std::size_t>(program.steps.size(), 1));
    std::size_t step = 0;
    for (std::size_t i = 0; i < program.instructions.size(); ++i) {
        const npu::Instruction& instruction = program.instructions[i];
        if (instruction.opcode() == npu::Opcode::kTag) step = instruction[npu::Field::kStep];
        if (instruction.queue() != npu::Queue::kSequencer) ++steps[step].instructions;
        if (npu::time_of(instruction.opcode()) == npu::Time::kArray)
            steps[step].macs += npu::macs_of(instruction);
        screen.progress("instructions", i, program.instructions.size());
        std::string wrong = check_bounds(instruction, limits, storage);
        try {
            if (wrong.empty()) execute(instruction, state);
        } catch (const ProgramFault& fault) {
            wrong = fault.what();
        }
        if (!wrong.empty())
            throw ProgramFault(
                fmt::format("instruction {}: {}: {}", i, command::disassemble(instruction), wrong));
    }
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const command::ProgramStep declared =
            i < program.steps.size() ? program.steps[i] : command::ProgramStep{"program", 0};
        const std::uint64_t macs = declared.macs != 0 ? declared.macs : steps[i].macs;
        stats::Step made;
        made.name = declared.name;
        made.metrics = {{"macs", macs}, {"lockstep__instructions", steps[i].instructions}};
        statistics.add(std::move(made));
        statistics.add_time(0, 0, steps[i].instructions);
        screen.print(fmt::format("{}  {} instructions  {} MACs\n", declared.name,
                                 steps[i].instructions, macs));
    }
}

}  // namespace lockstep::run
