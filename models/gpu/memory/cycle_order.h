// SPDX-License-Identifier: Apache-2.0
// Orders what happens in one window by its cycle, without comparing.
#pragma once

#include <algorithm>
#include <span>
#include <vector>

#include "sim/engine/time.h"

namespace lockstep::gpu {

/// Counts how many fall on each cycle: a window has fewer cycles than a sort has comparisons.
class CycleOrder {
  public:
    /// Positions of the items with `from` <= at < `until` by cycle; within one cycle by
    /// `before(a, b)`, else as they stand. Good until the next call.
    template <typename Item, typename Before>
    std::span<const std::uint32_t> of(const std::vector<Item>& items, engine::Cycle from,
                                      engine::Cycle until, Before before) {
        begin_.assign(until - from + 1, 0);
        std::uint32_t count = 0;
        for (const Item& item : items) {
            if (item.at >= until) continue;
            ++begin_[slot(item.at, from) + 1];
            ++count;
        }
        for (std::size_t i = 1; i < begin_.size(); ++i) begin_[i] += begin_[i - 1];
        order_.resize(count);
        for (std::uint32_t i = 0; i < items.size(); ++i)
            if (items[i].at < until) order_[begin_[slot(items[i].at, from)]++] = i;
        // Few fall on one cycle, and most of these stand in order.
        for (std::uint32_t i = 1; i < count; ++i)
            for (std::uint32_t j = i; j > 0; --j) {
                const Item &a = items[order_[j - 1]], &b = items[order_[j]];
                if (a.at < b.at || !before(b, a)) break;
                std::swap(order_[j - 1], order_[j]);
            }
        return order_;
    }

  private:
    static std::size_t slot(engine::Cycle at, engine::Cycle from) {
        return at < from ? 0 : at - from;
    }

    std::vector<std::uint32_t> begin_, order_;
};

}  // namespace lockstep::gpu
