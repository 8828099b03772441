// SPDX-License-Identifier: Apache-2.0
// A network through the compiler, the model of the core and the check against the reference.
#pragma once

#include <algorithm>

#include "models/tpu/tpu.h"
#include "sim/config/machine.h"
#include "workloads/network/builtin/builtin.h"
#include "workloads/network/graph/builder.h"
#include "workloads/network/tpu/compile.h"
#include "workloads/network/tpu/host.h"
#include "workloads/network/tpu/prepare.h"
#include "workloads/run/tpu/target.h"

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
    ran.compiled = compile_for_tpu(network.graph, run::tpu_target(parameters));
    tpu::Storage storage(ran.compiled.program, true);
    for (std::size_t i = 0; i < network.inputs.size(); ++i)
        write_port(ran.compiled.inputs[i], network.inputs[i],
                   storage.contents(ran.compiled.inputs[i].buffer));
    ran.result = tpu::run(ran.compiled.program, parameters, storage,
                          {.host = HostDriver(network.graph, ran.compiled, storage)});
    std::vector<Tensor> results;
    for (std::size_t i = 0; i < ran.compiled.outputs.size(); ++i) {
        const TpuPort& port = ran.compiled.outputs[i];
        results.push_back(
            read_port(port, network.graph.value(port.value).type, storage.contents(port.buffer)));
    }
    ran.checks = verify_tpu(network, results, parameters.fixed_point);
    return ran;
}

/// The time alone, on tpu_v1, of a built-in network whose values nobody makes.
inline tpu::RunResult run_without_values(std::string_view workload) {
    BuiltinRequest request = parse_builtin(workload);
    request.options.with_values = false;
    const tpu::Parameters parameters(*config::Machine::load("tpu_v1", {}));
    const TpuNetwork network =
        prepare_for_tpu(build_network(request.name, request.options), 1, {}, 1, false);
    const TpuCompiled compiled =
        compile_for_tpu(network.graph, {parameters.generation, parameters.limits()});
    tpu::Storage storage(compiled.program, false);
    return tpu::run(compiled.program, parameters, storage, {.values = false});
}

/// Convolutions in groups, depthwise, residual, pooling, a flattened image.
inline Graph vision(std::uint64_t seed) {
    Builder b("vision", seed);
    ValueId x = b.input("x", ElementType::kFp32, {2, 6, 12, 12});
    x = b.convolution("stem", x, 24, 3, {.stride = 1, .pad = 1, .bias = true});
    x = b.node(Operator::kRelu, "stem.relu", {x});
    x = b.max_pool("pool", x, 3, 2, 1);
    const ValueId shortcut = x;
    x = b.convolution("depthwise", x, 24, 3, {.stride = 1, .pad = 1, .group = 24});
    x = b.node(Operator::kRelu, "depthwise.relu", {x});
    x = b.convolution("groups", x, 24, 1, {.group = 2});
    x = b.node(Operator::kAdd, "add", {x, shortcut});
    x = b.node(Operator::kRelu, "add.relu", {x});
    const ValueId flat = b.node(Operator::kFlatten, "flatten", {x}, {{"axis", std::int64_t{1}}});
    const ValueId mean = b.node(Operator::kGlobalAveragePool, "mean", {x});
    return b.finish({b.linear("fc", flat, 10), b.reshape("means", mean, {2, 24})});
}

/// Instructions of the kind.
inline std::size_t count(const tpu::Program& program, tpu::Opcode opcode) {
    return static_cast<std::size_t>(
        std::ranges::count(program.instructions, opcode, &tpu::Instruction::opcode));
}

}  // namespace lockstep::network
