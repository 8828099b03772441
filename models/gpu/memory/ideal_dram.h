// SPDX-License-Identifier: Apache-2.0
// A DRAM channel without limits (`ideal.dram`): every request finds its row open and the bus free,
// whatever else is under way. What activations, the bus and queues cost a kernel is the difference
// to the real one.
#pragma once

#include <vector>

#include "models/memory/dram/statistics.h"
#include "sim/engine/time.h"

namespace lockstep::gpu {

template <typename Transfer>
class IdealDram {
  public:
    struct Completion {
        engine::Cycle at;
        Transfer transfer;
    };

    IdealDram(engine::Cycle latency, std::uint32_t sector_bytes)
        : latency_(latency), sector_bytes_(sector_bytes) {}

    /// `sectors`: how many.
    void request(engine::Cycle at, const Transfer& transfer, std::uint32_t sectors, bool is_read) {
        done_.push_back({at + latency_, transfer});
        (is_read ? statistics_.reads : statistics_.writes) += sectors;
        (is_read ? statistics_.bytes_read : statistics_.bytes_written) +=
            std::uint64_t{sectors} * sector_bytes_;
    }
    /// Hands over all that was asked for: when it is done is known at once.
    template <typename Take>
    void advance(const Take& take) {
        for (const Completion& done : done_) take(done.at, done.transfer);
        done_.clear();
    }
    engine::Cycle next_event() const {
        return done_.empty() ? engine::kNever : done_.front().at - latency_;
    }
    bool idle() const { return done_.empty(); }
    const memory::dram::Statistics& statistics() const { return statistics_; }

  private:
    engine::Cycle latency_;
    std::uint32_t sector_bytes_;
    std::vector<Completion> done_;
    memory::dram::Statistics statistics_;
};

}  // namespace lockstep::gpu
