// SPDX-License-Identifier: Apache-2.0
// Stores that write sectors in part, held so that later ones of the same warp can complete them.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <deque>

#include "models/gpu/memory/message.h"

namespace lockstep::gpu {

/// They leave in the order in which they came.
class StoreBuffer {
  public:
    bool is_empty() const { return stores_.empty(); }
    std::size_t size() const { return stores_.size(); }
    /// Holds a store that could leave from a cycle on.
    void hold(engine::Cycle ready, const MemoryRequest& request, std::uint16_t warp) {
        newest(request.line) = {request.line, warp, gone_ + stores_.size()};
        stores_.push_back({ready, request});
    }
    /// The warp's store to a line, if it is the last one to it and still here; else null.
    MemoryRequest* find(std::uint64_t line, std::uint16_t warp) {
        const Newest& store = newest(line);
        if (store.line != line || store.warp != warp || store.number < gone_ ||
            store.number >= gone_ + stores_.size())
            return nullptr;
        return &stores_[store.number - gone_].request;
    }
    struct Item {
        engine::Cycle ready;
        MemoryRequest request;
    };
    /// The one that came first of those that are here.
    const Item& first() const { return stores_.front(); }
    void remove_first() {
        stores_.pop_front();
        ++gone_;
    }

  private:
    struct Newest {
        std::uint64_t line = 0;
        std::uint16_t warp = 0;
        std::uint64_t number = ~std::uint64_t{0};  ///< in the order in which they came
    };
    Newest& newest(std::uint64_t line) { return newest_[line % newest_.size()]; }

    std::deque<Item> stores_;
    std::uint64_t gone_ = 0;
    std::array<Newest, 512> newest_{};
};

}  // namespace lockstep::gpu
