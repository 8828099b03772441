// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/run_network.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "isa/command/disassembler.h"
#include "sim/cli/progress.h"
#include "sim/cli/run_tpu_program.h"
#include "sim/cli/tpu_report.h"
#include "sim/config/machine.h"
#include "sim/stats/statistics.h"
#include "workloads/network/builtin/builtin.h"
#include "workloads/network/onnx/reader.h"
#include "workloads/network/tpu/compile.h"
#include "workloads/network/tpu/explain.h"
#include "workloads/network/tpu/host.h"
#include "workloads/network/tpu/prepare.h"

namespace lockstep::cli {

namespace {

struct Source {
    network::Graph graph;
    std::optional<network::ElementType> dtype;
};

Source read_source(const RunRequest& request) {
    // What stands behind a file's name are the extents of its symbolic dimensions.
    const std::size_t ending = request.what.find(".onnx");
    network::BuiltinRequest builtin;
    if (ending != std::string::npos) {
        const std::string file = request.what.substr(0, request.what.find(':', ending));
        if (file.size() < request.what.size())
            builtin = network::parse_builtin("network" + request.what.substr(file.size()));
        return {network::read_onnx(file, {.dimensions = builtin.options.parameters}),
                builtin.dtype};
    }
    builtin = network::parse_builtin(request.what);
    builtin.options.seed = request.options.seed;
    builtin.options.with_values = !request.no_values;
    return {network::build_network(builtin.name, builtin.options), builtin.dtype};
}

void refuse(const RunRequest& request) {
    const cuda::RunOptions& options = request.options;
    if (!request.cubin_option.empty())
        throw InputError(fmt::format("{} is for the kernel of a cubin; {} is a network",
                                     request.cubin_option, request.what));
    if (!request.arguments.empty())
        throw InputError(fmt::format("'{}': {} is a network, which takes no arguments",
                                     request.arguments.front(), request.what));
    for (const auto& [is_given, option] :
         {std::pair{options.max_instructions != 0, "--max-instructions"},
          {options.l2 != "cold", "--l2"},
          {!options.trace_sms.empty(), "--trace-sms"}})
        if (is_given) throw InputError(fmt::format("{} means nothing on a TPU", option));
    if (!options.trace_file.empty() && options.mode == "emulate")
        throw InputError("--trace needs cycle mode");
    if (request.no_values)
        for (const auto& [is_given, what] :
             {std::pair{request.verify, "--verify checks"},
              {request.options.mode == "emulate", "--mode emulate computes"},
              {!request.program_file.empty(), "--program writes"}})
            if (is_given) throw InputError(fmt::format("{} values; --no-values has none", what));
}

}  // namespace

int run_network(const RunRequest& request, const config::Machine& machine) {
    refuse(request);
    const tpu::Parameters parameters(machine);
    stats::Statistics statistics(machine.name(), request.options.mode, request.what);
    Progress progress(request.what, !request.options.quiet);
    progress.say("preparing");
    Source source = read_source(request);
    const network::TpuNetwork prepared =
        network::prepare_for_tpu(std::move(source.graph), parameters.generation, source.dtype,
                                 request.options.seed, !request.no_values);
    const network::TpuCompiled compiled = network::compile_for_tpu(
        prepared.graph,
        {parameters.generation, parameters.limits(), parameters.fixed_point, parameters.speed()});
    progress.wipe();
    if (request.schedule) fmt::print("{}", network::schedule_text(compiled));
    write_tpu_program(request, compiled.program);

    tpu::Storage storage(compiled.program, !request.no_values);
    for (std::size_t i = 0; i < prepared.inputs.size(); ++i)
        network::write_port(compiled.inputs[i], prepared.inputs[i],
                            storage.contents(compiled.inputs[i].buffer));
    const std::function<void(std::uint32_t)> host =
        request.no_values ? std::function<void(std::uint32_t)>()
                          : network::HostDriver(prepared.graph, compiled, storage);
    if (request.options.mode == "emulate") {
        emulate_tpu_program(request, compiled.program, parameters, storage, statistics, host);
    } else {
        const std::unique_ptr<trace::Trace> trace = make_tpu_trace(request);
        const tpu::RunResult result = tpu::run(
            compiled.program, parameters, storage,
            {.values = !request.no_values,
             .threads = request.options.threads,
             .trace = trace.get(),
             .host = host,
             .progress = [&](std::uint64_t done) {
                 progress.count("instructions", done, compiled.program.instructions.size());
             }});
        progress.wipe();
        report_tpu_run(request, parameters, result, statistics);
        if (!request.options.quiet) {
            std::vector<network::LayerTime> times;
            for (const tpu::StepResult& step : result.steps)
                times.push_back({step.cycles, step.useful_macs, step.active, step.active_others,
                                 step.active_elsewhere, step.weight_stall, step.weight_shift,
                                 step.raw_stall, step.input_stall, step.issue_stall,
                                 step.idle_units, step.bank_stall, step.window_stall,
                                 step.vector_busy, step.host_busy,
                                 step.host_bytes_read + step.host_bytes_written,
                                 step.dram_bytes_read + step.dram_bytes_written});
            fmt::print("{}", network::explain_utilisation(compiled, times, parameters.limits()));
        }
    }
    if (!request.verify) return static_cast<int>(ExitStatus::kDone);
    std::vector<network::Tensor> results;
    for (std::size_t i = 0; i < compiled.outputs.size(); ++i)
        results.push_back(network::read_port(compiled.outputs[i],
                                             prepared.graph.value(prepared.graph.outputs[i]).type,
                                             storage.contents(compiled.outputs[i].buffer)));
    bool passed = true;
    progress.say("comparing with the reference");
    const std::vector<network::TpuCheck> checks =
        network::verify_tpu(prepared, results, parameters.fixed_point);
    progress.wipe();
    for (const network::TpuCheck& check : checks) {
        passed &= check.passed;
        if (!request.options.quiet || !check.passed)
            fmt::print("{} {}: {}\n", check.passed ? "verified" : "MISMATCH", check.output,
                       check.message);
    }
    return static_cast<int>(passed ? ExitStatus::kDone : ExitStatus::kMismatch);
}

}  // namespace lockstep::cli
