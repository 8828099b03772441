// SPDX-License-Identifier: Apache-2.0
// An SM's end of the SM-to-SM network: what its warps do to the shared memory of other CTAs of
// their clusters, and what those do to the shared memory here.
#pragma once

#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "models/gpu/cluster/cluster_counters.h"
#include "models/gpu/cluster/cluster_message.h"
#include "models/gpu/cluster/cluster_network.h"
#include "models/gpu/cluster/cluster_parameters.h"
#include "models/gpu/sm/memory_instruction.h"
#include "sim/engine/channel.h"

namespace lockstep::gpu {

/// The SM as the unit sees it.
class ClusterListener {
  public:
    virtual ~ClusterListener() = default;
    /// An operation has come for the shared memory here: when it has passed the data stage.
    virtual engine::Cycle serve_remote(engine::Cycle now,
                                       const sass::RemoteOperation& operation) = 0;
    /// All that a memory instruction has asked for is here, or performed.
    virtual void remote_done(engine::Cycle now, const MemoryInstructionHeader& instruction) = 0;
    /// barrier.cluster is complete for a CTA here.
    virtual void cluster_released(engine::Cycle now, sass::Cta& cta) = 0;
};

class ClusterUnit final : public sass::RemotePort {
  public:
    ClusterUnit(engine::Tile& tile, std::uint16_t sm, const ClusterParameters& parameters,
                ClusterListener& listener);

    engine::Sender<ClusterMessage> out;
    engine::Receiver<ClusterMessage> in;

    /// Nothing is under way: counters are zero.
    void begin_kernels();
    const ClusterCounters& counters() const { return counters_; }

    // sass::RemotePort: called by the semantics at issue.
    void send(const sass::RemoteOperation& operation) override;
    void cluster_arrived(sass::Cta& cta) override;

    /// The instruction that was executed last has issued operations.
    bool has_issued() const { return first_issued_ != kNone; }
    /// A number for the instruction, to be given to request() when its addresses are known.
    std::uint32_t take_issued();
    /// An arrival waits to be sent.
    bool has_arrived() const { return !arrivals_.empty(); }
    void send_arrivals(engine::Cycle now);

    /// The instruction's operations leave; remote_done() follows where it `waits`.
    void request(engine::Cycle now, std::uint32_t number, const MemoryInstructionHeader& header,
                 bool waits);

    /// So many stores wait for the port that the SM's memory unit must stand still.
    bool is_full() const { return stores_queued_ >= parameters_.port_queue; }

    void begin_window(engine::Cycle from);
    engine::Cycle next_event() const { return std::min(next_send_, in.next_ready()); }
    void advance(engine::Cycle now);
    bool idle() const { return queue_.empty() && under_way_ == 0; }

  private:
    static constexpr std::uint32_t kNone = ~0u;
    struct Waiting {
        MemoryInstructionHeader header;
        std::vector<RemotePacket*> packets;  ///< to be sent
        std::uint32_t left = 0;              ///< replies to come
        bool waits = false;
    };
    struct Departure {
        engine::Cycle at = 0;
        ClusterMessage message;
    };

    RemotePacket& new_packet();
    std::uint32_t bytes_of(const sass::RemoteOperation& operation, bool is_reply) const;
    void queue(engine::Cycle ready, const ClusterMessage& message);
    void take(engine::Cycle now, const ClusterMessage& message);
    void perform(engine::Cycle now, RemotePacket& packet);
    void finish(engine::Cycle now, RemotePacket& packet);
    void send_queued(engine::Cycle now);

    const std::uint16_t sm_;
    const ClusterParameters& parameters_;
    ClusterListener& listener_;
    std::vector<std::unique_ptr<RemotePacket>> packets_;
    std::vector<RemotePacket*> spare_;
    std::vector<Waiting> waiting_;
    std::vector<std::uint32_t> spare_waiting_;  ///< entries that are free
    std::uint32_t first_issued_ = kNone;        ///< in waiting_: of the instruction just executed
    std::uint32_t under_way_ = 0;               ///< packets without a reply
    std::uint32_t stores_queued_ = 0;           ///< packets with data that wait for the port
    PortServer port_;
    std::deque<Departure> queue_;
    std::vector<ClusterMessage> arrivals_;
    engine::Cycle next_send_ = engine::kNever;
    ClusterCounters counters_;
};

}  // namespace lockstep::gpu
