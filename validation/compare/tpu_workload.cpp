// SPDX-License-Identifier: Apache-2.0
#include "validation/compare/tpu_workload.h"

#include "sim/config/machine.h"
#include "sim/error/error.h"
#include "workloads/network/builtin/builtin.h"
#include "workloads/network/tpu/compile.h"
#include "workloads/network/tpu/prepare.h"

namespace lockstep::validation {

tpu::RunResult run_tpu_workload(std::string_view workload, const std::string& machine) {
    const auto loaded = config::Machine::load(machine, {});
    if (loaded->kind() != "tpu")
        throw InputError(fmt::format("the suite needs a TPU; {} is a {}", machine, loaded->kind()));
    const tpu::Parameters parameters(*loaded);
    network::BuiltinRequest request = network::parse_builtin(workload);
    request.options.with_values = false;
    const network::TpuNetwork network =
        network::prepare_for_tpu(network::build_network(request.name, request.options),
                                 parameters.generation, request.dtype, 1, false);
    const network::TpuCompiled compiled = network::compile_for_tpu(
        network.graph,
        {parameters.generation, parameters.limits(), parameters.fixed_point, parameters.speed()});
    tpu::Storage storage(compiled.program, false);
    return tpu::run(compiled.program, parameters, storage, {.values = false});
}

}  // namespace lockstep::validation
