// SPDX-License-Identifier: Apache-2.0
// What is published is the rate (columns / 2 cycles), that fewer than 64 columns with A in shared
// memory and sparse products of 256 (144 cycles, 128 with A in registers) do not reach it (Luo et
// al.), and how long results take. Reading A and B at the width of shared memory explains the
// exceptions: 16 cycles for A, a quarter of a column's cycle for B, half of one where A is sparse.
#include "models/gpu/sm/warpgroup_unit.h"

#include <algorithm>
#include <utility>

#include "models/gpu/sm/memory_unit.h"
#include "sim/error/error.h"

namespace lockstep::gpu {

using engine::Cycle;
using engine::kNever;

void WarpgroupUnit::reset() {
    gathering_.clear();
    reading_.clear();
    begun_.clear();
    waiting_.clear();
    under_way_ = 0;
    tensor_free_ = 0;
    next_ = kNever;
}

bool WarpgroupUnit::accepts(std::uint16_t first, std::uint32_t sequence) const {
    if (under_way_ < p_.warpgroup_queue) return true;
    return std::any_of(gathering_.begin(), gathering_.end(), [&](const Gathering& product) {
        return product.first == first && product.sequence == sequence;
    });
}

void WarpgroupUnit::arrive(Cycle at, std::uint16_t first, std::uint32_t sequence,
                           const ProductTiming& product) {
    auto found = std::find_if(gathering_.begin(), gathering_.end(), [&](const Gathering& other) {
        return other.first == first && other.sequence == sequence;
    });
    if (found == gathering_.end()) {
        ++under_way_;
        gathering_.push_back({first, sequence, 0, at});
        found = gathering_.end() - 1;
    }
    found->at = std::max(found->at, at);
    if (++found->warps < kWarps) return;
    if (reading_.empty()) next_ = std::max(next_ == kNever ? found->at : next_, found->at);
    reading_.push_back({product, first, found->at});
    gathering_.erase(found);
}

std::vector<std::uint16_t> WarpgroupUnit::end() {
    LOCKSTEP_CHECK(under_way_ != 0, "a warpgroup's product ends that never began");
    --under_way_;
    return std::exchange(waiting_, {});
}

bool WarpgroupUnit::read(Cycle now, MemoryUnit& memory, End& end) {
    Reading& front = reading_.front();
    const ProductTiming& product = front.product;
    if (front.a_read < product.a_wavefronts) {
        front.a_read += kAWavefronts;
        next_ = memory.read_operands(now, kAWavefronts);
        return false;
    }
    const Cycle come = memory.read_operands(now, product.b_wavefronts);
    const Cycle begin = std::max(come, tensor_free_);
    const auto after = [&](unsigned slices) { return product.cycles * slices / product.slices; };
    tensor_free_ = begin + after(front.slice + 1) - after(front.slice);
    begun_.push_back(begin);
    while (begun_.size() > p_.warpgroup_buffer) begun_.pop_front();
    next_ = begun_.size() == p_.warpgroup_buffer ? std::max(come, begun_.front()) : come;
    if (++front.slice != product.slices) return false;
    end = {tensor_free_ + product.latency, front.first, product.closes_group};
    const Cycle earliest = next_;
    reading_.pop_front();
    next_ = reading_.empty() ? kNever : std::max(earliest, reading_.front().at);
    return true;
}

}  // namespace lockstep::gpu
