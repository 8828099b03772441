// SPDX-License-Identifier: Apache-2.0
// A streaming multiprocessor: sub-cores, their queues to the shared memory unit, resident CTAs.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "isa/sass/deferred_queue.h"
#include "isa/sass/store_buffer.h"
#include "models/gpu/cluster/cluster_unit.h"
#include "models/gpu/device/launch.h"
#include "models/gpu/execution/byte_probe.h"
#include "models/gpu/sm/copy_barriers.h"
#include "models/gpu/sm/event_wheel.h"
#include "models/gpu/sm/mbarrier_waits.h"
#include "models/gpu/sm/memory_queue.h"
#include "models/gpu/sm/memory_unit.h"
#include "models/gpu/sm/sm_copies.h"
#include "models/gpu/sm/sm_profile.h"
#include "models/gpu/sm/sub_core.h"
#include "models/gpu/sm/toggle_sampler.h"
#include "models/gpu/sm/warpgroup_unit.h"
#include "sim/engine/tile.h"
#include "sim/trace/trace.h"

namespace lockstep::gpu {

class SampledWaves;
class SmTrace;

/// One launch as all SMs see it; constant while it runs.
struct KernelRun {
    sass::Launch* launch = nullptr;
    const StaticTable* table = nullptr;
    std::uint32_t warps_per_cta = 0;
    std::uint32_t resident_ctas = 0;  ///< of one SM
    // Where code and constants lie in device memory.
    std::uint64_t code_address = 0, constant_address = 0;
    // What a CTA takes of an SM.
    std::uint32_t registers_per_cta = 0;
    std::uint64_t shared_per_cta = 0;            ///< bytes
    std::uint64_t shared_carve_out = 0;          ///< of an SM that has nothing else
    const trace::NameId* trace_names = nullptr;  ///< by code index; null: no trace
    SampledWaves* waves = nullptr;               ///< null: all CTAs are simulated
    /// The CTAs that are simulated, by their index in the grid, in order; null: all of the grid's.
    const std::vector<std::uint64_t>* ctas = nullptr;
    bool awaits_grid = false;  ///< griddepcontrol.wait waits for a kernel; changes between windows
};

/// A kernel on one SM.
struct ResidentGrid {
    const KernelRun* run = nullptr;
    std::uint32_t ctas = 0;  ///< announced or running
    std::uint32_t line_offset = 0, constant_offset = 0;
    // Counted where kernels share the chip.
    std::uint64_t instructions = 0, thread_instructions = 0;
};

/// The end of a CTA: its slot is free.
struct CtaEnd {
    engine::Cycle at = 0;
    const KernelRun* run = nullptr;
};

class Sm final : public engine::Tile, public MemoryListener, public ClusterListener {
  public:
    Sm(engine::Simulation& simulation, std::string name, engine::ClockDomain clock,
       std::uint16_t index, const config::Machine& machine, const SmParameters& parameters);

    /// Joins the crossbar; before the first kernel.
    void connect(MemoryPort& port) { port_ = &port; }
    /// Its way to code and constants; to be connected as well.
    FetchUnit& fetch_unit() { return fetch_; }
    /// Joins the network of its GPC; without one it runs no clusters. Before the first kernel.
    void connect(ClusterNetwork& network, const ClusterParameters& parameters);
    /// Records what happens from now on; null: nothing.
    void trace_to(SmTrace* trace) {
        trace_ = trace;
        is_watched_ = trace_ != nullptr || profile_ != nullptr;
    }
    /// Counts by instruction from the next kernel on that comes to an idle chip.
    void count_by_instruction();
    /// Null: nothing is counted by instruction.
    SmProfile* profile() const { return profile_.get(); }
    /// Samples from now on which bits toggle.
    void count_toggles() {
        toggles_ = std::make_unique<ToggleSampler>(counters_);
        is_probed_ = true;
    }

