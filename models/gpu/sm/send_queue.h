// SPDX-License-Identifier: Apache-2.0
// Requests on their way from the tags to the crossbar.
#pragma once

#include <algorithm>
#include <cstddef>
#include <deque>

#include "models/gpu/memory/message.h"

namespace lockstep::gpu {

/// In order; one request a cycle where the port takes it.
class SendQueue {
  public:
    explicit SendQueue(MemoryPort& port) : port_(port) {}

    std::size_t size() const { return queue_.size(); }
    void push(engine::Cycle ready, const MemoryRequest& request) {
        queue_.push_back({ready, request});
    }
    void advance(engine::Cycle now) {
        if (queue_.empty() || queue_.front().ready > now) return;
        if (next_ > now && next_ != engine::kNever) return;
        const MemoryRequest& request = queue_.front().request;
        if (port_.send(now, request)) {
            queue_.pop_front();
            next_ = now + 1;
        } else {
            next_ = std::max(port_.next_send(now, request), now + 1);
        }
    }
    engine::Cycle next_event() const {
        return queue_.empty() ? engine::kNever : std::max(queue_.front().ready, next_);
    }

  private:
    struct Item {
        engine::Cycle ready;
        MemoryRequest request;
    };
    MemoryPort& port_;
    std::deque<Item> queue_;
    engine::Cycle next_ = 0;  ///< kNever: at the next activation, whenever that is
};

}  // namespace lockstep::gpu
