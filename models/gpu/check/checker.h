// SPDX-License-Identifier: Apache-2.0
// The checks of a device: hears what the emulator does and tells each check what concerns it.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>

#include "isa/sass/barrier_observer.h"
#include "models/gpu/check/clock.h"
#include "models/gpu/check/findings.h"
#include "models/gpu/check/hazards.h"
#include "models/gpu/check/init.h"
#include "models/gpu/check/products.h"
#include "models/gpu/check/race.h"
#include "models/gpu/check/sync.h"

namespace lockstep::gpu::check {

class Checker : public sass::BarrierObserver {
  public:
    /// checks: bits of DeviceOptions::checks, at least one.
    Checker(unsigned checks, const memory::DeviceMemory& memory);
    ~Checker() override;

    // Device memory.
    void allocated(std::uint64_t begin, std::uint64_t bytes) { init_.allocated(begin, bytes); }
    void freed(std::uint64_t begin) { init_.freed(begin); }
    void host_wrote(std::uint64_t begin, std::uint64_t bytes) {
        if (checks_init_) init_.host_wrote(begin, bytes);
    }

    /// own_shared_bytes: static and dynamic, without what the system reserves.
    void begin_launch(const sass::Launch& launch, std::uint32_t own_shared_bytes,
                      SourceLine source_line);
    /// The report, "" where nothing was found.
    std::string end_launch();
    /// Of all launches.
    std::uint64_t findings() const { return total_; }

    void begin_cta(sass::Cta& cta);
    void end_cta(const sass::Cta& cta);

    /// Before each instruction of the warp's running path.
    void begin_instruction(const sass::Warp& warp) {
        if (warp.cta != last_cta_) state(*warp.cta);
        if (running_[warp.index] != warp.active) [[unlikely]]
            paths_change(warp);
        if (checks_hazards_) products(warp);
    }
    /// Around an instruction with one of the effects sass::kIsChecked, executed for `lanes`.
    void before(const sass::Instruction& in, const sass::Warp& warp, std::uint32_t pc,
                std::uint32_t lanes);
    void after(const sass::Instruction& in, const sass::Warp& warp, std::uint32_t pc,
               std::uint32_t lanes);

    void barrier_reached(const sass::Warp& warp, unsigned number, std::uint32_t threads,
                         bool waits) override;
    void barrier_completed(const sass::Cta& cta, unsigned number) override;
    void copy_started(const sass::AsyncCopy& copy) override;
    void copy_performed(const sass::AsyncCopy& copy) override;
    void cluster_completed(const sass::Cluster& cluster) override;

  private:
    struct CtaState;

    CtaState& state(const sass::Cta& cta);
    void paths_change(const sass::Warp& warp);
    /// What the next instruction does with registers of a warpgroup's products.
    void products(const sass::Warp& warp);
    /// After a WARPSYNC, which the last of its lanes may have come to.
    void meet(const sass::Instruction& in, const sass::Warp& warp, std::uint32_t pc,
              std::uint32_t lanes, CtaState& cta);
    void memory(const sass::Instruction& in, const sass::Warp& warp, std::uint32_t pc,
                std::uint32_t lanes);
    /// An access that lanes make to shared memory of other CTAs of the cluster.
    void remote(const sass::Instruction& in, Observed access, CtaState& cta, bool is_async);
    void remote_arrival(const sass::Warp& warp, std::uint32_t lanes, CtaState& cta);
    void copy(const sass::Warp& warp, std::uint32_t pc, std::uint32_t lanes);
    /// A run of consecutive bytes that an asynchronous copy reads or writes.
    void copied(const sass::AsyncCopy& copy, sass::Space space, std::uint64_t begin,
                std::uint32_t bytes, bool is_write, CtaState& cta);
    void mbarrier(const sass::Instruction& in, const sass::Warp& warp, std::uint32_t lanes,
                  CtaState& cta);
    /// One space, told to the race and the init check.
    void access(Observed& access, CtaState& cta, bool has_result);
    void synchronise(const Observed& access, CtaState& cta, bool acquires, bool releases);

    const bool checks_race_, checks_init_, checks_sync_, checks_hazards_;
    Findings findings_;
    Clock clock_;
    RaceCheck race_;
    InitCheck init_;
    SyncCheck sync_;
    HazardCheck hazards_;
    ProductCheck products_;
    const sass::Launch* launch_ = nullptr;
    std::uint32_t reserved_begin_ = 0, own_end_ = 0;  ///< of shared memory: what is the program's
    const sass::Warp* warp_ = nullptr;                ///< whose instruction is told of
    std::uint64_t ctas_ = 0;
    std::uint64_t total_ = 0;
    std::unordered_map<const sass::Cta*, std::unique_ptr<CtaState>> states_;
    CtaState* last_ = nullptr;
    const sass::Cta* last_cta_ = nullptr;
    std::uint32_t* running_ = nullptr;  ///< of last_cta_, by warp: lanes of the path that ran last
};

}  // namespace lockstep::gpu::check