    /// The chip was idle and is to run kernels from cycle `now` on: counters are zero, and caches
    /// empty when the first CTA comes. Costs nothing without a CTA.
    void begin_kernels(engine::Cycle now);
    /// Completes the counters when all CTAs of all kernels have ended.
    void end_kernels();
    /// From now on what instructions each kernel executes is counted apart.
    void share();
    /// Whether a CTA of the kernel may be started now, beside those that are here.
    bool fits(const KernelRun& run) const;
    /// How many may, at least.
    std::uint32_t room(const KernelRun& run) const;
    /// Warps of CTAs that are here or announced.
    std::uint32_t warps() const;
    /// A CTA that fits is to start at a cycle, as a member of a cluster where there is one. From
    /// outside of windows only; wakes the SM.
    void start_cta(const KernelRun& run, std::uint64_t linear_index, engine::Cycle at,
                   sass::ClusterMember* member = nullptr);
    /// CTAs that ended since this was last asked.
    std::vector<CtaEnd> take_ended() { return std::exchange(ended_, {}); }
    /// What has been counted of a kernel; nullptr: it was not here. Until forgotten.
    const ResidentGrid* grid(const KernelRun& run) const;
    /// The kernel has ended.
    void forget(const KernelRun& run);
    bool has_ended() const { return !ended_.empty(); }
    /// CTAs that let dependent launches begin since this was last asked: by
    /// griddepcontrol.launch_dependents, or by their end.
    bool has_triggered() const { return !triggered_.empty(); }
    std::vector<CtaEnd> take_triggered() { return std::exchange(triggered_, {}); }
    /// What the kernel's threads have waited for by griddepcontrol.wait has ended.
    void end_grid_wait(const KernelRun& run);
    engine::Cycle last_end() const { return last_end_; }

    // engine::Tile
    engine::Cycle advance(engine::Cycle from, engine::Cycle until) override;
    bool finished() const override {
        return resident_ == 0 && starts_.empty() && (cluster_ == nullptr || cluster_->idle());
    }
    void at_window_end() override;
    std::string explain_wait() const override;

    // What sub-cores use.
    engine::Cycle now() const { return now_; }
    WarpContext& context(unsigned sub_core, unsigned local) {
        return contexts_[local * parameters_.sub_cores + sub_core];
    }
    SmCounters& counters() { return counters_; }
    const SmCounters& counters() const { return counters_; }
    MemoryCounters& memory_counters() { return memory_counters_; }
    /// Of the last kernel's carve-out; nothing where none has run.
    L1Queues l1_queues() const;
    ClusterCounters cluster_counters() const {
        return cluster_ == nullptr ? ClusterCounters{} : cluster_->counters();
    }
    void enter(WarpContext& context, WarpState state, engine::Cycle now) {
        counters_.warp_cycles[static_cast<unsigned>(context.state)] += now - context.since;
        if (is_watched_) [[unlikely]]
            watch_state(context, state, now);
        context.state = state;
        context.since = now;
    }
    void wake_later(unsigned sub_core, unsigned local, engine::Cycle at);
    bool memory_queue_free(unsigned sub_core) const { return !queues_[sub_core].full(); }
    engine::Cycle shared_fp64_free() const { return fp64_free_; }
    void note_fp64(engine::Cycle free) { fp64_free_ = free; }
    /// True where the warp's next instruction cannot be executed yet, although it could issue: not
    /// before the window's end, or before copies have come. The warp will be looked at again then,
    /// or the instruction executed.
    bool must_wait(unsigned sub_core, unsigned local, const StaticInstruction& in);
    /// Executes the warp's next instruction and says what keeps the warp from its next one.
    void execute(unsigned sub_core, unsigned local, const StaticInstruction& in, engine::Cycle now);

    // At a window's end, when all SMs' stores are committed.
    sass::DeferredQueue& deferred() { return deferred_; }
    /// Does what has waited. Throws LocatedFault.
    void perform(const sass::Deferred& deferred);
    /// A copy by another SM has written shared memory of a CTA here.
    void copy_came(const sass::AsyncCopy& copy, engine::Cycle at);
    /// All that waited has been performed: the warps that were held back go on.
    void end_waiting();
    /// Allocations may have gone.
    void forget_extents();

    /// A number for the state of each warp slot, 0 where there is no warp.
    void append_warp_states(std::vector<std::uint64_t>& states) const;
    /// Each of its warps waits at a barrier, or asks mbarriers for ever if nobody changes them.
    bool never_goes_on() const;
    /// The same of those that a try_wait holds, whose state stands still until it gives up.
    bool waits_in_vain() const;
    /// How often something has happened that others may notice: a warp has come or gone, or has
    /// written memory. Whether a write has changed anything, is known while changes are observed.
    std::uint64_t arrivals() const { return counters_.warps + ended_warps_; }
    std::uint64_t writes() const {
        return counters_.global_store + counters_.shared_store + counters_.local_store +
               counters_.atomics;
    }
    void observe_changes(bool observes) {
        observes_changes_ = observes;
        is_probed_ = observes || toggles_ != nullptr;
    }
    std::uint64_t changes() const { return changes_; }
    void note_change() { ++changes_; }

