// SPDX-License-Identifier: Apache-2.0
// Happens-before in a launch: which accesses the barriers, mbarriers, atomics and fences so far,
// and the convergence of warps, put before what a thread does now.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

#include "isa/sass/state.h"
#include "models/gpu/check/record.h"

namespace lockstep::gpu::check {

/// What orders the threads of one CTA.
class CtaClock {
  public:
    CtaClock(std::uint32_t cta, unsigned warps) : cta_(cta), warps_(warps), known_(warps * warps) {}

    std::uint32_t cta() const { return cta_; }

  private:
    friend class Clock;

    /// Warps that released a word of shared memory, and when the last one did.
    struct Word {
        std::uint32_t warps = 0;
        Stamp stamp = 0;
    };
    struct Barrier {
        std::vector<Stamp> known;  ///< what those that arrived knew; empty: nobody has
        std::uint32_t waiting = 0;
    };
    using Together = std::array<std::array<Stamp, sass::kWarpSize>, sass::kWarpSize>;

    Stamp& known(unsigned warp, unsigned of) { return known_[warp * warps_ + of]; }
    void join(unsigned warp, unsigned other);

    std::uint32_t cta_;
    unsigned warps_;
    Stamp all_before_ = 0;      ///< what has a smaller stamp is known to all warps
    std::vector<Stamp> known_;  ///< [w * warps + u]: what u did before this is known to w
    std::array<Barrier, 16> barrier_;
    std::unordered_map<std::uint32_t, Word> words_;    ///< by offset in shared memory
    std::vector<std::unique_ptr<Together>> together_;  ///< by warp: when two lanes parted
    Stamp fence_ = 0;        ///< the last fence that reaches beyond the CTA
    Stamp acquired_ = 0;     ///< releases of other CTAs up to this one are known
    bool has_read_ = false;  ///< global memory, since it last released
};

class Clock {
  public:
    void begin_launch();
    Stamp now() const { return now_; }

    /// True where the access comes before what the lane of the warp, on its running path, does now.
    bool is_before(const Record& record, CtaClock& cta, const sass::Warp& warp,
                   unsigned lane) const;
    /// The same of a read. Another CTA's is over where it has released anything since, be it
    /// without a fence: what depends on a value is written after the value has come. Look-back
    /// scans count on it when they write over what other CTAs have read.
    bool read_is_before(const Record& record, CtaClock& cta, const sass::Warp& warp,
                        unsigned lane) const;

    /// The lanes of `before` ran together until now, or meet now.
    void paths_change(CtaClock& cta, unsigned warp, std::uint32_t before);

    void barrier_reached(CtaClock& cta, unsigned warp, unsigned number, bool waits);
    void barrier_completed(CtaClock& cta, unsigned number, std::uint32_t live_warps);

    /// All threads of these CTAs have come to barrier.cluster.
    void cluster_barrier(std::span<CtaClock* const> ctas);

    /// Operations on words of shared memory: atomics, mbarriers.
    void release(CtaClock& cta, unsigned warp, std::uint32_t offset);
    void acquire(CtaClock& cta, unsigned warp, std::uint32_t offset);

    /// Atomics and strong accesses of global memory. What a CTA did before its last fence is known
    /// to those that acquire what it released later.
    void fence(CtaClock& cta, bool beyond_cta);
    void read_global(CtaClock& cta) { cta.has_read_ = true; }
    void release_global(CtaClock& cta, unsigned warp, std::uint64_t address);
    void acquire_global(CtaClock& cta, unsigned warp, std::uint64_t address);

    /// After an instruction that released.
    void advance() { ++now_; }

  private:
    struct Release {
        Stamp fence, release;
    };
    struct GlobalWord {
        Stamp release = 0;
        std::uint32_t cta = 0;  ///< of the last release
        std::uint32_t warps = 0;
    };

    Stamp now_ = 1;
    std::unordered_map<std::uint32_t, std::vector<Release>> releases_;  ///< by CTA
    /// By CTA: when it first released after it had read.
    std::unordered_map<std::uint32_t, std::vector<Stamp>> releases_of_reads_;
    std::unordered_map<std::uint64_t, GlobalWord> global_;  ///< by address of a word
};

}  // namespace lockstep::gpu::check
