// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/npu/array_trace.h"

#include <fmt/format.h>

#include "isa/command/disassembler.h"
#include "models/npu/command_time.h"
#include "models/npu/mac_array/netlist.h"

namespace lockstep::run {

using npu::Field;

ArrayTrace::ArrayTrace(const Job& job, const npu::Parameters& parameters)
    : job_(job), parameters_(parameters) {
    if (!job.trace_file.ends_with(".vcd")) return;
    if (job.no_values)
        throw InputError(
            fmt::format("--trace {}: wires carry values (without --no-values)", job.trace_file));
    if (!job.trace_window.empty())
        throw InputError(
            fmt::format("--trace-window: {} shows one whole instruction", job.trace_file));
    stats::check_writable(job.trace_file);
}

std::function<void(const npu::Instruction&, npu::State&)> ArrayTrace::observer() {
    return [this](const npu::Instruction& instruction, npu::State& state) {
        if (instruction_ || instruction.opcode() != npu::Opcode::kConvolve) return;
        const std::string wrong = npu::check_netlist(instruction, parameters_);
        if (!wrong.empty()) throw InputError(fmt::format("--trace {}: {}", job_.trace_file, wrong));
        instruction_ = instruction;
        image_.emplace(instruction, state);
        weights_ = state.weights(instruction);
    };
}

void ArrayTrace::write(Screen& screen) const {
    if (!instruction_)
        throw InputError(
            fmt::format("--trace {}: {} has no convolution", job_.trace_file, job_.what));
    const npu::Instruction& i = *instruction_;
    const npu::NetlistOperands operands{
        [&](std::int64_t y, std::int64_t x, std::uint64_t channel) {
            return std::int32_t{image_->pixel(y, x)[channel]};
        },
        [&](std::uint64_t output, std::uint64_t ky, std::uint64_t kx, std::uint64_t channel) {
            const std::uint64_t lane =
                (ky * i[Field::kKernelWidth] + kx) * i[Field::kChannels] + channel;
            return std::int32_t{weights_.values()[lane * weights_.outputs() + output]};
        }};
    const std::uint32_t rate = npu::output_rate(i, parameters_.output);
    const npu::NetlistResult result =
        npu::run_netlist(i, parameters_, operands, rate, job_.trace_file);
    const std::uint64_t cycles = npu::command_time(i, parameters_).cycles;
    LOCKSTEP_CHECK(result.cycles == cycles, "the netlist took {} cycles, the model {}",
                   result.cycles, cycles);
    screen.print(fmt::format("{}: the wires of the array for {} cycles of {}\n", job_.trace_file,
                             cycles, command::disassemble(i)));
}

}  // namespace lockstep::run
