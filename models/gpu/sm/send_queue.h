// SPDX-License-Identifier: Apache-2.0
// Requests on their way from the tags to the crossbar.
#pragma once

#include <algorithm>
#include <cstddef>

#include "models/gpu/memory/message.h"
#include "models/gpu/memory/ring.h"

namespace lockstep::gpu {

/// In order; one request a cycle where the port takes it.
class SendQueue {
  public:
    explicit SendQueue(MemoryPort& port) : port_(port) {}

    std::size_t size() const { return queue_.size(); }
    void push(engine::Cycle ready, const MemoryRequest& request) { queue_.push({ready, request}); }
    void advance(engine::Cycle now) {
        if (next_event() > now) return;
        const MemoryRequest& request = queue_.front().request;
        if (port_.send(now, request)) {
            queue_.pop();
            next_ = now + 1;
            is_refused_ = false;
        } else {
            next_ = now;
            is_refused_ = true;
        }
    }
    /// A port that refused is asked anew each time: what it knows changes with every reply and with
    /// every window of the simulation.
    engine::Cycle next_event() const {
        if (queue_.empty()) return engine::kNever;
        if (is_refused_) return std::max(next_ + 1, port_.next_send(next_, queue_.front().request));
        return std::max(queue_.front().ready, next_);
    }

  private:
    struct Item {
        engine::Cycle ready;
        MemoryRequest request;
    };

    MemoryPort& port_;
    Ring<Item> queue_;
    engine::Cycle next_ = 0;  ///< the next may leave; or when it was refused
    bool is_refused_ = false;
};

}  // namespace lockstep::gpu
