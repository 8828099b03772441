// SPDX-License-Identifier: Apache-2.0
// Misuse of shared memory beside asynchronous copies by TMA and products of warpgroups: what a
// program may get away with when these happen to be quick or late enough.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "isa/sass/tma/copy.h"
#include "models/gpu/check/observed.h"
#include "models/gpu/check/sync.h"

namespace lockstep::gpu::check {

/// Of a CTA: copies and products under way, and who wrote its shared memory by plain instructions.
struct CtaHazards {
    struct Pending {
        std::uint32_t begin = 0, end = 0;
        bool writes = false;  ///< shared memory; else it reads it
        std::uint32_t pc = 0, thread = 0;
        std::uint64_t cta = 0;  ///< linear index of the one that started it
        friend bool operator==(const Pending&, const Pending&) = default;
    };
    struct Write {
        std::uint64_t time = 0;  ///< 0: nobody wrote it
        std::uint32_t pc = 0, thread = 0;
        bool is_copied = false;  ///< by cp.async
    };
    /// By the last product of a warpgroup that read a piece.
    struct Read {
        std::uint32_t group = 0;  ///< of products, from 1 on; 0: none read it
        std::uint32_t pc = 0, thread = 0;
    };
    std::vector<Pending> pending;
    std::vector<Write> writes;          ///< by word
    std::vector<std::uint64_t> fenced;  ///< by warp: time of its last fence.proxy.async
    std::uint64_t time = 0;
    std::vector<std::vector<Read>> reads;  ///< by warpgroup and piece; empty before its first one
    std::vector<std::uint32_t> waited;     ///< by warpgroup: groups that have been waited for
};

class HazardCheck {
  public:
    using Report = std::function<void(const Misuse&)>;

    explicit HazardCheck(Report report) : report_(std::move(report)) {}

    static CtaHazards hazards(const sass::Cta& cta);

    /// A plain access of shared memory.
    void access(const Observed& access, CtaHazards& cta);
    /// FENCE.VIEW.ASYNC by a warp.
    void fence(const sass::Warp& warp, CtaHazards& cta) { cta.fenced[warp.index] = ++cta.time; }
    /// A wgmma that a warp is about to execute; `group`: how many its warp has committed before.
    void product(const sass::Warp& warp, std::uint32_t pc, std::uint32_t group, CtaHazards& cta);
    /// A warp waits for so many of the groups that it has committed.
    static void products_awaited(const sass::Warp& warp, std::uint32_t groups, CtaHazards& cta);
    /// `source` and `target` are of the CTAs whose shared memory the copy reads and writes.
    void started(const sass::AsyncCopy& copy, CtaHazards& source, CtaHazards& target);
    /// `source`: null where that CTA has ended.
    static void performed(const sass::AsyncCopy& copy, CtaHazards* source, CtaHazards& target);

  private:
    void write_under_products(std::uint32_t begin, std::uint32_t end, Misuse misuse,
                              const CtaHazards& cta) const;

    Report report_;
};

}  // namespace lockstep::gpu::check
