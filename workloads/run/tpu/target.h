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
            .vector_cycles =
                [vector = parameters.vector](std::span<const tpu::Instruction* const> loop) {
                    tpu::VectorWork before;
                    for (const tpu::Instruction* keeps : loop.first(loop.size() - 1))
                        before += tpu::vector_work(*keeps, vector);
                    return tpu::vector_time(*loop.back(), vector, before).issue;
                }};
}

}  // namespace lockstep::run
