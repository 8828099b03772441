// SPDX-License-Identifier: Apache-2.0
// The checks of a device: hears what the emulator does and tells each check what concerns it.
#pragma once

#include <string>

#include "isa/sass/barrier_observer.h"
#include "isa/sass/table/op.h"
#include "models/gpu/check/access_checks.h"
#include "models/gpu/check/findings.h"

namespace lockstep::gpu::check {

class Checker : public sass::BarrierObserver {
  public:
    /// checks: bits of DeviceOptions::checks, at least one.
    Checker(unsigned checks, const memory::DeviceMemory& memory);

    // Device memory.
    void allocated(std::uint64_t begin, std::uint64_t bytes) { init_.allocated(begin, bytes); }
    void freed(std::uint64_t begin) { init_.freed(begin); }
    /// A kernel that is running has allocated a block: its allocator orders all who had it before.
    void kernel_allocated(std::uint64_t begin, std::uint64_t bytes) { race_.forget(begin, bytes); }
    void host_wrote(std::uint64_t begin, std::uint64_t bytes) {
        if (checks_.init) init_.host_wrote(begin, bytes);
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
        if (states_.running(warp) != warp.active) [[unlikely]]
            paths_change(warp);
        if (checks_.hazards) products(warp);
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
    sass::Op op_at(std::uint32_t pc) const;
    void paths_change(const sass::Warp& warp);
    /// What the next instruction does with registers of a warpgroup's products.
    void products(const sass::Warp& warp);
    /// After a WARPSYNC, which the last of its lanes may have come to.
    void meet(const sass::Instruction& in, const sass::Warp& warp, std::uint32_t pc,
              std::uint32_t lanes, CtaState& cta);

    const Checks checks_;
    Findings findings_;
    CtaStates states_;
    Clock clock_;
    RaceCheck race_;
    InitCheck init_;
    SyncCheck sync_;
    HazardCheck hazards_;
    ProductCheck products_;
    AccessChecks accesses_;
    const sass::Launch* launch_ = nullptr;
    std::uint32_t reserved_begin_ = 0, own_end_ = 0;  ///< of shared memory: what is the program's
    std::uint64_t ctas_ = 0;
    std::uint64_t total_ = 0;
};

}  // namespace lockstep::gpu::check