    /// One of the CTAs that it holds, for the report of a fault; null: there is none.
    const sass::Cta* resident_cta() const;

  private:
    enum class EventKind : std::uint8_t { kWake, kRelease, kMemoryDone, kProductEnd };
    struct Event {
        EventKind kind;
        std::uint8_t counter = 0;
        std::uint16_t warp = 0;  ///< slot
        std::uint16_t copy_group = 0;
        bool is_store = false, is_copy = false, is_bulk_copy = false;
        bool closes_group = false;  ///< of products
        std::uint64_t age = 0;      ///< of the warp: a release may outlive it
    };
    static constexpr std::uint32_t kAnyWarps = ~0u;
    struct Start {
        engine::Cycle at;
        std::uint64_t linear_index;
        ResidentGrid* grid;
        std::uint32_t first_warp;  ///< reserved, or kAnyWarps: to be found when it starts
        sass::ClusterMember* member;
    };
    struct CtaSlot {
        CtaStorage* storage = nullptr;  ///< null: no CTA has been here since the chip was idle
        std::uint64_t launch = 0;       ///< that the storage was last prepared for
        ResidentGrid* grid = nullptr;
        std::uint32_t first_warp = 0;
        std::uint32_t warps_left = 0;  ///< with threads or memory instructions under way
        bool is_used = false;
        bool has_triggered = false;  ///< dependent launches
    };

    /// Warps that a sub-core holds, and since when it has had some.
    struct Presence {
        std::uint32_t warps = 0;
        engine::Cycle since = 0;
    };

    // MemoryListener
    void sources_read(engine::Cycle at, const MemoryInstructionHeader& instruction) override;
    void written_back(engine::Cycle at, const MemoryInstructionHeader& instruction) override;
    void remote_accepted(engine::Cycle at, const MemoryInstructionHeader& instruction) override;

    // ClusterListener
    engine::Cycle serve_remote(engine::Cycle now, const sass::RemoteOperation& operation) override;
    void remote_done(engine::Cycle now, const MemoryInstructionHeader& instruction) override;
    void cluster_released(engine::Cycle now, sass::Cta& cta) override;

    void prepare(const KernelRun& run, engine::Cycle now);
    bool can_change_carve_out() const;
    std::uint32_t find_warps(std::uint32_t count) const;
    void reserve_warps(std::uint32_t first, std::uint32_t count, bool is_used);
    ResidentGrid& resident(const KernelRun& run);
    void take_fetched(engine::Cycle now);
    void watch_state(const WarpContext& context, WarpState state, engine::Cycle now);
    void watch_issue(std::uint16_t slot, const WarpContext& context, const StaticInstruction& in,
                     std::uint32_t pc, std::uint32_t mask, engine::Cycle now);
    void execute_probed(unsigned sub_core, const StaticInstruction& in,
                        const sass::Instruction& code, sass::Warp& warp);
    void process(engine::Cycle now);
    engine::Cycle next_event() const;
    void begin_cta(const Start& start);
    void handle(const Event& event);
    void arbitrate(engine::Cycle now);
    void update_memory_next(engine::Cycle now);
    void hold(WarpContext& context, unsigned counter, bool is_long);
    void release(std::uint16_t slot, unsigned counter, engine::Cycle now);
    void release_later(std::uint16_t slot, std::uint8_t counter, engine::Cycle at);
    void wake_slot(std::uint16_t slot, engine::Cycle at);
    void close_copy_group(std::uint16_t slot, WarpContext& context, std::uint16_t barrier,
                          engine::Cycle now);
    void finish_copies(std::uint16_t slot, WarpContext& context, engine::Cycle now);
    void end_copy(std::uint16_t barrier, engine::Cycle now);
    /// The slot of the first warp of a warp's warpgroup.
    static std::uint16_t first_of_warpgroup(const WarpContext& context, std::uint16_t slot) {
        return static_cast<std::uint16_t>(slot - context.warp->index % WarpgroupUnit::kWarps);
    }
    void issue_product(WarpContext& context, std::uint16_t slot, const StaticInstruction& in,
                       engine::Cycle now);
    void end_product(const Event& event);
    void end_bulk_copy(std::uint16_t slot, std::uint16_t number, engine::Cycle now);
    void end_bulk_groups(std::uint16_t slot, engine::Cycle at);
    bool awaits_phase(std::uint16_t slot, WarpContext& context, const sass::Instruction& code);
    void check_mbarriers(std::uint32_t cta_slot, engine::Cycle at);
    void count(const WarpContext& context, const StaticInstruction& in, unsigned lanes);
    void prefetch_operands(const WarpContext& context) const;
    void prefetch_warps() const;
    void note_remote(const StaticInstruction& in, WarpContext& context, MemoryInstruction& entry);
    void post_remote(engine::Cycle now);
    void trigger_dependents(CtaSlot& cta, engine::Cycle now);
    void enqueue_memory(WarpContext& context, std::uint16_t slot, const StaticInstruction& in,
                        unsigned sub_core, std::uint32_t pc, engine::Cycle now);
    void request_constants(const StaticInstruction& in, const MemoryInstructionInfo& info,
                           const WarpContext& context, MemoryInstruction& entry, engine::Cycle at);
    void path_ended(WarpContext& context, std::uint16_t slot, const StaticInstruction& in,
                    engine::Cycle ready, engine::Cycle now);
    void wake_waiting(const CtaSlot& cta, engine::Cycle at);
    void retire_if_done(WarpContext& context, engine::Cycle now);
    engine::Cycle sleep_cycles(const WarpContext& context, std::uint32_t pc) const;

