// SPDX-License-Identifier: Apache-2.0
// A TLM-2.0 target that serves long transfers at a sustained bandwidth. Includes SystemC.
#pragma once

#include <tlm_utils/simple_target_socket.h>

#include <cstdint>
#include <systemc>
#include <tlm>

namespace lockstep::memory {

struct StreamParameters {
    double read_gb_per_s = 1, write_gb_per_s = 1;
    double latency_ns = 0;  ///< from the last byte on the bus to the answer
    bool duplex = false;    ///< reads and writes have a bus each (a host link)
    /// For a transaction that does not go on where the last one ended; for one that shares the bus
    /// with transactions of the other direction.
    double jump_ns = 0, turn_ns = 0;
    /// Bytes after which the controllers change from one stream to another: shorter transactions
    /// are served in groups, and each pays its share. 0: every transaction pays.
    std::uint64_t chunk = 0;
};

/// Loosely timed: never waits; transactions take the bus in the order of their calls. Values are
/// not kept: the payload's data is left as it is.
class StreamMemory : public sc_core::sc_module {
  public:
    StreamMemory(sc_core::sc_module_name name, const StreamParameters& parameters);

    tlm_utils::simple_target_socket<StreamMemory> socket{"socket"};

  private:
    void b_transport(tlm::tlm_generic_payload& payload, sc_core::sc_time& delay);

    const StreamParameters parameters_;
    double free_at_ps_[2] = {0, 0};
    /// Of each direction: where the last transaction ended, and when.
    struct Stream {
        std::uint64_t end = 0;
        double ends_ps = 0;
    };
    Stream streams_[2];
};

}  // namespace lockstep::memory
