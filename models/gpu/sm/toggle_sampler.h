// SPDX-License-Identifier: Apache-2.0
// How many bits change from one operation of a datapath to the next: the part of energy that values
// decide. Sampled: of each kSpacing instructions of a datapath two that follow each other are
// compared, lane by lane, as the datapath's lanes see them.
#pragma once

#include <array>
#include <cstdint>

#include "isa/sass/row.h"
#include "isa/sass/state.h"
#include "models/gpu/metrics/counters.h"
#include "models/gpu/sm/static_info.h"

namespace lockstep::gpu {

class ToggleSampler {
  public:
    explicit ToggleSampler(SmCounters& counters) : counters_(counters) {}

    /// Before an instruction of a math pipe is executed for warp.mask: its source registers.
    void arithmetic(unsigned sub_core, const StaticInstruction& in, sass::Warp& warp) {
        const bool is_tensor = in.pipe == Pipe::kTensor;
        Datapath& path = paths_[sub_core % kSubCores][is_tensor ? kTensor : kArithmetic];
        if (!path.is_due()) return;
        std::array<const sass::Row*, kSources> rows{};
        for (unsigned i = 0; i < in.operands && i < kSources; ++i)
            rows[i] = &warp.register_row(in.operand[i].first);
        path.see(rows, warp.mask,
                 is_tensor ? counters_.tensor_toggles : counters_.arithmetic_toggles);
    }

    /// After a memory instruction was executed for warp.mask: the register that it loaded or
    /// stored. Words go by in sectors: a lane's follows that of the eighth lane before it.
    void memory(const sass::Instruction& code, sass::Warp& warp) {
        if (memory_count_++ % kSpacing != 0) return;
        const sass::Operand operand = warp.access.is_store ? code.b : code.d;
        if (operand.row() < sass::kUniformRow) return;  // none, as of LDGSTS
        const sass::Row& data = warp.row(operand);
        for (unsigned lane = kSectorLanes; lane < sass::kWarpSize; ++lane)
            if ((warp.mask >> (lane - kSectorLanes) & warp.mask >> lane & 1) != 0)
                counters_.memory_toggles.add(data.lane[lane] ^ data.lane[lane - kSectorLanes]);
    }

  private:
    static constexpr unsigned kSubCores = 8, kSources = 3, kSpacing = 32, kSectorLanes = 8;
    enum { kArithmetic, kTensor, kDatapaths };

    class Datapath {
      public:
        /// Counts an instruction; true where it is one of a pair.
        bool is_due() { return count_++ % kSpacing < 2; }
        void see(const std::array<const sass::Row*, kSources>& rows, std::uint32_t mask,
                 ToggleCounters& counters) {
            const bool is_second = (count_ - 1) % kSpacing == 1;
            for (unsigned i = 0; i < kSources; ++i) {
                if (rows[i] == nullptr) continue;
                if (is_second) compare(*rows[i], last_[i], mask & mask_, counters);
                last_[i] = *rows[i];
            }
            mask_ = mask;
        }

      private:
        static void compare(const sass::Row& now, const sass::Row& before, std::uint32_t mask,
                            ToggleCounters& counters) {
            for (unsigned lane = 0; lane < sass::kWarpSize; ++lane)
                if ((mask >> lane & 1) != 0) counters.add(now.lane[lane] ^ before.lane[lane]);
        }

        std::uint64_t count_ = 0;
        std::uint32_t mask_ = 0;
        std::array<sass::Row, kSources> last_{};
    };

    SmCounters& counters_;
    std::array<std::array<Datapath, kDatapaths>, kSubCores> paths_;
    std::uint64_t memory_count_ = 0;
};

}  // namespace lockstep::gpu
