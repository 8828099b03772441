// SPDX-License-Identifier: Apache-2.0
// An SM's way to the cache of code and constants that its GPC has (GCC), and back.
#pragma once

#include <algorithm>
#include <cstdint>
#include <deque>
#include <vector>

#include "sim/engine/channel.h"

namespace lockstep::gpu {

/// "Not here yet": what a cache answers whose line has been asked for; the line's arrival is told.
inline constexpr engine::Cycle kPending = engine::kNever - 1;

enum class FetchKind : std::uint8_t { kInstructions, kConstants };

/// A line of one of the SM's caches, by that cache's own number.
struct FetchLine {
    FetchKind kind = FetchKind::kInstructions;
    std::uint32_t number = 0;
    bool operator==(const FetchLine&) const = default;
};

/// Of a line that is numbered from `base`. Kernels that share an SM number lines from the first
/// one's base; what lies below it has numbers from the upper end.
constexpr std::uint64_t address_of(std::uint64_t base, std::uint32_t line, unsigned bytes) {
    return base +
           static_cast<std::uint64_t>(static_cast<std::int64_t>(static_cast<std::int32_t>(line)) *
                                      static_cast<std::int64_t>(bytes));
}

struct FetchRequest {
    FetchLine line;
    std::uint64_t address = 0;  ///< in device memory
};

/// One request a cycle leaves; a line is asked for once at a time.
class FetchUnit {
  public:
    explicit FetchUnit(engine::Tile& tile)
        : requests(tile, "fetch_requests"), replies(tile, "fetch_replies") {}

    engine::Sender<FetchRequest> requests;
    engine::Receiver<FetchLine> replies;

    /// At most so many lines are under way at one time.
    void set_most(std::uint32_t lines) { most_ = lines; }

    /// Forgets what has not been sent; nothing is under way.
    void reset() {
        LOCKSTEP_CHECK(under_way_ == 0, "{} lines of the last kernel are under way", under_way_);
        asked_.clear();
        queue_.clear();
        free_ = 0;
    }

    /// Asks for a line, from cycle `at` on.
    void ask(engine::Cycle at, const FetchRequest& request) {
        if (std::find(asked_.begin(), asked_.end(), request.line) != asked_.end()) return;
        asked_.push_back(request.line);
        const auto later = [](engine::Cycle cycle, const Item& item) { return cycle < item.at; };
        queue_.insert(std::upper_bound(queue_.begin(), queue_.end(), at, later), {at, request});
    }

    engine::Cycle next_event() const {
        if (asked_.empty()) return engine::kNever;
        return std::min(replies.next_ready(), next_send());
    }

    /// A line that has come by now.
    bool take(engine::Cycle now, FetchLine& line) {
        if (asked_.empty() || replies.next_ready() > now) return false;
        line = replies.receive(now);
        std::erase(asked_, line);
        --under_way_;
        return true;
    }
    void send(engine::Cycle now) {
        if (next_send() > now) return;
        requests.send(now, queue_.front().request);
        queue_.pop_front();
        ++under_way_;
        free_ = now + 1;
    }

  private:
    struct Item {
        engine::Cycle at;
        FetchRequest request;
    };
    engine::Cycle next_send() const {
        if (queue_.empty() || under_way_ >= most_) return engine::kNever;
        return std::max(queue_.front().at, free_);
    }

    std::uint32_t most_ = 0;
    std::uint32_t under_way_ = 0;
    std::vector<FetchLine> asked_;
    std::deque<Item> queue_;  ///< by time
    engine::Cycle free_ = 0;
};

}  // namespace lockstep::gpu
