// SPDX-License-Identifier: Apache-2.0
// Lines that L2 holds when a kernel begins, as ranges: where what brought them was not simulated.
#pragma once

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

namespace lockstep::gpu {

class ResidentLines {
  public:
    /// [first, last) of lines; may overlap.
    using Range = std::pair<std::uint64_t, std::uint64_t>;

    ResidentLines() = default;
    explicit ResidentLines(std::vector<Range> ranges) {
        std::sort(ranges.begin(), ranges.end());
        for (const Range& range : ranges)
            if (!ranges_.empty() && range.first <= ranges_.back().second)
                ranges_.back().second = std::max(ranges_.back().second, range.second);
            else
                ranges_.push_back(range);
    }

    bool holds(std::uint64_t line) const {
        const auto next =
            std::upper_bound(ranges_.begin(), ranges_.end(), line,
                             [](std::uint64_t at, const Range& range) { return at < range.first; });
        return next != ranges_.begin() && line < std::prev(next)->second;
    }
    bool empty() const { return ranges_.empty(); }

  private:
    std::vector<Range> ranges_;  ///< ascending, disjoint
};

}  // namespace lockstep::gpu
