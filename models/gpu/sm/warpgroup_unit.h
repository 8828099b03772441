// SPDX-License-Identifier: Apache-2.0
// The products of warpgroups (wgmma) on one SM: who has arrived at which, operands from shared
// memory, the time of the four Tensor Cores.
#pragma once

#include <cstdint>
#include <deque>
#include <vector>

#include "models/gpu/sm/sm_parameters.h"
#include "sim/engine/time.h"

namespace lockstep::gpu {

class MemoryUnit;

/// What takes time in one product of a warpgroup.
struct ProductTiming {
    std::uint8_t slices = 0;        ///< of eight columns, which B is read and multiplied by
    std::uint8_t a_wavefronts = 0;  ///< 0: A is in registers
    std::uint8_t b_wavefronts = 0;  ///< of a slice
    bool closes_group = false;      ///< the last one before a commit
    std::uint16_t cycles = 0;       ///< of the Tensor Cores, the whole product
    std::uint16_t latency = 0;      ///< from the last slice's end to the results
};

/// A product begins when the last of the warpgroup's four warps has issued it, in the order in
/// which that happens. A, where it is in shared memory, then B slice by slice pass the data stage
/// of shared memory, which loads and stores use as well; a slice is multiplied when it has come and
/// the slice before is done. B is read at most `warpgroup_buffer` slices ahead, the next product's
/// A as soon as B has been read.
class WarpgroupUnit {
  public:
    static constexpr unsigned kWarps = 4;

    /// The end of a product, to be told to the four warps from slot `first` on.
    struct End {
        engine::Cycle at;
        std::uint16_t first;
        bool closes_group;
    };

    explicit WarpgroupUnit(const SmParameters& parameters) : p_(parameters) {}
    void reset();

    /// Whether a warp's product number `sequence` may be issued: there is room for one more, or
    /// others of its warpgroup have issued it. `first` is the warpgroup's first slot.
    bool accepts(std::uint16_t first, std::uint32_t sequence) const;
    /// A warp issues it; its operands are there from cycle `at` on.
    void arrive(engine::Cycle at, std::uint16_t first, std::uint32_t sequence,
                const ProductTiming& product);
    /// A product has ended. Slots of warps that accepts() refused look again.
    std::vector<std::uint16_t> end();
    void wait_for_room(std::uint16_t slot) { waiting_.push_back(slot); }

    /// The next cycle in which an operand is to be read; kNever: none.
    engine::Cycle next() const { return next_; }
    /// Reads what is due; calls ended(End) for a product whose last operand has been read.
    template <typename Ended>
    void advance(engine::Cycle now, MemoryUnit& memory, Ended&& ended) {
        while (next_ <= now) {
            End end{};
            if (read(now, memory, end)) ended(end);
        }
    }
    bool idle() const { return under_way_ == 0; }

  private:
    static constexpr unsigned kAWavefronts = 2;  ///< read at a time

    struct Gathering {
        std::uint16_t first;
        std::uint32_t sequence;
        unsigned warps;
        engine::Cycle at;
    };
    struct Reading {
        ProductTiming product;
        std::uint16_t first;
        engine::Cycle at;
        unsigned a_read = 0;  ///< wavefronts
        unsigned slice = 0;   ///< of B, the next one
    };
    bool read(engine::Cycle now, MemoryUnit& memory, End& end);

    const SmParameters& p_;
    std::vector<Gathering> gathering_;  ///< not all four warps have come
    std::deque<Reading> reading_;       ///< in order; the first one's operands are being read
    std::deque<engine::Cycle> begun_;   ///< when the newest slices begin to be multiplied
    std::vector<std::uint16_t> waiting_;
    unsigned under_way_ = 0;  ///< products that have not ended
    engine::Cycle tensor_free_ = 0;
    engine::Cycle next_ = engine::kNever;
};

}  // namespace lockstep::gpu
