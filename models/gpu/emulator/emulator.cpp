// SPDX-License-Identifier: Apache-2.0
// CTAs run in the order of their index. One that waits for others is set aside and taken up again
// after them, within the number of CTAs that the chip holds at once; a kernel whose CTAs cannot
// influence each other may run on several host threads.
#include "models/gpu/emulator/emulator.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <unordered_set>

#include "isa/cubin/demangle.h"
#include "models/gpu/emulator/cta_group.h"
#include "models/gpu/emulator/progress.h"
#include "models/gpu/execution/fault_report.h"
#include "models/gpu/execution/order.h"

namespace lockstep::gpu {

namespace {

/// Instructions of a CTA after which others get their turn.
constexpr std::uint64_t kCtaBudget = 1 << 22;
constexpr std::uint64_t kCooperativeCtaBudget = 1 << 14;
/// ... once some have been found to poll.
constexpr std::uint64_t kPollingBudget = 1 << 16;
/// Times that all CTAs have been found to poll what the host may write, a millisecond apart.
constexpr unsigned kVainRounds = 5000;

/// Runs the CTAs of one launch.
class Run {
  public:
    struct Parts {
        sass::Launch& launch;
        const std::vector<bool>& done;  ///< CTAs; empty: none
        CtaPool& pool;
        std::uint64_t resident;
        std::uint64_t max_instructions;
        const memory::DeviceMemory& memory;
        Progress& progress;
        check::Checker* checker;  ///< or nullptr
        bool has_peers;           ///< other devices
    };
    explicit Run(const Parts& parts)
        : launch_(parts.launch),
          done_(parts.done),
          pool_(parts.pool),
          resident_(parts.resident),
          max_instructions_(parts.max_instructions),
          memory_(parts.memory),
          progress_(parts.progress),
          checker_(parts.checker),
          has_peers_(parts.has_peers) {}

    /// One host thread: CTAs in order, those that wait set aside.
    void run_in_order(std::uint64_t cta_budget);
    /// Several host threads: each takes the next CTA and runs it to its end.
    void run_in_parallel(unsigned threads);

    InstructionCount count() const { return count_; }

    /// A kernel has freed memory that any of its CTAs may have touched. One host thread.
    void forget_extents() {
        for (CtaGroup* const group : groups_) group->forget_extents();
    }

  private:
    void check_limit(const sass::Cta& cta) const;
    /// What a group polls may be written by another thread of the program's.
    bool is_shared(const Poll& poll) const;
    /// All groups poll, and no other can start.
    [[noreturn]] void report_polling(const Poll& poll, std::uint64_t waiting,
                                     std::uint64_t left) const;
    bool is_done(std::uint64_t group) const { return !done_.empty() && done_[group]; }

