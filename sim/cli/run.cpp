// SPDX-License-Identifier: Apache-2.0
// `lockstep run X`: decides what X is and runs it on a machine.
#include <fmt/format.h>

#include <charconv>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "isa/cubin/executable.h"
#include "sim/cli/built_in.h"
#include "sim/cli/run_network.h"
#include "sim/cli/run_request.h"
#include "sim/cli/run_systolic.h"
#include "sim/cli/run_tpu_program.h"
#include "sim/cli/verbs.h"
#include "sim/config/machine.h"
#include "sim/stats/statistics.h"

namespace lockstep::cli {

std::vector<std::uint8_t> read_file(const std::string& path) {
    if (std::filesystem::is_directory(path))
        throw InputError(fmt::format("{}: is a folder, not a file", path));
    std::ifstream file(path, std::ios::binary);
    if (!file) throw InputError(fmt::format("{}: cannot be read", path));
    return {std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>()};
}

namespace {

/// What an option or argument would say is never dropped in silence.
void refuse(const RunRequest& request, std::string_view what_it_is, bool takes_arguments,
            bool is_cubin) {
    if (is_cubin && request.selection_option.starts_with("--launch"))
        throw InputError(
            fmt::format("{} selects launches of a program or built-in workload; {} is {}, which is "
                        "launched once",
                        request.selection_option, request.what, what_it_is));
    if (!is_cubin && !request.cubin_option.empty())
        throw InputError(fmt::format("{} is for the kernel of a cubin; {} is {}",
                                     request.cubin_option, request.what, what_it_is));
    if (!takes_arguments && !request.arguments.empty())
        throw InputError(fmt::format("'{}': {} is {}, which takes no arguments",
                                     request.arguments.front(), request.what, what_it_is));
    if (request.verify && (is_cubin || takes_arguments))
        throw InputError(
            fmt::format("--verify compares a built-in workload with its reference; {} is {}",
                        request.what, what_it_is));
}

/// The file that X names, or "" where X is the name of something built in. What stands behind the
/// name of an .onnx are the extents of its symbolic dimensions.
std::string file_of(const std::string& what) {
    const std::size_t onnx = what.find(".onnx");
    if (onnx != std::string::npos) return what.substr(0, what.find(':', onnx));
    const bool is_file = what.find('/') != std::string::npos || what.ends_with(".cubin") ||
                         what.ends_with(".tpu") || std::filesystem::is_regular_file(what);
    return is_file ? what : "";
}

void check_file(const std::string& file) {
    if (!std::filesystem::exists(file)) throw InputError(fmt::format("{}: no such file", file));
    if (!std::filesystem::is_regular_file(file))
        throw InputError(fmt::format("{}: not a file", file));
}

/// Options that are of one kind of machine.
void check_options(const RunRequest& request, const config::Machine& machine) {
    if (!request.selection_option.empty() && machine.kind() != "gpu")
        throw InputError(fmt::format("{} selects launches of a GPU; {} is a {}",
                                     request.selection_option, machine.name(), machine.kind()));
    if (request.no_values && machine.kind() != "tpu" && machine.kind() != "systolic")
        throw InputError(fmt::format("--no-values is for a TPU or a systolic array; {} is a {}",
                                     machine.name(), machine.kind()));
    if (request.schedule && machine.kind() != "tpu")
        throw InputError(fmt::format("--schedule is of a network on a TPU; {} is a {}",
                                     machine.name(), machine.kind()));
    if (!request.program_file.empty() && machine.kind() != "tpu")
        throw InputError(fmt::format("--program is of what runs on a TPU; {} is a {}",
                                     machine.name(), machine.kind()));
}

}  // namespace

int run(const RunRequest& request) {
    if (!request.options.stats_file.empty())
        stats::Statistics::check_path(request.options.stats_file);
    const auto machine = config::Machine::load(request.options.machine, request.options.overrides);
    check_options(request, *machine);
    const std::string file = file_of(request.what);
    if (file.empty())
        check_built_in(request.what, machine->kind() == "gpu");
    else
        check_file(file);
    if (machine->kind() == "systolic") {
        refuse(request, "run on a systolic array", false, false);
        return run_systolic(request, *machine);
    }
    if (machine->kind() == "tpu" && (file.empty() || file.ends_with(".onnx")))
        return run_network(request, *machine);
    if (file.empty()) {
        refuse(request, "a built-in workload", false, false);
        return run_workload(request);
    }
    if (file.ends_with(".onnx"))
        throw InputError(
            fmt::format("{}: networks run on TPUs and systolic arrays (--on tpu_v1)", file));
    const std::vector<std::uint8_t> bytes = read_file(request.what);
    if (is_tpu_program(request.what, bytes) && machine->kind() != "tpu")
        throw InputError(fmt::format("{}: a TPU program, which {} does not run (--on tpu_v1)",
                                     request.what, machine->name()));
    if (is_tpu_program(request.what, bytes)) return run_tpu_program(request, *machine, bytes);
    switch (cubin::identify(bytes)) {
        case cubin::FileKind::kExecutable:
            cubin::check_runnable(bytes, request.what);
            refuse(request, "an executable", true, false);
            return run_executable(request, bytes);
        case cubin::FileKind::kCubin:
        case cubin::FileKind::kFatbin:
            refuse(request, "a cubin", false, true);
            return run_cubin(request, bytes);
        case cubin::FileKind::kPtx:
            throw InputError(
                fmt::format("{}: PTX; assemble it first (ptxas -arch=sm_90 -o x.cubin {})",
                            request.what, request.what));
        default:
            throw InputError(
                fmt::format("{}: neither a CUDA executable nor a cubin or fatbin", request.what));
    }
}

namespace {

/// CLI11 would take the digits of -1 for 2^64 - 1.
std::string is_whole_number(const std::string& text) {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc{} && at == end) return "";
    return fmt::format("{} is not a whole number from 0 to 2^64 - 1", text);
}

}  // namespace

