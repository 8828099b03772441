// SPDX-License-Identifier: Apache-2.0
// Where a chip's link to other chips meets its crossbar: takes the SMs' accesses to peers' memory
// across the link, and the peers' to its own L2.
#pragma once

#include <fmt/format.h>

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "models/gpu/memory/crossbar_port.h"
#include "models/gpu/sm/send_queue.h"

namespace lockstep::gpu {

/// The link as the chip's clock sees it.
struct PeerParameters {
    std::vector<std::uint64_t> regions;  ///< by device: DeviceMemory::region()
    std::uint32_t device = 0;            ///< this one
    engine::Cycle latency = 1;           ///< one way
    double bandwidth = 1;                ///< bytes a cycle in each direction, headers included
    std::uint32_t packet_header = 0;     ///< bytes
};

/// What chips say to each other: a request on its way there, a reply on its way back.
struct ChipMessage {
    bool is_reply = false;
    std::uint16_t port = 0;  ///< of the chip that asked
    MemoryRequest request;
    MemoryReply reply;
};

class PeerUnit final : public engine::Tile {
  public:
    /// `number`: of its port at the crossbar, after all others.
    PeerUnit(engine::Simulation& simulation, std::string name, engine::ClockDomain clock,
             std::uint16_t number, const PeerParameters& parameters);

    CrossbarPort& port() { return port_; }
    /// Both directions between two chips' units; before the first run.
    static void connect(PeerUnit& a, PeerUnit& b);

    std::uint64_t bytes_sent() const { return bytes_sent_; }

    engine::Cycle advance(engine::Cycle from, engine::Cycle until) override;
    bool finished() const override;
    std::string explain_wait() const override;

  private:
    friend class MemorySystem;

    /// The way from a port and back.
    struct Link {
        Link(engine::Tile& tile, std::size_t number)
            : requests(tile, fmt::format("peer_requests{}", number)),
              replies(tile, fmt::format("peer_replies{}", number)) {}
        engine::Receiver<RoutedRequest> requests;
        engine::Sender<MemoryReply> replies;
    };
    /// The way to another chip and back.
    struct Way {
        Way(engine::Tile& tile, std::size_t device)
            : out(tile, fmt::format("to_gpu{}", device)),
              in(tile, fmt::format("from_gpu{}", device)) {}
        engine::Sender<ChipMessage> out;
        engine::Receiver<ChipMessage> in;
    };
    struct Departure {
        engine::Cycle at = 0;
        std::uint32_t peer = 0;
        ChipMessage message;
    };
    /// A peer's request that the own memory has.
    struct Guest {
        std::uint32_t peer = 0;
        std::uint16_t port = 0;
        std::uint32_t id = 0;
        std::uint8_t missing = 0;  ///< sectors of a read; 0: the entry is free
    };

    std::uint32_t owner_of(std::uint64_t line) const;
    void depart(engine::Cycle now, std::uint32_t peer, std::uint32_t payload,
                const ChipMessage& message);
    void take_request(engine::Cycle now, std::uint16_t port, const MemoryRequest& request);
    void take_message(engine::Cycle now, std::uint32_t peer, const ChipMessage& message);
    void take_answer(engine::Cycle now, const MemoryReply& reply);
    void send(engine::Cycle now);

    const PeerParameters parameters_;
    CrossbarPort port_;
    SendQueue queue_;                           ///< peers' requests to the own memory
    std::vector<std::unique_ptr<Link>> links_;  ///< by port
    std::vector<std::unique_ptr<Way>> ways_;    ///< by device; its own: null
    std::deque<Departure> departures_;
    std::vector<Guest> guests_;
    std::vector<std::uint32_t> free_guests_;     ///< places of it
    std::uint32_t guests_here_ = 0, asked_ = 0;  ///< requests of peers, and to peers
    engine::Cycle out_free_ = 0;                 ///< in 256ths: when the last packet has left
    std::uint64_t bytes_sent_ = 0;
};

}  // namespace lockstep::gpu
