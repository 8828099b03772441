// SPDX-License-Identifier: Apache-2.0
// The edges of a GPU's chip in a SystemC program: its modules are made when the program's are, and
// its DRAM may be the program's. Includes SystemC.
#pragma once

#include <memory>
#include <vector>

#include "models/device.h"
#include "sim/engine/tlm_memory_port.h"

namespace lockstep::gpu {

class TlmEdges {
  public:
    /// Makes the simulator's chip now; SystemC makes no modules once it runs. With
    /// `requests_per_cycle` each memory partition has a port in place of its DRAM controllers,
    /// which takes so many requests in an SM's cycle; 0: the machine's own DRAM.
    explicit TlmEdges(Device& simulator, std::uint32_t requests_per_cycle = 0);
    ~TlmEdges();

    std::size_t dram_ports() const { return ports_.size(); }
    /// To be bound to a memory before the program runs. It sees timing alone: addresses, sizes,
    /// reads and writes (values stay with the simulator's functional memory), and must not wait()
    /// in b_transport; it answers by the delay that it adds.
    tlm::tlm_initiator_socket<>& dram_port(std::size_t i) { return ports_.at(i)->socket(); }

    /// What a cycle of the SMs takes.
    engine::Time cycle() const { return cycle_; }

  private:
    engine::Time cycle_ = 0;
    std::vector<std::unique_ptr<engine::TlmMemoryPort>> ports_;
};

}  // namespace lockstep::gpu
