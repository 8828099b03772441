// SPDX-License-Identifier: Apache-2.0
// A memory partition: slices of L2 with the DRAM channels behind them.
#pragma once

#include <array>

#include "models/gpu/memory/cycle_order.h"
#include "models/gpu/memory/dram_port.h"
#include "models/gpu/memory/gpc_ports.h"
#include "models/gpu/memory/l2_slice.h"
#include "models/gpu/memory/mmu.h"

namespace lockstep::gpu {

/// What a copy engine reads from device memory or writes to it while kernels run, evenly over a
/// time unless they hold it up; each channel has the same share of it.
struct CopyTraffic {
    std::uint64_t number = 0;  ///< by which left() finds it
    memory::dram::Direction direction = memory::dram::Direction::kRead;
    engine::Cycle begin = 0, end = 0;
    std::uint64_t lines = 0;  ///< of each channel
};

class MemoryPartition final : public engine::Tile, private SliceSurroundings {
  public:
    /// `l2_partition`: the part of L2 it belongs to; `number`: among that part's Tiles.
    MemoryPartition(engine::Simulation& simulation, const MemoryParameters& parameters,
                    const LineMap& map, std::uint32_t l2_partition, std::uint32_t number,
                    const std::string& prefix = "");

    engine::Cycle advance(engine::Cycle from, engine::Cycle until) override;
    bool finished() const override;
    std::string explain_wait() const override;

    /// Forgets what L2 holds; nothing may be under way.
    void clear_l2();
    void set_resident(const ResidentLines* lines) {
        for (const auto& slice : slices_) slice->set_resident(lines);
    }
    /// A line of a home slice here is in L2 from now on; between runs.
    void place(engine::Cycle at, const LinePlace& place);
    /// A transfer has passed on such a line.
    void pass(const LinePlace& place, Transfer transfer) {
        slices_[place.slice - first_slice_]->pass(place, transfer);
    }
    /// It has written one of a home slice of the peer.
    void drop_copy(const LinePlace& place) {
        slices_[place.slice - first_slice_]->drop_copy(place);
    }
    /// Whether all of such a line is.
    bool holds(std::uint64_t line, const LinePlace& place) const {
        return slices_[place.slice - first_slice_]->holds(line, place);
    }
    PartitionCounters counters() const;
    const std::vector<std::unique_ptr<L2Slice>>& slices() const { return slices_; }
    const std::vector<DramChannel>& channels() const { return channels_; }
    /// Replies that wait for the crossbar.
    std::size_t replies() const { return replies_.size(); }

    /// Between windows.
    void carry(const CopyTraffic& traffic);
    /// The share of such a traffic that has not been asked for yet.
    double left(std::uint64_t number) const;
    /// They ask for nothing more; what is left of them is known until the next one is carried.
    void stop_copies() { are_copies_stopped_ = true; }

  private:
    friend class MemorySystem;

    struct CopyStream {
        CopyTraffic traffic;
        std::uint64_t done = 0;     ///< lines of each channel that are asked for
        engine::Cycle held_up = 0;  ///< how much later than planned
        engine::Cycle next() const { return traffic.begin + held_up + planned(done); }
        /// Time of so many lines.
        engine::Cycle planned(std::uint64_t lines) const {
            return (traffic.end - traffic.begin) * lines / traffic.lines;
        }
    };

    /// The way from an SM and back.
    struct Link {
        Link(engine::Tile& tile, std::size_t number, std::uint8_t its_gpc)
            : requests(tile, fmt::format("requests{}", number)),
              replies(tile, fmt::format("replies{}", number)),
              gpc(its_gpc) {}
        engine::Receiver<RoutedRequest> requests;
        engine::Sender<MemoryReply> replies;
        const std::uint8_t gpc;
    };
    /// What has been sent to a slice: by an SM, or by the peer.
    struct Arrival {
        engine::Cycle at;
        std::uint32_t order;  ///< of those in one cycle: the link, kPeerLink last
        PeerMessage message;
    };
    struct Departure {
        engine::Cycle at;
        std::uint16_t link;
        std::uint32_t order;  ///< of those at one time
        MemoryReply reply;
    };
    struct PeerDeparture {
        engine::Cycle at;
        PeerMessage message;
    };

    // For the slices.
    void reply(engine::Cycle at, std::uint32_t slice, std::uint16_t link,
               const MemoryReply& reply) override;
    void send_to_peer(engine::Cycle at, const PeerMessage& message) override;
    void read_dram(engine::Cycle at, std::uint32_t slice, std::uint64_t line, std::uint8_t sectors,
                   std::uint16_t mshr) override;
    void write_dram(engine::Cycle at, std::uint32_t slice, std::uint64_t line,
                    std::uint8_t sectors) override;

    /// `gpc_shares`: the part of each GPC's SMs that is here.
    void connected(const std::vector<double>& gpc_shares);
    void gather(engine::Cycle from, engine::Cycle until);
    void hold_untranslated(engine::Cycle from, engine::Cycle until);
    void deliver(const Arrival& arrival);
    void run(engine::Cycle until);
    void carry_copies(engine::Cycle from, engine::Cycle until);
    void take_completions();
    void send_replies(engine::Cycle from, engine::Cycle until);
    void send_peer_messages(engine::Cycle from, engine::Cycle until);
    void ask_dram(engine::Cycle at, memory::dram::Direction direction, std::uint32_t slice,
                  std::uint64_t line, std::uint8_t sectors, std::uint16_t mshr);
    L2Slice& slice(std::uint32_t number) { return *slices_[number - first_slice_]; }

    const MemoryParameters& parameters_;
    const LineMap& map_;
    const std::uint32_t l2_partition_;
    std::uint32_t first_slice_ = 0;    ///< of the L2 partition's
    std::uint32_t first_channel_ = 0;  ///< of the chip's
    std::vector<std::unique_ptr<L2Slice>> slices_;
    std::vector<DramChannel> channels_;
    std::unique_ptr<DramPort> dram_port_;  ///< instead of the channels, where there is one
    Mmu mmu_;

    std::vector<std::unique_ptr<Link>> links_;  ///< by SM of the near ones
    std::vector<engine::Cycle> ready_;          ///< when its next request is here, by link
    engine::Sender<PeerMessage> to_peer_{*this, "to_peer"};
    engine::Receiver<PeerMessage> from_peer_{*this, "from_peer"};

    GpcPorts gpc_ports_;
    std::vector<Arrival> held_;                 ///< by the MMU, beyond this window
    std::vector<Departure> replies_;            ///< not sent yet
    std::vector<PeerDeparture> peer_messages_;  ///< not sent yet
    std::vector<CopyStream> copies_;            ///< under way
    bool are_copies_stopped_ = false;
    /// Their lines in DRAM's hands, by channel and direction.
    std::vector<std::array<std::uint32_t, 2>> copy_lines_;
    /// What advance() works with and leaves empty: one for all partitions of a thread, which so
    /// find it in the host's cache.
    struct Scratch {
        std::vector<Arrival> arrivals;  ///< of this window
        std::vector<DramChannel::Completion> completions;
        CycleOrder order;
        /// Another that failed may have left something.
        void clear() {
            arrivals.clear();
            completions.clear();
        }
        static Scratch& of_thread() {
            static thread_local Scratch scratch;
            return scratch;
        }
    };
    Scratch* scratch_ = nullptr;
    PartitionCounters counters_;
};

}  // namespace lockstep::gpu
