// SPDX-License-Identifier: Apache-2.0
// What lies between the tags of the L1 and its data stage: loads and atomics in the order in which
// they passed the tags, until their data are there and the data stage takes them. Tags run ahead of
// data by as much as the queue holds, so that misses are asked for while hits are still served.
#pragma once

#include <cstdint>
#include <deque>

#include "models/gpu/memory/ring.h"
#include "sim/config/schema.h"

namespace lockstep::gpu {

/// Who may overtake whom on the way to the data stage.
enum class ReturnOrder : std::uint8_t {
    kAny,     ///< whose data are there goes
    kMisses,  ///< misses keep their order, hits overtake them
    kAll,     ///< nothing overtakes
};

inline constexpr config::Choice kReturnOrders[] = {
    {"any", "nobody"},
    {"misses", "they alone: hits overtake them"},
    {"all", "everybody"},
};

class LatencyFifo {
  public:
    explicit LatencyFifo(ReturnOrder order) : order_(order) {}

    std::size_t size() const { return size_; }
    /// An instruction that hits can go to the data stage without a stay here.
    bool can_be_passed() const {
        return ready_.empty() && (order_ != ReturnOrder::kAll || line_.empty());
    }

    /// A hit enters; true where nothing is before it that waits for data.
    bool add_hit(std::uint32_t instruction) {
        ++size_;
        if (order_ != ReturnOrder::kAll || line_.empty()) {
            ready_.push(instruction);
            return true;
        }
        line_.push_back({instruction, true});
        return false;
    }
    /// An instruction that waits for L2 enters; returns what arrived() is to be called with.
    std::uint64_t add_miss(std::uint32_t instruction) {
        ++size_;
        if (order_ == ReturnOrder::kAny) return instruction;
        line_.push_back({instruction, false});
        return first_ + line_.size() - 1;
    }
    /// All data of a miss are there.
    void arrived(std::uint64_t place) {
        if (order_ == ReturnOrder::kAny) {
            ready_.push(static_cast<std::uint32_t>(place));
            return;
        }
        line_[place - first_].is_ready = true;
        for (; !line_.empty() && line_.front().is_ready; ++first_) {
            ready_.push(line_.front().instruction);
            line_.pop_front();
        }
    }

    bool has_ready() const { return !ready_.empty(); }
    /// The next for the data stage.
    std::uint32_t take() {
        const std::uint32_t instruction = ready_.front();
        ready_.pop();
        --size_;
        return instruction;
    }

  private:
    struct Entry {
        std::uint32_t instruction;
        bool is_ready;
    };
    const ReturnOrder order_;
    std::deque<Entry> line_;   ///< those that keep their order and wait for data
    std::uint64_t first_ = 0;  ///< number of the first of them
    Ring<std::uint32_t> ready_;
    std::size_t size_ = 0;
};

}  // namespace lockstep::gpu