void add_run(CLI::App& app, const Words& after_dashes, int& status) {
    auto request = std::make_shared<RunRequest>();
    cuda::RunOptions& options = request->options;
    CLI::App* verb = app.add_subcommand(
        "run", "Run a CUDA executable, a kernel, a network or a TPU program on a machine");
    verb->add_option("X", request->what,
                     "executable, .cubin, .tpu, .onnx, or a built-in workload or network, "
                     "name[:key=value,...] (lockstep workloads lists them)")
        ->required();
    verb->add_option("arguments", request->arguments, "arguments of the executable, after --");
    verb->add_option("--on", options.machine, "machine: a name or a .yaml file")
        ->capture_default_str();
    verb->add_option("--mode", options.mode, "cycle or emulate")
        ->check(CLI::IsMember({"cycle", "emulate"}))
        ->capture_default_str();
    verb->add_option("--set", options.overrides, "override a machine's parameter: path=value")
        ->take_all()
        ->expected(1);
    verb->add_option("--stats", options.stats_file, "write statistics (.json or .csv)")
        ->check(is_name);
    verb->add_option("--trace", options.trace_file, "write a trace (.json, .vcd or .kanata)")
        ->check(is_name);
    verb->add_option("--trace-window", options.trace_window,
                     "cycles that the trace shows: FROM:TO (default: all)");
    verb->add_option("--trace-sms", options.trace_sms,
                     "SMs whose warps and pipes the trace shows: N or FIRST-LAST (default: 0)");
    verb->add_option("--l2", options.l2, "what the L2 holds when a kernel begins: cold or warm")
        ->check(CLI::IsMember({"cold", "warm"}))
        ->capture_default_str();
    verb->add_option("--threads", options.threads, "host threads; results never depend on it")
        ->check(CLI::Range(1u, 1024u))
        ->capture_default_str();
    verb->add_option("--seed", options.seed, "seed of generated inputs")
        ->check(is_whole_number)
        ->capture_default_str();
    verb->add_option("--max-instructions", options.max_instructions,
                     "GPU: warp-instructions after which a launch is stopped (0: never)")
        ->check(is_whole_number);
    verb->add_flag("--verify", request->verify, "check results against the reference");
    verb->add_flag("--no-values", request->no_values,
                   "TPU, systolic: compute no values, only time");
    verb->add_flag("--schedule", request->schedule,
                   "TPU: print how a network was compiled, and the program");
    verb->add_option("--program", request->program_file,
                     "TPU: write the program that runs (.tpu), to disassemble it or run it again");
    verb->add_flag("--quiet", options.quiet, "print nothing but the program's own output");
    verb->add_option("--kernel", options.kernel,
                     "simulate only launches whose kernel's name matches this regular expression, "
                     "emulate the others; of a cubin: the kernel's name")
        ->check(is_name);
    verb->add_option("--launch-skip", options.launch_skip,
                     "emulate the first N launches (that match --kernel)")
        ->check(is_whole_number);
    verb->add_option("--launch-count", options.launch_count,
                     "simulate N launches (that match --kernel) after those skipped")
        ->check(is_whole_number);
    verb->add_option("--grid", request->grid, "CTAs of a cubin's launch: x[,y[,z]]")
        ->capture_default_str();
    verb->add_option("--block", request->block, "threads of a CTA: x[,y[,z]]")
        ->capture_default_str();
    verb->add_option("--shared", request->dynamic_shared_bytes, "dynamic shared memory, bytes");
    verb->add_option("--arg", request->kernel_arguments,
                     "argument of a cubin's kernel, in order: 42, 1.5, zeros:BYTES, iota:BYTES, "
                     "random:BYTES, in:FILE, out:BYTES:FILE, inout:FILE:FILE")
        ->take_all()
        ->expected(1);
    verb->callback([request, verb, &after_dashes, &status] {
        request->options.workload = request->what;
        request->arguments.insert(request->arguments.end(), after_dashes.begin(),
                                  after_dashes.end());
        for (const char* name : {"--grid", "--block", "--shared", "--arg"})
            if (verb->count(name) != 0) request->cubin_option = name;
        for (const char* name : {"--kernel", "--launch-skip", "--launch-count"})
            if (verb->count(name) != 0) request->selection_option = name;
        status = run(*request);
    });
}

}  // namespace lockstep::cli