    sass::Launch& launch_;
    const std::vector<bool>& done_;  ///< CTAs; empty: none
    CtaPool& pool_;
    std::uint64_t resident_;
    std::uint64_t max_instructions_;
    const memory::DeviceMemory& memory_;
    Progress& progress_;
    check::Checker* checker_;  ///< or nullptr
    bool has_peers_;
    InstructionCount count_;
    std::vector<CtaGroup*> groups_;  ///< run in order, all that there are
};

void Run::check_limit(const sass::Cta& cta) const {
    if (max_instructions_ == 0 || count_.warp < max_instructions_) return;
    throw instruction_limit_fault(cta, max_instructions_);
}

bool Run::is_shared(const Poll& poll) const {
    return std::any_of(poll.addresses.begin(), poll.addresses.end(), [this](std::uint64_t address) {
        return memory_.allocation(address).kind != memory::Kind::kDevice;
    });
}

/// Programs that are right may wait for these.
const char* whose_writes_are_missed(bool has_peers) {
    return has_peers ? "; emulated devices execute their launches one after the other, only in "
                       "cycles at the same time"
                     : "; emulated kernels run alone to their end: what the host or another stream "
                       "writes meanwhile is seen only in cycles (--mode cycle)";
}

void Run::report_polling(const Poll& poll, std::uint64_t waiting, std::uint64_t left) const {
    throw LocatedFault{{.kind = sass::FaultKind::kDeadlock,
                        .what = fmt::format(
                            "no thread can go on: the {} that {} memory that nobody is left to "
                            "change{}{}",
                            waiting == 1 ? "CTA" : fmt::format("{} CTAs", waiting),
                            waiting == 1 ? "runs polls" : "run poll",
                            left == 0 ? "" : fmt::format(", and {} CTAs wait for their room", left),
                            whose_writes_are_missed(has_peers_)),
                        .lane = poll.lane},
                       poll.cta->linear_index,
                       poll.warp,
                       poll.pc};
}

void Run::run_in_order(std::uint64_t cta_budget) {
    const std::uint64_t total = CtaGroup::count(launch_);
    const std::uint64_t size = CtaGroup::ctas(launch_);
    const std::uint64_t resident = std::max<std::uint64_t>(resident_ / size, 1);
    std::deque<std::unique_ptr<CtaGroup>> waiting;
    // Groups that have been found to poll are asked again before their turn: as long as they still
    // do, it is left out.
    std::unordered_set<const CtaGroup*> polling;
    std::uint64_t vain_turns = 0;
    unsigned vain_rounds = 0;  ///< of groups that poll what the host may write
    bool polls_shared = false;
    Poll poll;
    std::vector<std::unique_ptr<CtaGroup>> spare;
    std::uint64_t next = 0;
    if (max_instructions_ != 0)
        cta_budget = std::min(cta_budget, std::max<std::uint64_t>(max_instructions_ / 4, 1));
    while (next < total || !waiting.empty()) {
        if (next < total && is_done(next)) {
            ++next;
            continue;
        }
        std::unique_ptr<CtaGroup> group;
        if (next < total && waiting.size() < resident) {
            if (spare.empty()) {
                group = std::make_unique<CtaGroup>(launch_, pool_);
                groups_.push_back(group.get());
            } else {
                group = std::move(spare.back());
                spare.pop_back();
            }
            group->start(next++, checker_);
        } else {
            group = std::move(waiting.front());
            waiting.pop_front();
            if (polling.contains(group.get()) && group->polls(poll)) {
                waiting.push_back(std::move(group));
                polls_shared |= is_shared(poll);
                if (++vain_turns < waiting.size()) continue;
                if (!polls_shared || ++vain_rounds == kVainRounds)
                    report_polling(poll, waiting.size() * size, (total - next) * size);
                std::this_thread::sleep_for(std::chrono::milliseconds(1));
                vain_turns = 0;
                polls_shared = false;
                continue;
            }
        }
        vain_turns = vain_rounds = 0;
        polls_shared = false;
        polling.erase(group.get());
        const CtaOutcome outcome = group->run(cta_budget * size, count_, checker_);
        if (outcome == CtaOutcome::kFinished) {
            spare.push_back(std::move(group));
            progress_.finished((next - waiting.size()) * size, count_.warp);
        } else {
            check_limit(group->cta());
            if (max_instructions_ == 0 && group->seems_to_poll(poll)) {
                polling.insert(group.get());
                // Others are likely to come to such a loop too.
                cta_budget = std::min(cta_budget, kPollingBudget);
            }
            waiting.push_back(std::move(group));
        }
    }
    for (std::unique_ptr<CtaGroup>& group : spare) group->give_back(pool_);
}

void Run::run_in_parallel(unsigned threads) {
    const std::uint64_t total = CtaGroup::count(launch_);
    const std::uint64_t size = CtaGroup::ctas(launch_);
    std::atomic<std::uint64_t> next{0};
    std::mutex mutex;
    std::uint64_t first_fault = total;  // the lowest group that faulted, whatever ran first
    std::exception_ptr failure;
    const std::thread::id main_thread = std::this_thread::get_id();
    const auto work = [&] {
        std::unique_ptr<CtaGroup> group;
        {
            const std::lock_guard lock(mutex);
            group = std::make_unique<CtaGroup>(launch_, pool_);
        }
        InstructionCount count;
        for (std::uint64_t i = next++; i < total; i = next++) {
            if (is_done(i)) continue;
            {
                const std::lock_guard lock(mutex);
                if (i > first_fault) break;
            }
            try {
                group->start(i, nullptr);
                while (group->run(kCtaBudget, count, nullptr) != CtaOutcome::kFinished) {
                }
                if (std::this_thread::get_id() == main_thread)
                    progress_.finished(i * size, count.warp * threads);
            } catch (...) {
                const std::lock_guard lock(mutex);
                if (i < first_fault) {
                    first_fault = i;
                    failure = std::current_exception();
                }
            }
        }
        const std::lock_guard lock(mutex);
        group->give_back(pool_);
        count_.warp += count.warp;
        count_.thread += count.thread;
    };
    std::vector<std::thread> pool;
    for (unsigned t = 1; t < threads; ++t) pool.emplace_back(work);
    work();
    for (std::thread& thread : pool) thread.join();
    if (failure) std::rethrow_exception(failure);
}

/// Time does not exist in emulation: clocks count the CTA's reads, so that they rise and are the
/// same in every run.
class EmulatedEnvironment : public sass::Environment {
  public:
    EmulatedEnvironment(SystemCalls& calls, std::uint32_t sms) : calls_(calls), sms_(sms) {}
    void system_call(unsigned number, sass::Warp& warp) override {
        const std::uint64_t frees = calls_.frees();
        calls_.call(number, warp);
        if (calls_.frees() != frees) run_->forget_extents();
    }
    /// To be told before the launch runs.
    void serve(Run& run) { run_ = &run; }
    std::uint64_t clock(const sass::Warp& warp) override {
        // Prime, so that waiting for a round number of cycles ends past it, as it would on
        // hardware.
        constexpr std::uint64_t kCyclesPerRead = 37;
        return warp.cta->clock_reads++ * kCyclesPerRead;
    }
    std::uint64_t global_timer(const sass::Warp& warp) override { return clock(warp); }
    std::uint32_t sm_id(const sass::Warp& warp) override {
        return static_cast<std::uint32_t>(warp.cta->linear_index % sms_);
    }
    std::uint32_t sm_count() override { return sms_; }

