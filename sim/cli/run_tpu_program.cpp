// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/run_tpu_program.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <numeric>
#include <random>

#include "isa/command/disassembler.h"
#include "sim/cli/progress.h"
#include "sim/cli/tpu_report.h"
#include "sim/config/machine.h"

namespace lockstep::cli {

namespace {

/// Small values for floats, any bits for integers.
void fill_random(const tpu::Buffer& buffer, std::span<std::uint8_t> contents,
                 std::mt19937_64& random) {
    if (buffer.type == tpu::DataType::kFp32 || buffer.type == tpu::DataType::kBf16) {
        // In [-1, 1) with 7 bits behind the point, exact in both types: the upper half of an fp32.
        const std::size_t size = tpu::size_of(buffer.type);
        for (std::size_t at = 0; at + size <= contents.size(); at += size) {
            const float value = (static_cast<float>(random() % 256) - 128) / 128;
            const auto bits = std::bit_cast<std::uint32_t>(value);
            for (std::size_t i = 0; i < size; ++i)
                contents[at + i] = static_cast<std::uint8_t>(bits >> (8 * (4 - size + i)));
        }
        return;
    }
    for (std::uint8_t& byte : contents) byte = static_cast<std::uint8_t>(random());
}

std::uint64_t checksum(std::span<const std::uint8_t> bytes) {
    std::uint64_t hash = 0xcbf29ce484222325u;  // FNV-1a
    for (const std::uint8_t byte : bytes) hash = (hash ^ byte) * 0x100000001b3u;
    return hash;
}

/// What --arg says about the buffers.
class Arguments {
  public:
    Arguments(const RunRequest& request, const tpu::Program& program)
        : program_(program), random_(request.options.seed * 2 + 1) {
        for (std::size_t i = 0; i < program.buffers.size(); ++i)
            if (program.buffers[i].role == tpu::Role::kInput ||
                program.buffers[i].role == tpu::Role::kOutput)
                buffers_.push_back(i);
        if (request.kernel_arguments.size() > buffers_.size())
            throw InputError(fmt::format("{} --arg, but the program has {} inputs and outputs",
                                         request.kernel_arguments.size(), buffers_.size()));
        texts_ = request.kernel_arguments;
        texts_.resize(buffers_.size());
        for (std::size_t i = 0; i < buffers_.size(); ++i) {
            const bool input = program.buffers[buffers_[i]].role == tpu::Role::kInput;
            const std::string& text = texts_[i];
            const bool known =
                text.empty() || (input ? text == "random" || text == "zeros" || text == "iota" ||
                                             text.starts_with("in:")
                                       : text.starts_with("out:"));
            if (!known)
                throw InputError(
                    fmt::format("--arg {}: buffer {} is an {}; wanted {}", text,
                                program.buffers[buffers_[i]].name, input ? "input" : "output",
                                input ? "in:FILE, random, zeros or iota" : "out:FILE"));
            if (text.starts_with("out:")) stats::check_writable(text.substr(4));
        }
    }

    void fill(tpu::Storage& storage) {
        for (std::size_t i = 0; i < buffers_.size(); ++i) {
            const tpu::Buffer& buffer = program_.buffers[buffers_[i]];
            if (buffer.role != tpu::Role::kInput) continue;
            const std::span<std::uint8_t> contents = storage.contents(buffers_[i]);
            if (texts_[i].starts_with("in:")) {
                const std::vector<std::uint8_t> bytes = read_file(texts_[i].substr(3));
                if (bytes.size() != contents.size())
                    throw InputError(fmt::format("--arg {}: {} bytes, buffer {} has {}", texts_[i],
                                                 bytes.size(), buffer.name, contents.size()));
                std::copy(bytes.begin(), bytes.end(), contents.begin());
            } else if (texts_[i] == "iota") {
                std::iota(contents.begin(), contents.end(), std::uint8_t{0});
            } else if (texts_[i] != "zeros") {
                fill_random(buffer, contents, random_);
            }
        }
    }

    void take_results(const RunRequest& request, tpu::Storage& storage) const {
        for (std::size_t i = 0; i < buffers_.size(); ++i) {
            const tpu::Buffer& buffer = program_.buffers[buffers_[i]];
            if (buffer.role != tpu::Role::kOutput) continue;
            const std::span<std::uint8_t> contents = storage.contents(buffers_[i]);
            if (!request.options.quiet)
                fmt::print("{}: {} bytes, checksum {:016x}\n", buffer.name, contents.size(),
                           checksum(contents));
            if (texts_[i].empty()) continue;
            const std::string path = texts_[i].substr(4);
            stats::write_whole(path,
                               {reinterpret_cast<const char*>(contents.data()), contents.size()});
        }
    }

