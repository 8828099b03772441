// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>

#include "isa/cubin/cubin.h"
#include "sim/numerics/integer.h"

namespace lockstep::cubin {

/// Registers that a warp of the kernel occupies: granted 8 a thread, 256 a warp (CUDA C++
/// Programming Guide, technical specifications), at least 16 a thread.
inline std::uint32_t warp_registers(const Function& kernel) {
    constexpr std::uint32_t kThreads = 32, kGranule = 256, kLeast = 16;
    return numerics::round_up(std::max(kernel.registers, kLeast) * kThreads, kGranule);
}

}  // namespace lockstep::cubin
