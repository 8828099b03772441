// SPDX-License-Identifier: Apache-2.0
// A network through the compiler, the model and the check against the reference.
#pragma once

#include "models/npu/npu.h"
#include "sim/config/machine.h"
#include "workloads/network/compile/host.h"
#include "workloads/network/compile/verify.h"
#include "workloads/network/npu/compile.h"
#include "workloads/network/npu/prepare.h"
#include "workloads/run/npu/target.h"

namespace lockstep::network {

struct RanOnNpu {
    NpuCompiled compiled;
    npu::RunResult result;
    std::vector<compile::Check> checks;
};

struct NpuSettings {
    std::string machine = "npu_mobile";
    std::vector<std::string> overrides = {};
    NpuPrecision precision = {};
    Requantisation requantisation = Requantisation::kTfLite;
    bool host = false;
    bool keeps_values = true, cascades = true;
};

inline RanOnNpu run_on_npu(Graph graph, const NpuSettings& settings = {}) {
    const npu::Parameters parameters(*config::Machine::load(settings.machine, settings.overrides));
    const compile::Prepared network =
        prepare_for_npu(legalise_for_npu(std::move(graph)), settings.precision, 1, true);
    NpuTarget target = run::npu_target(parameters);
    target.requantisation = settings.requantisation;
    target.keeps_values = settings.keeps_values;
    target.cascades = settings.cascades;
    RanOnNpu ran;
    ran.compiled = compile_for_npu(network.graph, target, settings.host);
    npu::Storage storage(ran.compiled.program, true);
    for (std::size_t i = 0; i < network.inputs.size(); ++i)
        write_port(ran.compiled.inputs[i], network.inputs[i],
                   storage.contents(ran.compiled.inputs[i].buffer));
    const compile::HostDriver host(network.graph, ran.compiled.host_tasks, target.requantisation,
                                   [&](std::uint32_t buffer) { return storage.contents(buffer); });
    ran.result = npu::run(ran.compiled.program, parameters, storage, {.host = host});
    std::vector<Tensor> results;
    for (const compile::Port& port : ran.compiled.outputs)
        results.push_back(
            read_port(port, network.graph.value(port.value).type, storage.contents(port.buffer)));
    ran.checks = verify_equal(network, results, target.requantisation);
    return ran;
}

}  // namespace lockstep::network
