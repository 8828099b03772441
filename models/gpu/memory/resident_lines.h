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
    /// `copied`: what is read by all SMs and never written, as code: both partitions hold it.
    explicit ResidentLines(std::vector<Range> ranges, std::vector<Range> copied = {})
        : copied_(merged(copied)) {
        ranges.insert(ranges.end(), copied.begin(), copied.end());
        ranges_ = merged(std::move(ranges));
    }

    bool holds(std::uint64_t line) const { return is_in(ranges_, line); }
    bool holds_copy(std::uint64_t line) const { return is_in(copied_, line); }
    bool empty() const { return ranges_.empty(); }

  private:
    static std::vector<Range> merged(std::vector<Range> ranges) {
        std::sort(ranges.begin(), ranges.end());
        std::vector<Range> disjoint;
        for (const Range& range : ranges)
            if (!disjoint.empty() && range.first <= disjoint.back().second)
                disjoint.back().second = std::max(disjoint.back().second, range.second);
            else
                disjoint.push_back(range);
        return disjoint;
    }
    static bool is_in(const std::vector<Range>& ranges, std::uint64_t line) {
        const auto next =
            std::upper_bound(ranges.begin(), ranges.end(), line,
                             [](std::uint64_t at, const Range& range) { return at < range.first; });
        return next != ranges.begin() && line < std::prev(next)->second;
    }

    std::vector<Range> ranges_, copied_;  ///< ascending, disjoint
};

}  // namespace lockstep::gpu
