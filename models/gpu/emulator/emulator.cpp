// SPDX-License-Identifier: Apache-2.0
// CTAs run in the order of their index. One that waits for others is set aside and taken up again
// after them, within the number of CTAs that the chip holds at once; a kernel whose CTAs cannot
// influence each other may run on several host threads.
#include "models/gpu/emulator/emulator.h"

#include <algorithm>
#include <atomic>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

#include "models/gpu/emulator/cta_runner.h"
#include "models/gpu/emulator/fault_report.h"
#include "models/gpu/emulator/order.h"
#include "models/gpu/emulator/progress.h"

namespace lockstep::gpu {

namespace {

constexpr std::uint64_t kBank0Bytes = 64 * 1024;
constexpr std::uint64_t kGridWorkspaceBytes = 4096;

/// Instructions of a CTA after which others get their turn.
constexpr std::uint64_t kCtaBudget = 1 << 22;
constexpr std::uint64_t kCooperativeCtaBudget = 1 << 14;

/// Runs the CTAs of one launch.
class Run {
  public:
    Run(sass::Launch& launch, std::uint64_t resident, std::uint64_t max_instructions,
        Progress& progress)
        : launch_(launch),
          resident_(resident),
          max_instructions_(max_instructions),
          progress_(progress) {}

    /// One host thread: CTAs in order, those that wait set aside.
    void run_in_order(std::uint64_t cta_budget);
    /// Several host threads: each takes the next CTA and runs it to its end.
    void run_in_parallel(unsigned threads);

    InstructionCount count() const { return count_; }

  private:
    void check_limit(const sass::Cta& cta) const;

