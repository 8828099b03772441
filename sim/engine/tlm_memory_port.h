// SPDX-License-Identifier: Apache-2.0
// A Tile at the chip's edge: turns messages into TLM-2.0 transactions on an initiator socket, so
// that any loosely timed SystemC memory model can stand behind it. Includes SystemC.
#pragma once

#include <tlm_utils/simple_initiator_socket.h>

#include <memory>
#include <queue>
#include <systemc>
#include <tlm>

#include "sim/engine/channel.h"
#include "sim/engine/memory_message.h"
#include "sim/engine/simulation.h"

namespace lockstep::engine {

/// Takes `requests_per_cycle` requests a cycle, calls b_transport with the delay from SystemC's
/// time to the request's cycle, and answers when the delay that comes back is over. The target must
/// not wait() in b_transport: it is called from an SC_METHOD, a window ahead of SystemC's time.
class TlmMemoryPort : public Tile {
  public:
    TlmMemoryPort(Simulation& simulation, std::string name, ClockDomain clock,
                  std::uint32_t requests_per_cycle = 1);
    ~TlmMemoryPort() override;

    Receiver<MemoryRequest> requests{*this, "requests"};
    Sender<MemoryResponse> responses{*this, "responses"};

    /// Where the memory is bound, before the first run: port.socket().bind(memory.socket).
    tlm_utils::simple_initiator_socket<TlmMemoryPort>& socket() { return *socket_; }

    Cycle advance(Cycle from, Cycle until) override;
    bool finished() const override { return pending_.empty(); }
    std::string explain_wait() const override;
    bool runs_on_kernel_thread() const override { return true; }

  private:
    struct Pending {
        Cycle done;
        std::uint64_t sequence;
        MemoryResponse response;
        bool operator>(const Pending& other) const {
            return std::pair(done, sequence) > std::pair(other.done, other.sequence);
        }
    };

    void transport(const MemoryRequest& request, Cycle now);

    const std::uint32_t requests_per_cycle_;
    std::unique_ptr<tlm_utils::simple_initiator_socket<TlmMemoryPort>> socket_;
    tlm::tlm_generic_payload payload_;
    std::vector<std::uint8_t> scratch_;
    std::uint64_t sequence_ = 0;
    std::priority_queue<Pending, std::vector<Pending>, std::greater<>> pending_;
};

}  // namespace lockstep::engine
