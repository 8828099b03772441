// SPDX-License-Identifier: Apache-2.0
// Misuse of CTA-wide barriers and of warp synchronisation.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "isa/sass/state.h"
#include "models/gpu/check/observed.h"

namespace lockstep::gpu::check {

struct Misuse {
    std::uint32_t pc = 0;  ///< of the barrier
    std::uint32_t warp = 0;
    unsigned lane = 0;
    std::string what;
    // The other thread that it is about, if there is one.
    bool has_other = false;
    std::uint32_t other_pc = 0, other_thread = 0;
    std::optional<std::uint64_t> other_cta;  ///< linear index, where it is of another CTA
    std::string other_what;
    const char* check = "sync";  ///< that has found it
};

/// Who came to the barriers of a CTA from where, and where its threads have ended.
struct CtaArrivals {
    struct Arrival {
        std::uint32_t pc = 0, lanes = 0, threads = 0;
    };
    struct Barrier {
        std::vector<Arrival> of_warp;  ///< by warp; of its first lanes to come
        bool is_awaited = false;
        std::uint32_t first_warp = 0;
    };
    std::array<Barrier, 16> barrier;
    std::vector<std::array<std::uint32_t, sass::kWarpSize>> exit_pc;  ///< by warp and lane
};

class SyncCheck {
  public:
    using Report = std::function<void(const Misuse&)>;

    explicit SyncCheck(Report report) : report_(std::move(report)) {}

    static CtaArrivals arrivals(const sass::Cta& cta);

    /// is_aligned: the warp has to come as a whole (bar.sync, __syncthreads).
    void barrier_reached(const sass::Warp& warp, CtaArrivals& cta, unsigned number,
                         std::uint32_t threads, bool is_aligned);
    void barrier_completed(const sass::Cta& cta, CtaArrivals& arrivals, unsigned number);
    /// Before WARPSYNC: `masks` by lane, for the lanes that execute it.
    void warp_sync(const sass::Warp& warp, std::uint32_t pc, std::uint32_t lanes,
                   const sass::Row& masks);
    /// Lanes access shared memory of the CTA of this rank, whose threads have met no other CTA's at
    /// barrier.cluster yet: it may not have started.
    void accessed_early(const Observed& access, std::uint32_t rank);
    /// Before EXIT, for the lanes that end.
    void exited(const sass::Warp& warp, CtaArrivals& cta, std::uint32_t pc, std::uint32_t lanes);

  private:
    Report report_;
};

}  // namespace lockstep::gpu::check
