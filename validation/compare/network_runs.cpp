// SPDX-License-Identifier: Apache-2.0
#include "validation/compare/network_runs.h"

#include <fmt/format.h>

#include <vector>

#include "models/device.h"
#include "sim/stats/find.h"
#include "validation/published/published.h"
#include "workloads/network/builtin/builtin.h"
#include "workloads/network/gpu/prepare.h"
#include "workloads/run/gpu/submission.h"

namespace lockstep::validation {

namespace {

namespace gpu = network::gpu;

constexpr std::int64_t kMostSamples = 8;
constexpr int kTuring = 75, kAmpere = 80;

}  // namespace

bool is_feasible(const choose::Reached& run) {
    if (run.phase != choose::Phase::kInference || run.batch > kMostSamples) return false;
    const auto machine = config::Machine::load(run.machine);
    if (machine->kind() != "gpu") return false;
    const std::int64_t arch = machine->integer("arch");
    const bool has_type = run.precision == "fp32" || run.precision == "fp16" ||
                          (arch >= kAmpere && (run.precision == "tf32" || run.precision == "bf16"));
    return arch >= kTuring && has_type;
}

NetworkRun simulate_network(const choose::Reached& run, unsigned threads) {
    const auto machine = config::Machine::load(run.machine);
    network::BuiltinRequest request = network::parse_builtin(run.network);
    request.options.parameters["batch"] = run.batch;
    const gpu::Target target = gpu::target_of(*machine);
    const gpu::Precision precision = gpu::precision_named(run.precision);
    const network::compile::Prepared prepared =
        gpu::prepare(network::build_network(request.name, request.options), target, precision, 1);
    const gpu::Executable code = gpu::compile(prepared.graph, target, {.precision = precision});
    const auto device = make_simulator(
        machine, {.threads = threads, .progress = true, .l2 = L2Start::kWarm, .samples = true});
    gpu::Session session(code, *device);
    for (std::size_t i = 0; i < prepared.inputs.size(); ++i)
        session.set_input(i, prepared.inputs[i]);
    std::vector<double> kernels;
    double off = 0;
    session.run([&](std::size_t, const LaunchResult& result) {
        kernels.push_back(result.seconds);
        off += result.seconds * stats::number(result.metrics, "lockstep__sample_error.pct");
    });
    const double seconds = run::submitted_time(*machine, kernels).stream;
    return {static_cast<double>(run.batch) / seconds, off / seconds};
}

std::optional<NetworkRun> stored_network(const choose::Reached& run) {
    static const Table table = published_table("networks_simulated");
    for (std::size_t i = 0; i < table.rows(); ++i)
        if (run.phase == choose::Phase::kInference && table.text(i, "machine") == run.machine &&
            table.text(i, "network") == run.network &&
            table.text(i, "precision") == run.precision &&
            static_cast<std::int64_t>(table.number(i, "batch")) == run.batch)
            return NetworkRun{table.number(i, "samples_per_second"), table.number(i, "error")};
    return std::nullopt;
}

std::string table_line(const choose::Reached& run, const NetworkRun& simulated) {
    return fmt::format("{},{},{},{},{:.5g},{:.2g}\n", run.machine, run.network, run.precision,
                       run.batch, simulated.samples_per_second, simulated.error);
}

}  // namespace lockstep::validation