    const config::Machine& machine_;
    const SmParameters& parameters_;
    const std::uint16_t index_;
    std::vector<std::unique_ptr<ResidentGrid>> grids_;
    bool is_shared_ = false;
    std::uint64_t code_base_ = 0, constant_base_ = 0;  ///< that lines are numbered from
    sass::GlobalMemory* global_ = nullptr;

    FetchUnit fetch_;
    L1InstructionCache l1_instructions_;
    ConstantCache indexed_constants_;  ///< what LDC reads
    /// Lines that LDCs wait for, and the numbers by which the memory unit knows of them.
    std::vector<std::pair<std::uint32_t, std::uint16_t>> awaited_constants_;
    std::vector<SubCore> sub_cores_;
    std::vector<WarpContext> contexts_;  ///< by slot; slot % sub_cores is the sub-core
    std::vector<MemoryQueue> queues_;
    MemoryPort* port_ = nullptr;
    bool is_watched_ = false;  ///< by a trace or a profile
    bool is_probed_ = false;   ///< what executes: toggles, changes of memory
    bool observes_changes_ = false;
    std::uint64_t changes_ = 0;  ///< of memory, while they were observed
    ByteProbe probe_;
    SmTrace* trace_ = nullptr;                ///< null: not traced
    std::unique_ptr<SmProfile> profile_;      ///< null: nothing is counted by instruction
    std::unique_ptr<ToggleSampler> toggles_;  ///< null: not counted
    std::uint64_t traced_ = 0;                ///< the last issued instruction's number in the trace
    std::unique_ptr<MemoryUnit> memory_;
    std::unique_ptr<ClusterUnit> cluster_;  ///< null: no clusters
    EventWheel<Event> wheel_;
    sass::StoreBuffer stores_;              ///< global stores of the current window
    sass::DeferredQueue deferred_;          ///< atomics and system calls of the current window
    std::vector<std::uint16_t> held_back_;  ///< slots of warps that wait for its end
    engine::Cycle window_end_ = 0;
    CopyBarriers copy_barriers_;
    WarpgroupUnit warpgroups_;
    SmCopies copies_;
    MbarrierWaits mbarrier_waits_;

    bool is_prepared_ = false;            ///< since the chip was idle
    std::uint64_t memory_carve_out_ = 0;  ///< that the memory unit was made for
    std::vector<CtaSlot> ctas_;
    std::vector<std::unique_ptr<CtaStorage>> storages_;  ///< by CTA slot, from kernel to kernel
    std::vector<bool> warps_used_;                       ///< by slot
    std::vector<Start> starts_;                          ///< the next one last
    std::vector<CtaEnd> ended_, triggered_;
    std::vector<std::uint16_t> grid_waiters_;  ///< slots of warps at griddepcontrol.wait
    std::uint32_t resident_ = 0;
    std::uint64_t ages_ = 0;
    std::uint64_t ended_warps_ = 0;
    engine::Cycle active_since_ = 0, last_end_ = 0;
    std::vector<Presence> presence_;  ///< by sub-core
    engine::Cycle now_ = 0;
    engine::Cycle fp64_free_ = 0;
    engine::Cycle arbiter_free_ = 0;
    engine::Cycle memory_next_ = engine::kNever;  ///< when the arbiter can do something
    engine::Cycle warp_start_free_ = 0;
    bool has_issued_ = false;

    SmCounters counters_;
    MemoryCounters memory_counters_;
};

}  // namespace lockstep::gpu
