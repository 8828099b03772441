// SPDX-License-Identifier: Apache-2.0
// GCC, the cache of a GPC for code and constants, behind the SMs' own and before L2.
#pragma once

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "models/gpu/chip/gcc_parameters.h"
#include "models/gpu/memory/crossbar_port.h"
#include "models/gpu/metrics/counters.h"
#include "models/gpu/sm/fetch_unit.h"
#include "models/gpu/sm/send_queue.h"
#include "models/gpu/sm/tag_array.h"

namespace lockstep::gpu {

class Gcc final : public engine::Tile {
  public:
    /// `number`: of its port at the crossbar, after the SMs'.
    Gcc(engine::Simulation& simulation, std::string name, engine::ClockDomain clock,
        std::uint16_t number, const GccParameters& parameters);

    CrossbarPort& port() { return port_; }
    /// Before the first run.
    void connect(FetchUnit& sm);

    /// Forgets what it holds; nothing is under way.
    void begin_kernel();
    // A launch asks ahead, at `at`
    /// For its code's first lines.
    void prefetch_code(engine::Cycle at, std::uint64_t address, std::uint64_t bytes);
    /// For its parameters.
    void prefetch_constants(engine::Cycle at, std::uint64_t address, std::uint64_t bytes);
    /// Bytes of a kernel's code, of so many, that its launch brings.
    std::uint64_t prefetched(std::uint64_t bytes) const {
        return std::min(bytes, parameters_.code_prefetch);
    }
    const GccCounters& counters() const { return counters_; }

    engine::Cycle advance(engine::Cycle from, engine::Cycle until) override;
    bool finished() const override;
    std::string explain_wait() const override;

  private:
    void prefetch(engine::Cycle at, std::uint64_t address, std::uint64_t bytes);
    struct Link {
        Link(engine::Tile& tile, std::size_t number)
            : requests(tile, fmt::format("fetch_requests{}", number)),
              replies(tile, fmt::format("fetch_replies{}", number)) {}
        engine::Receiver<FetchRequest> requests;
        engine::Sender<FetchLine> replies;
    };
    struct Waiter {
        std::uint32_t link = 0;
        FetchLine line;
    };
    struct Arrival {
        engine::Cycle at = 0;
        std::uint32_t link = 0;
        FetchRequest request;
    };
    /// A line that L2 has been asked for.
    struct Miss {
        std::uint64_t line = 0;
        std::uint8_t missing = 0;  ///< sectors; 0: the entry is free
        std::vector<Waiter> waiters;
    };

    void gather(engine::Cycle until);
    engine::Cycle next_arrival() const;
    void look_up(engine::Cycle now, const Arrival& arrival);
    Miss* find_miss(std::uint64_t line);
    Miss& begin_miss(engine::Cycle now, std::uint64_t line);
    void take(engine::Cycle now, const MemoryReply& reply);

    const GccParameters& parameters_;
    CrossbarPort port_;
    SendQueue queue_;
    TagArray tags_;
    std::vector<std::unique_ptr<Link>> links_;
    std::vector<Arrival> arrivals_;  ///< by time; the first `done_` have been served
    std::size_t done_ = 0;
    std::vector<Miss> misses_;
    std::uint32_t missing_ = 0;
    engine::Cycle free_ = 0;
    GccCounters counters_;
};

}  // namespace lockstep::gpu
