// SPDX-License-Identifier: Apache-2.0
// A network through the compiler, the emulator and the check against the reference.
#pragma once

#include <gtest/gtest.h>

#include "models/device.h"
#include "sim/config/machine.h"
#include "workloads/network/builtin/builtin.h"
#include "workloads/network/gpu/prepare.h"
#include "workloads/network/graph/builder.h"

namespace lockstep::network::gpu {

inline Target target_named(const std::string& machine) {
    return target_of(*config::Machine::load(machine));
}

struct Ran {
    Executable code;
    std::vector<Tensor> results;
    std::vector<compile::Check> checks;
};

inline Ran run_on(Graph graph, const std::string& name = "h200",
                  Precision precision = Precision::kFp32) {
    const auto machine = config::Machine::load(name);
    const Target target = target_of(*machine);
    const compile::Prepared prepared = prepare(std::move(graph), target, precision, 1);
    Ran ran{compile(prepared.graph, target, {.precision = precision}), {}, {}};
    const auto device = make_emulator(machine, {});
    Session session(ran.code, *device);
    for (std::size_t i = 0; i < prepared.inputs.size(); ++i)
        session.set_input(i, prepared.inputs[i]);
    session.run();
    for (std::size_t i = 0; i < prepared.graph.outputs.size(); ++i)
        ran.results.push_back(session.output(i));
    ran.checks = verify(prepared, precision, ran.results);
    return ran;
}

inline void expect_right(const Ran& ran) {
    for (const compile::Check& check : ran.checks)
        EXPECT_TRUE(check.passed) << ran.code.graph.name << ": " << check.output << ": "
                                  << check.message;
}

inline Graph builtin(std::string_view text) {
    const BuiltinRequest request = parse_builtin(text);
    return build_network(request.name, request.options);
}

/// The launches' kernels, with a space between.
inline std::string kernels_of(const Executable& code) {
    std::string names;
    for (const Launch& launch : code.launches)
        names += (names.empty() ? "" : " ") + std::string(launch.kernel.kernel);
    return names;
}

}  // namespace lockstep::network::gpu