    sass::Launch& launch_;
    std::uint64_t resident_;
    std::uint64_t max_instructions_;
    Progress& progress_;
    InstructionCount count_;
};

void Run::check_limit(const sass::Cta& cta) const {
    if (max_instructions_ == 0 || count_.warp < max_instructions_) return;
    const sass::Warp* warp = cta.warps.front();
    for (const sass::Warp* other : cta.warps)
        if (other->active != 0) warp = other;
    throw LocatedFault{
        {.kind = sass::FaultKind::kInstructionLimit,
         .what =
             fmt::format("more than {} warp-instructions (--max-instructions)", max_instructions_),
         .lane = warp->active == 0 ? 0u : static_cast<unsigned>(std::countr_zero(warp->active))},
        cta.linear_index,
        warp->index,
        warp->pc};
}

void Run::run_in_order(std::uint64_t cta_budget) {
    const std::uint64_t total = launch_.grid.volume();
    std::deque<std::unique_ptr<CtaStorage>> waiting;
    std::vector<std::unique_ptr<CtaStorage>> spare;
    std::uint64_t next = 0;
    if (max_instructions_ != 0)
        cta_budget = std::min(cta_budget, std::max<std::uint64_t>(max_instructions_ / 4, 1));
    while (next < total || !waiting.empty()) {
        std::unique_ptr<CtaStorage> storage;
        if (next < total && waiting.size() < resident_) {
            if (spare.empty()) {
                storage = std::make_unique<CtaStorage>(launch_);
            } else {
                storage = std::move(spare.back());
                spare.pop_back();
            }
            storage->start(next++);
        } else {
            storage = std::move(waiting.front());
            waiting.pop_front();
        }
        const CtaOutcome outcome = run_cta(storage->cta(), cta_budget, count_);
        if (outcome == CtaOutcome::kFinished) {
            spare.push_back(std::move(storage));
            progress_.finished(next - waiting.size(), count_.warp);
        } else {
            check_limit(storage->cta());
            waiting.push_back(std::move(storage));
        }
    }
}

void Run::run_in_parallel(unsigned threads) {
    const std::uint64_t total = launch_.grid.volume();
    std::atomic<std::uint64_t> next{0};
    std::mutex mutex;
    std::uint64_t first_fault_cta = total;  // the lowest CTA that faulted, whatever ran first
    std::exception_ptr first_fault;
    const std::thread::id main_thread = std::this_thread::get_id();
    const auto work = [&] {
        CtaStorage storage(launch_);
        InstructionCount count;
        for (std::uint64_t i = next++; i < total; i = next++) {
            {
                const std::lock_guard lock(mutex);
                if (i > first_fault_cta) break;
            }
            try {
                storage.start(i);
                while (run_cta(storage.cta(), kCtaBudget, count) != CtaOutcome::kFinished) {
                }
                if (std::this_thread::get_id() == main_thread)
                    progress_.finished(i, count.warp * threads);
            } catch (...) {
                const std::lock_guard lock(mutex);
                if (i < first_fault_cta) {
                    first_fault_cta = i;
                    first_fault = std::current_exception();
                }
            }
        }
        const std::lock_guard lock(mutex);
        count_.warp += count.warp;
        count_.thread += count.thread;
    };
    std::vector<std::thread> pool;
    for (unsigned t = 1; t < threads; ++t) pool.emplace_back(work);
    work();
    for (std::thread& thread : pool) thread.join();
    if (first_fault) std::rethrow_exception(first_fault);
}

/// Time does not exist in emulation: clocks count the CTA's reads, so that they rise and are the
/// same in every run.
class EmulatedEnvironment : public sass::Environment {
  public:
    EmulatedEnvironment(SystemCalls& calls, std::uint32_t sms) : calls_(calls), sms_(sms) {}
    void system_call(unsigned number, sass::Warp& warp) override { calls_.call(number, warp); }
    std::uint64_t clock(const sass::Warp& warp) override {
        constexpr std::uint64_t kCyclesPerRead = 32;
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
};

memory::Kind memory_kind(MemoryKind kind) {
    return static_cast<memory::Kind>(kind);
}

}  // namespace

Emulator::Emulator(std::shared_ptr<const config::Machine> machine, const DeviceOptions& options)
    : machine_(std::move(machine)),
      options_(options),
      memory_(static_cast<std::uint64_t>(machine_->integer("dram.size"))),
      system_calls_(memory_) {
    bank0_ = memory_.allocate(kBank0Bytes);
    grid_workspace_ = memory_.allocate(kGridWorkspaceBytes);
}

DevicePointer Emulator::allocate(std::uint64_t bytes, MemoryKind kind) {
    return memory_.allocate(bytes, memory_kind(kind));
}

bool Emulator::free(DevicePointer pointer) {
    return memory_.free(pointer);
}

bool Emulator::register_host(void* pointer, std::uint64_t bytes) {
    return memory_.register_host(pointer, bytes);
}

AllocationInfo Emulator::find(DevicePointer address) const {
    const memory::Allocation allocation = memory_.allocation(address);
    return {allocation.begin, allocation.bytes, static_cast<MemoryKind>(allocation.kind)};
}

ModuleHandle Emulator::load_module(const cubin::Cubin& cubin) {
    const ModuleHandle handle = next_module_++;
    modules_[handle].module = std::make_unique<Module>(cubin, memory_);
    return handle;
}

Emulator::LoadedModule& Emulator::loaded(ModuleHandle handle) {
    const auto it = modules_.find(handle);
    LOCKSTEP_CHECK(it != modules_.end(), "module {} is not loaded", handle);
    return it->second;
}

std::pair<DevicePointer, std::uint64_t> Emulator::find_variable(ModuleHandle module,
                                                                std::string_view name) {
    return loaded(module).module->find_variable(name);
}

const cubin::Function* Emulator::find_kernel(ModuleHandle module, std::string_view name) {
    return loaded(module).module->find_kernel(name);
}

void Emulator::set_printf_output(std::function<void(std::string_view)> output) {
    system_calls_.set_output(std::move(output));
}

void Emulator::set_heap_bytes(std::uint64_t bytes) {
    system_calls_.set_heap_bytes(bytes);
}

unsigned Emulator::thread_count(const LoadedModule& loaded_module, const cubin::Function& kernel,
                                const LaunchRequest& request, std::uint32_t first) const {
    if (options_.threads <= 1 || request.cooperative || options_.max_instructions != 0 ||
        loaded_module.module->makes_system_calls(kernel))
        return 1;
    const sass::Program& program = loaded_module.module->program();
    for (const sass::Program::Function& function : program.functions()) {
        if (function.is_kernel && function.first != first) continue;
        if (order_matters(program.words().subspan(function.first, function.count), program.arch()))
            return 1;
    }
    return static_cast<unsigned>(std::min<std::uint64_t>(options_.threads, request.grid.volume()));
}

LaunchResult Emulator::launch(const LaunchRequest& request) {
    LoadedModule& loaded_module = loaded(request.module);
    Module& module = *loaded_module.module;
    const cubin::Function* kernel = module.find_kernel(request.kernel);
    if (kernel == nullptr)
        throw LaunchRefused(LaunchRefused::Reason::kNoKernel,
                            fmt::format("no kernel named {}", request.kernel));
    check_launch(*machine_, *kernel, request);

    sass::Launch launch;
    launch.program = &module.bind(*kernel, launch.entry);
    launch.memory = &memory_;
    launch.arch = launch.program->arch();
    launch.grid = request.grid;
    launch.block = request.block;
    launch.cluster = request.cluster;
    launch.dynamic_shared_bytes = request.dynamic_shared_bytes;
    launch.shared_bytes = kernel->shared_bytes + request.dynamic_shared_bytes;
    constexpr std::uint32_t kStackAlignment = 16;
    const std::uint64_t local = kernel->local_bytes + (kernel->unbounded_stack ? stack_bytes_ : 0);
    launch.local_bytes = static_cast<std::uint32_t>((local + kStackAlignment - 1) /
                                                    kStackAlignment * kStackAlignment);
    launch.rows = launch.program->rows();
    launch.id = ++launches_;

    const std::span<std::byte> bank0(reinterpret_cast<std::byte*>(bank0_),
                                     constant_bank0_bytes(*kernel));
    if (request.cooperative)
        std::memset(reinterpret_cast<void*>(grid_workspace_), 0, kGridWorkspaceBytes);
    fill_constant_bank0(bank0, bank0_, launch.arch, *kernel, request, *machine_, launch.local_bytes,
                        launch.id, request.cooperative ? grid_workspace_ : 0);
    add_reserved_shared(launch, bank0);
    launch.constant[0] = bank0;
    for (unsigned bank = 1; bank < launch.constant.size(); ++bank)
        launch.constant[bank] = module.constant_bank(*kernel, bank);
    loaded_module.literals.fill(*launch.program, launch.constant);
    launch.literals = loaded_module.literals.data();

    EmulatedEnvironment environment(system_calls_,
                                    static_cast<std::uint32_t>(machine_->integer("sm.count")));
    launch.environment = &environment;

    const unsigned threads = thread_count(loaded_module, *kernel, request, launch.entry);
    launch.parallel = threads > 1;
    const std::uint64_t resident = std::max<std::uint64_t>(
        1, std::uint64_t{resident_ctas(*machine_, *kernel,
                                       static_cast<std::uint32_t>(request.block.volume()),
                                       request.dynamic_shared_bytes)} *
               environment.sm_count());
    Progress progress(request.kernel, request.grid.volume(), options_.progress);
    Run run(launch, resident, options_.max_instructions, progress);
    try {
        if (threads > 1)
            run.run_in_parallel(threads);
        else
            run.run_in_order(request.cooperative ? kCooperativeCtaBudget : kCtaBudget);
    } catch (const LocatedFault& fault) {
        throw DeviceFault(fault.fault.kind, fault_report(fault, launch, memory_));
    }
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
