// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/chip/tlm_edges.h"

#include "models/gpu/device/simulator.h"

namespace lockstep::gpu {

TlmEdges::TlmEdges(Device& simulator, std::uint32_t requests_per_cycle) {
    auto* const gpu = dynamic_cast<Simulator*>(&simulator);
    LOCKSTEP_CHECK(gpu != nullptr, "only a simulated GPU has edges");
    Chip& chip = gpu->chip();
    cycle_ = chip.clock().start_of(1);
    if (requests_per_cycle == 0) return;
    MemorySystem& memory = chip.memory();
    for (std::size_t i = 0; i < memory.partitions(); ++i) {
        ports_.push_back(std::make_unique<engine::TlmMemoryPort>(
            chip.simulation(), "dram_port" + std::to_string(i), chip.clock(), requests_per_cycle));
        memory.bind_dram(i, ports_.back()->requests, ports_.back()->responses);
    }
}

TlmEdges::~TlmEdges() = default;

}  // namespace lockstep::gpu