  private:
    const tpu::Program& program_;
    std::mt19937_64 random_;
    std::vector<std::size_t> buffers_;
    std::vector<std::string> texts_;
};

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

void refuse(const RunRequest& request) {
    if (!request.cubin_option.empty() && request.cubin_option != "--arg")
        throw InputError(fmt::format("{} is for the kernel of a cubin; {} is a TPU program",
                                     request.cubin_option, request.what));
    if (!request.arguments.empty())
        throw InputError(fmt::format("'{}': {} is a TPU program, which takes no arguments",
                                     request.arguments.front(), request.what));
    if (request.verify)
        throw InputError("--verify compares a network with its reference; a TPU program has none");
    for (const auto& [is_given, option] :
         {std::pair{request.options.max_instructions != 0, "--max-instructions"},
          {!request.options.trace_sms.empty(), "--trace-sms"}})
        if (is_given) throw InputError(fmt::format("{} means nothing on a TPU", option));
    if (!request.options.trace_file.empty() && request.options.mode == "emulate")
        throw InputError("--trace needs cycle mode");
    if (request.no_values && request.options.mode == "emulate")
        throw InputError("--no-values leaves nothing to do with --mode emulate");
}

}  // namespace

std::unique_ptr<trace::Trace> make_tpu_trace(const RunRequest& request) {
    const std::string& path = request.options.trace_file;
    const std::string& text = request.options.trace_window;
    if (path.empty()) {
        if (!text.empty()) throw InputError("--trace-window needs --trace");
        return nullptr;
    }
    if (!path.ends_with(".json"))
        throw InputError(fmt::format("--trace {}: a TPU's trace is a .json", path));
    trace::Window window;
    if (!text.empty()) {
        const char* const end = text.data() + text.size();
        const auto from = std::from_chars(text.data(), end, window.from);
        bool good = from.ec == std::errc{} && from.ptr != end && *from.ptr == ':';
        if (good) {
            const auto until = std::from_chars(from.ptr + 1, end, window.until);
            good = until.ec == std::errc{} && until.ptr == end && window.from < window.until;
        }
        if (!good)
            throw InputError(fmt::format("--trace-window {}: wanted FROM:TO, in cycles", text));
    }
    return std::make_unique<trace::Trace>(path, window, request.what);
}

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

void write_tpu_program(const RunRequest& request, const tpu::Program& program) {
    const std::string& path = request.program_file;
    if (path.empty()) return;
    if (!path.ends_with(".tpu"))
        throw InputError(fmt::format("--program {}: a TPU program ends in .tpu", path));
    tpu::validate(program, request.what);
    const std::vector<std::uint8_t> bytes = tpu::write_program(program);
    stats::write_whole(path, {reinterpret_cast<const char*>(bytes.data()), bytes.size()});
}

void emulate_tpu_program(const RunRequest& request, const tpu::Program& program,
                         const tpu::Parameters& parameters, tpu::Storage& storage,
                         stats::Statistics& statistics,
                         const std::function<void(std::uint32_t)>& host) {
    tpu::check_driver(program, host != nullptr);
    tpu::State state(parameters.limits(), storage);
    state.host = host;
    Progress progress(request.what, !request.options.quiet);
    std::vector<EmulatedStep> steps(std::max<std::size_t>(program.steps.size(), 1));
    std::size_t step = 0;
    for (std::size_t i = 0; i < program.instructions.size(); ++i) {
        const tpu::Instruction& instruction = program.instructions[i];
        if (instruction.opcode() == tpu::Opcode::kTag) step = instruction[tpu::Field::kStep];
        steps[step].add(instruction);
        progress.count("instructions", i, program.instructions.size());
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
    for (std::size_t i = 0; i < steps.size(); ++i) {
        const tpu::ProgramStep said =
            i < program.steps.size() ? program.steps[i] : tpu::ProgramStep{"program", 0};
        stats::Step made;
        made.name = said.name;
        made.metrics = {{"macs", said.macs != 0 ? said.macs : steps[i].macs},
                        {"lockstep__instructions", steps[i].instructions}};
        statistics.add(std::move(made));
        statistics.add_time(0, 0, steps[i].instructions);
    }
    if (!request.options.stats_file.empty()) statistics.write(request.options.stats_file);
}

int run_tpu_program(const RunRequest& request, const config::Machine& machine,
                    std::span<const std::uint8_t> bytes) {
    refuse(request);
    const tpu::Parameters parameters(machine);
    const tpu::Program program = load_tpu_program(request.what, bytes);
    write_tpu_program(request, program);
    Arguments arguments(request, program);
    tpu::Storage storage(program, !request.no_values);
    if (!request.no_values) arguments.fill(storage);
    stats::Statistics statistics(machine.name(), request.options.mode, request.what);
    tpu::RunResult result;
    if (request.options.mode == "emulate") {
        emulate_tpu_program(request, program, parameters, storage, statistics);
    } else {
        const std::unique_ptr<trace::Trace> trace = make_tpu_trace(request);
        Progress progress(request.what, !request.options.quiet);
        result = tpu::run(program, parameters, storage,
                          {.values = !request.no_values,
                           .threads = request.options.threads,
                           .trace = trace.get(),
                           .progress = [&](std::uint64_t done) {
                               progress.count("instructions", done, program.instructions.size());
                           }});
        progress.wipe();
        report_tpu_run(request, parameters, result, statistics);
    }
    if (!request.no_values) arguments.take_results(request, storage);
    return static_cast<int>(ExitStatus::kDone);
}

}  // namespace lockstep::cli
