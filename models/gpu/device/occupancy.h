// SPDX-License-Identifier: Apache-2.0
// How many CTAs of a kernel one SM holds at once.
#pragma once

#include <cstdint>

#include "isa/cubin/cubin.h"
#include "sim/config/machine.h"

namespace lockstep::gpu {

/// Shared memory that a CTA gets where it asks for so much.
std::uint32_t granted_shared_bytes(std::uint32_t bytes);

/// CTAs of a kernel that one SM holds at once, as each resource alone would have it.
struct Occupancy {
    std::uint32_t by_ctas = 0, by_warps = 0, by_registers = 0, by_shared_memory = 0;
    std::uint32_t ctas() const;
};
Occupancy occupancy(const config::Machine& machine, const cubin::Function& kernel,
                    std::uint32_t threads, std::uint32_t dynamic_shared_bytes);

/// CTAs of this kernel that one SM holds at once, by warps, threads, registers, shared memory.
std::uint32_t resident_ctas(const config::Machine& machine, const cubin::Function& kernel,
                            std::uint32_t threads, std::uint32_t dynamic_shared_bytes);

}  // namespace lockstep::gpu
