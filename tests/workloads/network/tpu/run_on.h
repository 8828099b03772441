// SPDX-License-Identifier: Apache-2.0
// A network through the compiler, the model of the core and the check against the reference.
#pragma once

#include "models/tpu/tpu.h"
#include "sim/config/machine.h"
#include "workloads/network/tpu/compile.h"
#include "workloads/network/tpu/host.h"
#include "workloads/network/tpu/prepare.h"

#include <algorithm>

namespace lockstep::network {

struct Ran {
    TpuCompiled compiled;
    tpu::RunResult result;
    std::vector<TpuCheck> checks;
};

inline Ran run_on(Graph graph, const std::string& machine,
                  const std::vector<std::string>& settings = {},
                  std::optional<ElementType> type = {}) {
    const tpu::Parameters parameters(*config::Machine::load(machine, settings));
    const TpuNetwork network =
        prepare_for_tpu(std::move(graph), parameters.generation, type, 1, true);
    Ran ran;
    ran.compiled = compile_for_tpu(
        network.graph, {parameters.generation, parameters.limits(), parameters.fixed_point});
    tpu::Storage storage(ran.compiled.program, true);
    for (size_t i = 0; i < network.inputs.size(); ++i)
        write_port(ran.compiled.inputs[i], network.inputs[i],
                   storage.contents(ran.compiled.inputs[i].buffer));
    ran.result = tpu::run(ran.compiled.program, parameters, storage,
                          {.host = HostDriver(network.graph, ran.compiled, storage)});
    std::vector<Tensor> results;
    for (size_t i = 0; i < ran.compiled.outputs.size(); ++i) {
        const TpuPort& port = ran.compiled.outputs[i];
        results.push_back(
            read_port(port, network.graph.value(port.value).type, storage.contents(port.buffer)));
    }
    ran.checks = verify_tpu(network, results, parameters.fixed_point);
    return ran;
}

/// Instructions of the kind.
inline size_t count(const tpu::Program& program, tpu::Opcode opcode) {
    return static_cast<size_t>(
        std::ranges::count(program.instructions, opcode, &tpu::Instruction::opcode));
}

}  // namespace lockstep::network
