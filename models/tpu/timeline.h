// SPDX-License-Identifier: Apache-2.0
// What a matrix unit did when, without gaps.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace lockstep::tpu {

enum class ArrayState : std::uint8_t {
    kActive,       ///< vectors stream
    kWeightStall,  ///< the next tile has not arrived
    kShift,        ///< what the array holds is exchanged: weights, inputs or sums shift
    kNonMatrix,    ///< anything else
};
inline constexpr std::size_t kArrayStates = 4;

class Timeline {
  public:
    using Cycle = std::uint64_t;
    struct Totals {
        std::array<Cycle, kArrayStates> cycles{};  ///< by state
        Cycle others = 0;                          ///< of the active ones: streams of other steps
        Cycle operator[](ArrayState state) const { return cycles[std::size_t(state)]; }
    };

    /// From the end of what was added before up to `end`, for an instruction of step `step`.
    void add(Cycle end, ArrayState state, std::uint32_t step) {
        if (end <= this->end()) return;
        const bool same = !pieces_.empty() && pieces_.back().state == state &&
                          (pieces_.back().step == step || state != ArrayState::kActive);
        if (same)
            pieces_.back().end = end;
        else
            pieces_.push_back({end, state, step});
    }
    Cycle end() const { return pieces_.empty() ? 0 : pieces_.back().end; }

    /// Cycles between the boundaries, which ascend and end the steps: one entry each, the first
    /// from 0.
    std::vector<Totals> cut(const std::vector<Cycle>& boundaries) const {
        std::vector<Totals> totals(boundaries.size());
        std::size_t piece = 0;
        Cycle at = 0;
        for (std::size_t i = 0; i < boundaries.size(); ++i)
            while (at < boundaries[i] && piece < pieces_.size()) {
                const Cycle to =
                    pieces_[piece].end < boundaries[i] ? pieces_[piece].end : boundaries[i];
                totals[i].cycles[static_cast<std::size_t>(pieces_[piece].state)] += to - at;
                if (pieces_[piece].state == ArrayState::kActive && pieces_[piece].step != i)
                    totals[i].others += to - at;
                at = to;
                if (pieces_[piece].end == at) ++piece;
            }
        return totals;
    }

  private:
    struct Piece {
        Cycle end;
        ArrayState state;
        std::uint32_t step;
    };
    std::vector<Piece> pieces_;
};

}  // namespace lockstep::tpu
