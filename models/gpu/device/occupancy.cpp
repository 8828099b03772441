// SPDX-License-Identifier: Apache-2.0
// Limits are those of the CUDA Programming Guide's table of compute capabilities, read from the
// machine file.
#include "models/gpu/device/occupancy.h"

#include <algorithm>

#include "isa/cubin/warp_registers.h"
#include "isa/sass/row.h"
#include "sim/numerics/integer.h"

namespace lockstep::gpu {

namespace {

constexpr std::uint32_t kWarpSize = sass::kWarpSize;

}  // namespace

std::uint32_t granted_shared_bytes(std::uint32_t bytes) {
    // An H200 too faults first beyond this: with 1056 bytes, and 1024 of the system's in front, it
    // reads at offset 1148 and not at 1184.
    constexpr std::uint32_t kGranule = 128;
    return numerics::round_up(bytes, kGranule);
}

std::uint32_t Occupancy::ctas() const {
    return std::min({by_ctas, by_warps, by_registers, by_shared_memory});
}

Occupancy occupancy(const config::Machine& machine, const cubin::Function& kernel,
                    std::uint32_t threads, std::uint32_t dynamic_shared_bytes) {
    const auto limit = [&](const char* path) {
        return static_cast<std::uint32_t>(machine.integer(path));
    };
    const std::uint32_t warps = (threads + kWarpSize - 1) / kWarpSize;
    if (warps == 0) return {};
    Occupancy result;
    result.by_ctas = limit("sm.max_ctas");
    result.by_warps = std::min(limit("sm.max_warps"), limit("sm.max_threads") / kWarpSize) / warps;
    // Registers are granted by sub-core: a warp cannot use another sub-core's.
    const std::uint32_t sub_cores = limit("sm.sub_cores");
    result.by_registers =
        limit("sm.registers") / sub_cores / warp_registers(kernel) * sub_cores / warps;
    // From sm_90 on the section's size includes what the system reserves.
    const std::uint32_t reserved =
        machine.integer("arch") >= 90 ? 0 : limit("shared_memory.reserved_per_cta");
    const std::uint32_t shared =
        granted_shared_bytes(kernel.shared_bytes + dynamic_shared_bytes + reserved);
    result.by_shared_memory = shared != 0 ? limit("shared_memory.size") / shared : result.by_ctas;
    return result;
}

std::uint32_t resident_ctas(const config::Machine& machine, const cubin::Function& kernel,
                            std::uint32_t threads, std::uint32_t dynamic_shared_bytes) {
    return occupancy(machine, kernel, threads, dynamic_shared_bytes).ctas();
}

}  // namespace lockstep::gpu
