// SPDX-License-Identifier: Apache-2.0
// An SM's end of the crossbar, and what travels through it.
#pragma once

#include <memory>
#include <vector>

#include "models/gpu/memory/line_map.h"
#include "models/gpu/memory/server.h"
#include "sim/engine/channel.h"

namespace lockstep::gpu {

/// Of ports outside of the GPCs.
inline constexpr std::uint8_t kNoGpc = 0xff;

/// A request with the place that the SM's address hash found.
struct RoutedRequest {
    MemoryRequest request;
    std::uint32_t index = 0;  ///< LinePlace::index
    std::uint16_t slice = 0;  ///< LinePlace::slice
    std::uint8_t home = 0;    ///< LinePlace::l2_partition
};

/// Bytes of the addresses of one device; multiples of it begin one.
inline constexpr std::uint64_t kPeerRegionBytes = std::uint64_t{1} << 40;

/// Which lines are other devices'.
struct PeerRegions {
    std::vector<std::uint64_t> others;  ///< line / lines of a region
    bool hold(std::uint64_t line) const {
        const std::uint64_t region = line / (kPeerRegionBytes / kLineBytes);
        for (const std::uint64_t other : others)
            if (other == region) return true;
        return false;
    }
};

/// Held by an SM's Tile; a MemorySystem connects it. One request at a time leaves, as fast as
/// crossbar.request_bandwidth lets its data through; replies enter as fast as
/// crossbar.reply_bandwidth. What waits for credits or for an answer is refused.
class CrossbarPort final : public MemoryPort {
  public:
    /// `tile`: the SM's Tile, made before; `sm`: its number; `gpc`: whose way to the crossbar it
    /// shares.
    CrossbarPort(engine::Tile& tile, std::uint16_t sm, std::uint8_t gpc = kNoGpc)
        : tile_(tile), sm_(sm), gpc_(gpc) {}

    std::uint16_t sm() const { return sm_; }
    std::uint8_t gpc() const { return gpc_; }
    /// Requests that are not answered yet.
    std::uint32_t outstanding() const { return outstanding_; }

    bool send(engine::Cycle now, const MemoryRequest& request) override;
    engine::Cycle next_send(engine::Cycle now, const MemoryRequest& request) override;
    engine::Cycle next_reply() const override;
    MemoryReply receive(engine::Cycle now) override;

  private:
    friend class MemorySystem;

    /// The way to one memory partition and back.
    struct Link {
        Link(engine::Tile& tile, std::size_t number)
            : requests(tile, fmt::format("requests{}", number)),
              replies(tile, fmt::format("replies{}", number)) {}
        std::uint32_t outstanding = 0;
        engine::Sender<RoutedRequest> requests;
        engine::Receiver<MemoryReply> replies;
    };
    void connected();
    void choose() const;
    Link& link_to(std::uint64_t line) {
        return peers_ != nullptr && peers_->hold(line)
                   ? *links_.back()
                   : *links_[map_->tile_of_slice(place_of(line).slice)];
    }
    LinePlace place_of(std::uint64_t line) {
        if (line != place_line_) {
            place_line_ = line;
            place_ = map_->find(line);
        }
        return place_;
    }

    engine::Tile& tile_;
    const std::uint16_t sm_;
    const std::uint8_t gpc_;
    const MemoryParameters* parameters_ = nullptr;
    const LineMap* map_ = nullptr;
    const PeerRegions* peers_ = nullptr;        ///< null: there is one device
    std::vector<std::unique_ptr<Link>> links_;  ///< by Tile of the near L2 partition; to peers last
    std::uint32_t outstanding_ = 0;
    Server way_out_, way_in_;  ///< of requests; of replies

    // The last line that was to be sent: a refused request comes again.
    std::uint64_t place_line_ = ~std::uint64_t{0};
    LinePlace place_{};

    std::vector<engine::Cycle> ready_;  ///< when the next reply can be taken, by link
    // The earliest of them, looked for once a window.
    mutable engine::Time looked_ = engine::kNever;
    mutable std::size_t next_ = 0;
    mutable engine::Cycle next_at_ = engine::kNever;
};

}  // namespace lockstep::gpu
