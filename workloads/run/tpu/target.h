// SPDX-License-Identifier: Apache-2.0
// What the compiler is told of a machine.
#pragma once

#include "models/tpu/parameters.h"
#include "models/tpu/vector_timing.h"
#include "workloads/network/tpu/compile.h"

namespace lockstep::run {

inline network::TpuTarget tpu_target(const tpu::Parameters& parameters) {
    return {.generation = parameters.generation,
            .limits = parameters.limits(),
            .fixed_point = parameters.fixed_point,
            .speed = parameters.speed(),
            .resident_share = parameters.resident_share,
            .full_tiles = parameters.full_tiles,
            .window = parameters.window,
            .vector_registers = parameters.vector.registers,
            .loop_registers = std::max(1u, parameters.vector.loop_registers),
            .vector_cycles = [vector = parameters.vector](const tpu::Instruction& instruction) {
                return tpu::vector_time(instruction, vector).issue;
            }};
}

}  // namespace lockstep::run
