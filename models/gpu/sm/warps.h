// SPDX-License-Identifier: Apache-2.0
// The warps of an SM by slot: what state each is in and since when, its dependence counters, and
// the events that lie ahead of it. Slot s belongs to sub-core s % sub_cores.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "models/gpu/sm/event_wheel.h"
#include "models/gpu/sm/sm_watch.h"
#include "models/gpu/sm/warp_context.h"
#include "sim/error/error.h"

namespace lockstep::gpu {

class SubCore;

enum class EventKind : std::uint8_t {
    kWake,        ///< the warp is to be looked at
    kWaitEnd,     ///< its wait for an mbarrier times out, unless it has ended before
    kRelease,     ///< of a dependence counter
    kMemoryDone,  ///< a memory instruction has been written back, or performed
    kStoreSent,   ///< a store or a reduction has left for L2
    kProductEnd   ///< of a warpgroup
};

struct Event {
    EventKind kind;
    std::uint8_t counter = 0;
    std::uint16_t warp = 0;  ///< slot
    std::uint16_t copy_group = 0;
    bool is_store = false, is_copy = false, is_bulk_copy = false;
    bool was_sent = false;      ///< a store that has left before
    bool closes_group = false;  ///< of products
    std::uint64_t age = 0;      ///< of the warp: a release may outlive it
};

class Warps {
  public:
    Warps(const std::string& sm, const SmParameters& parameters, SmCounters& counters,
          SmWatch& watch);
    /// Those that issue; before the first warp comes.
    void connect(std::vector<SubCore>& sub_cores) { sub_cores_ = &sub_cores; }

    /// The SM's cycle.
    engine::Cycle now() const { return now_; }
    void set_now(engine::Cycle now) { now_ = now; }
    /// The SM was idle: nothing lies ahead.
    void begin_kernel(engine::Cycle now) {
        now_ = now;
        events.reset(now);
    }

    unsigned sub_cores() const { return parameters_.sub_cores; }
    WarpContext& operator[](std::size_t slot) { return contexts_[slot]; }
    WarpContext& of(unsigned sub_core, unsigned local) {
        return contexts_[local * parameters_.sub_cores + sub_core];
    }
    unsigned sub_core_of(const WarpContext& context) const {
        return context.slot % parameters_.sub_cores;
    }
    std::span<WarpContext> all() { return contexts_; }
    std::span<const WarpContext> all() const { return contexts_; }
    /// A warp comes to a free slot.
    WarpContext& begin(std::uint16_t slot);

    void enter(WarpContext& context, WarpState state, engine::Cycle now) {
        counters_.warp_cycles[static_cast<unsigned>(context.state)] += now - context.since;
        if (watch_.is_watched()) [[unlikely]]
            watch_.state(context, state, now);
        context.state = state;
        context.since = now;
    }

    /// The same, of the instruction that it has yet to issue.
    void enter_before(WarpContext& context, WarpState state, engine::Cycle now) {
        enter(context, state, now);
        if (watch_.is_watched()) [[unlikely]]
            watch_.came_to(context);
    }

    /// Its sub-core looks at the warp in cycle `at`, now or later.
    void wake(const WarpContext& context, engine::Cycle at);
    /// The same, further ahead than sub-cores keep.
    void wake_later(const WarpContext& context, engine::Cycle at) {
        events.schedule(at, {.kind = EventKind::kWake, .warp = context.slot, .age = context.age});
    }
    /// The same, if it then still waits for an mbarrier until that cycle (try_wait_end).
    void end_wait_later(const WarpContext& context) {
        events.schedule(context.try_wait_end,
                        {.kind = EventKind::kWaitEnd, .warp = context.slot, .age = context.age});
    }

    /// Dependence counters. `is_long`: for global or local memory.
    void hold(WarpContext& context, unsigned counter, bool is_long) {
        LOCKSTEP_CHECK(context.counter[counter] < kCounterMax,
                       "{}: dependence counter SB{} of a warp overflows", sm_, counter);
        ++context.counter[counter];
        if (is_long) context.long_mask |= static_cast<std::uint8_t>(1u << counter);
    }
    void release(WarpContext& context, unsigned counter);
    void release_later(const WarpContext& context, std::uint8_t counter, engine::Cycle at) {
        events.schedule(at, {.kind = EventKind::kRelease,
                             .counter = counter,
                             .warp = context.slot,
                             .age = context.age});
    }

    EventWheel<Event> events;

  private:
    const std::string& sm_;
    const SmParameters& parameters_;
    SmCounters& counters_;
    SmWatch& watch_;
    std::vector<WarpContext> contexts_;
    std::vector<SubCore>* sub_cores_ = nullptr;
    engine::Cycle now_ = 0;
    std::uint64_t ages_ = 0;
};

}  // namespace lockstep::gpu