  private:
    SystemCalls& calls_;
    std::uint32_t sms_;
    Run* run_ = nullptr;
};

}  // namespace

unsigned Emulator::thread_count(const LoadedModule& loaded_module, const cubin::Function& kernel,
                                const LaunchRequest& request, std::uint32_t first) const {
    if (options_.threads <= 1 || checker_ || request.cooperative ||
        options_.max_instructions != 0 || loaded_module.module->makes_system_calls(kernel))
        return 1;
    const sass::Program& program = loaded_module.module->program();
    for (const sass::Program::Function& function : program.functions()) {
        if (function.is_kernel && function.first != first) continue;
        if (order_matters(program.words().subspan(function.first, function.count), program.arch()))
            return 1;
    }
    return static_cast<unsigned>(std::min<std::uint64_t>(
        options_.threads, request.grid.volume() / request.cluster.volume()));
}

Emulator::Emulator(std::shared_ptr<const config::Machine> machine, const DeviceOptions& options)
    : GpuDevice(std::move(machine), options) {
    if (options.checks == 0) return;
    checker_ = std::make_unique<check::Checker>(options.checks, memory_);
    system_calls_.set_allocated([this](std::uint64_t begin, std::uint64_t bytes) {
        checker_->kernel_allocated(begin, bytes);
    });
}

DevicePointer Emulator::allocate(std::uint64_t bytes, MemoryKind kind) {
    const DevicePointer pointer = GpuDevice::allocate(bytes, kind);
    if (checker_ && pointer != 0 && kind == MemoryKind::kDevice)
        checker_->allocated(pointer, bytes);
    return pointer;
}

bool Emulator::free(DevicePointer pointer) {
    if (checker_) checker_->freed(pointer);
    return GpuDevice::free(pointer);
}

void Emulator::note_host_write(DevicePointer pointer, std::uint64_t bytes) {
    if (checker_) checker_->host_wrote(pointer, bytes);
}

void Emulator::report_findings() {
    const std::string report = checker_->end_launch();
    if (report.empty()) return;
    std::fflush(stdout);
    fmt::print(stderr, "lockstep: {}", report);
}

LaunchResult Emulator::launch_rest(const LaunchRequest& request, const std::vector<bool>& done) {
    sass::Launch launch;
    const cubin::Function& kernel = prepare(request, launch, free_space());
    EmulatedEnvironment environment(system_calls_,
                                    static_cast<std::uint32_t>(machine_->integer("sm.count")));
    launch.environment = &environment;

    const unsigned threads = thread_count(loaded(request.module), kernel, request, launch.entry);
    launch.parallel = threads > 1;
    const std::uint64_t resident =
        std::uint64_t{resident_by_sm(kernel, request)} * environment.sm_count();
    Progress progress(cubin::demangled(request.kernel), request.grid.volume(), options_.progress);
    Run run({launch, done, ctas_, resident, options_.max_instructions, memory_, progress,
             checker_.get(), machine().integer("system.devices") > 1});
    environment.serve(run);
    if (checker_) {
        Module& module = *loaded(request.module).module;
        checker_->begin_launch(launch, kernel.shared_bytes + request.dynamic_shared_bytes,
                               [&module](std::uint32_t pc) { return module.source_line(pc); });
    }
    try {
        if (threads > 1)
            run.run_in_parallel(threads);
        else
            run.run_in_order(request.cooperative ? kCooperativeCtaBudget : kCtaBudget);
    } catch (const LocatedFault& fault) {
        if (checker_) report_findings();
        throw DeviceFault(fault.fault.kind, fault_report(fault, launch, memory_));
    }
    if (checker_) report_findings();
    LaunchResult result;
    result.warp_instructions = run.count().warp;
    result.thread_instructions = run.count().thread;
    result.metrics = {{"smsp__inst_executed.sum", result.warp_instructions},
                      {"smsp__thread_inst_executed_pred_on.sum", result.thread_instructions}};
    return result;
}

}  // namespace lockstep::gpu

namespace lockstep {

std::unique_ptr<Device> make_emulator(std::shared_ptr<const config::Machine> machine,
                                      const DeviceOptions& options) {
    return std::make_unique<gpu::Emulator>(std::move(machine), options);
}

}  // namespace lockstep
