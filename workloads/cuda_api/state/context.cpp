// SPDX-License-Identifier: Apache-2.0
// Errors as CUDA reports them: a call returns its own error; a kernel's fault comes out of the next
// call that waits and of every call after that. One lock makes the calls of several threads happen
// one after another.
#include "workloads/cuda_api/state/context.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <thread>
#include <utility>

#include "isa/cubin/demangle.h"
#include "models/timeline.h"
#include "sim/terminal/colour.h"
#include "workloads/cuda_api/state/launch.h"

namespace lockstep::cuda {
namespace {

thread_local bool bound_to_thread = false;
constexpr double kPicosecond = 1e-12;

Error error_of(sass::FaultKind kind) {
    switch (kind) {
        case sass::FaultKind::kIllegalAddress:
            return Error::kIllegalAddress;
        case sass::FaultKind::kMisalignedAddress:
            return Error::kMisalignedAddress;
        case sass::FaultKind::kInvalidAddressSpace:
            return Error::kInvalidAddressSpace;
        case sass::FaultKind::kInvalidPc:
            return Error::kInvalidPc;
        case sass::FaultKind::kIllegalInstruction:
            return Error::kIllegalInstruction;
        case sass::FaultKind::kAssert:
            return Error::kAssert;
        case sass::FaultKind::kInstructionLimit:
            return Error::kLaunchTimeout;
        case sass::FaultKind::kNotExecuted:
        case sass::FaultKind::kTrap:
        case sass::FaultKind::kLaunchFailure:
        case sass::FaultKind::kDivergentBarrier:
        case sass::FaultKind::kDeadlock:
            break;
    }
    return Error::kLaunchFailure;
}

Error error_of(LaunchRefused::Reason reason) {
    switch (reason) {
        case LaunchRefused::Reason::kInvalidConfiguration:
            return Error::kInvalidConfiguration;
        case LaunchRefused::Reason::kOutOfResources:
            return Error::kLaunchOutOfResources;
        case LaunchRefused::Reason::kCooperativeTooLarge:
            return Error::kCooperativeLaunchTooLarge;
        case LaunchRefused::Reason::kInvalidCluster:
            return Error::kInvalidClusterSize;
        case LaunchRefused::Reason::kNoKernel:
            break;
    }
    return Error::kInvalidDeviceFunction;
}

}  // namespace

void flush_output() {
    std::cout.flush();
    std::clog.flush();
    std::fflush(nullptr);
}

void end_process(ExitStatus status, std::string_view message) {
    flush_output();
    const std::string line = fmt::format("lockstep: {}\n", message);
    std::fputs(terminal::error_for(STDERR_FILENO, line).c_str(), stderr);
    _exit(static_cast<int>(status));
}

bool Context::is_bound_to_thread() {
    return bound_to_thread;
}

void Context::bind_to_thread(bool bound) {
    bound_to_thread = bound;
}

Context& Context::current() {
    static Context& context = *new Context;
    return context;
}

void Context::configure(Configuration configuration) {
    configuration_ = std::move(configuration);
}

void Context::reset() {
    background_.reset();
    if (device_) wait_for_all();
    streams.clear();
    if (device_) {
        memory.clear();
        arrays.clear();
        modules.unload_all();
    }
    statistics_.reset();
    device_.reset();
    group_ = nullptr;
    DeviceGroup::select(0);
    properties_.reset();
    pending_ = sticky_ = Error::kSuccess;
    faulted_ = acknowledged_ = refused_ = false;
    seconds_ = 0;
}

void Context::ensure_device() {
    if (device_) return;
    LOCKSTEP_CHECK(configuration_.make_device != nullptr, "the context has no device to make");
    device_ = configuration_.make_device();
    group_ = dynamic_cast<DeviceGroup*>(device_.get());
    properties_ = configuration_.properties ? configuration_.properties(*device_)
                                            : DeviceProperties::from_machine(device_->machine());
    device_->set_printf_output(
        [](std::string_view text) { std::fwrite(text.data(), 1, text.size(), stdout); });
    if (configuration_.make_statistics) statistics_ = configuration_.make_statistics(*device_);
}

Timeline* Context::timeline() {
    return device().timeline();
}

Device& Context::device() {
    ensure_device();
    return *device_;
}

unsigned Context::current_device() {
    return DeviceGroup::current();
}

void Context::select_device(unsigned device) {
    DeviceGroup::select(device);
}

DeviceGroup* Context::group() {
    ensure_device();
    return group_;
}

unsigned Context::device_count() {
    return group() == nullptr ? 1 : group()->count();
}

unsigned Context::owner(const void* pointer) {
    return group() == nullptr ? 0 : group()->owner(reinterpret_cast<DevicePointer>(pointer));
}

const DeviceProperties& Context::properties() {
    ensure_device();
    return *properties_;
}

Error Context::call(Waits waits, const std::function<Error(Context&)>& body) {
    ++callers_waiting_;
    if (background_ != nullptr) background_->note_call();
    const std::lock_guard guard(lock_);
    --callers_waiting_;
    if (!used_.exchange(true) && configuration_.on_first_use) configuration_.on_first_use();
    Error result = sticky_;
    if (result == Error::kSuccess && waits == Waits::kYes) result = sticky_ = pending_;
    if (result == Error::kSuccess) {
        try {
            result = body(*this);
            // What it waited for may have ended by a fault.
            if (result == Error::kSuccess && waits == Waits::kYes) result = sticky_ = pending_;
        } catch (const DeviceFault& fault) {
            record_fault(fault);
        } catch (const LaunchRefused& refused) {
            result = error_of(refused.reason());
        } catch (const lockstep::Error& error) {
            end_process(error.status(), error.what());
        } catch (const std::bad_alloc&) {
            result = Error::kMemoryAllocation;
        }
    }
    return result;
}

void Context::run_unlocked(const std::function<void()>& function) {
    lock_.unlock();
    function();
    lock_.lock();
}

void Context::unregister(Module* module) {
    const std::lock_guard guard(lock_);
    if (device_) wait_for_all();
    modules.remove(module);
}

Error Context::launch(const KernelLaunch& launch) {
    if (pending_ != Error::kSuccess) return Error::kSuccess;  // nothing runs after a fault
    const unsigned before = DeviceGroup::current();
    DeviceGroup::select(launch.device);  // a graph's kernel may be another device's
    try {
        add_step(launch, device().launch(request_of(launch)));
    } catch (const DeviceFault& fault) {
        record_fault(fault);
    }
    DeviceGroup::select(before);
    return Error::kSuccess;
}

void Context::let_others_in() {
    lock_.unlock();
    // Who waits for the lock gets it: a mutex is not fair.
    if (callers_waiting_ != 0) std::this_thread::sleep_for(std::chrono::microseconds(20));
    lock_.lock();
}

void Context::wait_until(const std::function<bool()>& is_done) {
    Timeline* const line = timeline();
    if (line == nullptr) return;
    bool has_waited = false;
    try {
        while (!is_done()) {
            has_waited = true;
            if (!line->step() && !is_done())
                end_process(ExitStatus::kProgramFault,
                            "deadlock: the host waits for work that nothing can begin\n" +
                                line->explain_wait());
            check_stuck();
            let_others_in();
        }
    } catch (const DeviceFault& fault) {
        record_fault(fault);
    }
    if (has_waited) line->resume_host();
}

void Context::check_stuck() {
    const Timeline& line = *timeline();
    if (!line.is_stuck()) return;
    const int ours = static_cast<int>(configuration_.device_threads) - 1 +
                     static_cast<int>(background_ != nullptr);
    // Another thread may write what is waited for; what its last write does shows later.
    constexpr int kSteps = 10'000;
    if (other_threads(ours) > 1) {
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
        steps_before_stuck_ = kSteps;
        return;
    }
    if (steps_before_stuck_ > 0) {
        --steps_before_stuck_;
        return;
    }
    end_process(ExitStatus::kProgramFault,
                "the program hangs: the host waits for the device, and what runs there waits for "
                "memory that no running kernel can change\n" +
                    line.explain_wait());
}

void Context::shares_memory() {
    if (background_ == nullptr && timeline() != nullptr)
        background_ = std::make_unique<Background>([this] { go_on_in_background(); });
}

void Context::go_on_in_background() {
    constexpr int kSteps = 64;
    const std::unique_lock guard(lock_, std::try_to_lock);
    if (!guard.owns_lock() || device_ == nullptr || timeline()->is_idle(kNoStream)) return;
    try {
        for (int i = 0; i < kSteps && timeline()->step(); ++i) {
        }
    } catch (const DeviceFault& fault) {
        record_fault(fault);
    }
    timeline()->resume_host();
}

void Context::wait_for_all() {
    Timeline* const line = timeline();
    if (line != nullptr) wait_until([line] { return line->is_idle(kNoStream); });
}

void Context::poll() {
    try {
        timeline()->poll();
    } catch (const DeviceFault& fault) {
        record_fault(fault);
    }
}

void Context::finish() {
    background_.reset();
    const std::lock_guard guard(lock_);
    if (device_) wait_for_all();
    if (statistics_ && configuration_.complete) configuration_.complete(*statistics_);
}

void Context::record_fault(const DeviceFault& fault) {
    // No error code of CUDA says this; the program must not take it for its own fault.
    if (fault.kind() == sass::FaultKind::kNotExecuted)
        end_process(ExitStatus::kProgramFault, fault.what());
    std::fflush(stdout);
    std::fprintf(stderr, "lockstep: %s\n", fault.what());
    pending_ = error_of(fault.kind());
    faulted_ = true;
    acknowledged_ = false;
}

void Context::add_step(const KernelLaunch& launch, const LaunchResult& result) {
    const DeviceProperties& properties = this->properties();
    const double issue_rate = static_cast<double>(properties.clock_khz) * 1e3 *
                              properties.sm_count * properties.sub_cores;
    const bool timed = result.cycles != 0;
    if (timeline() == nullptr)
        seconds_ += timed            ? result.seconds
                    : issue_rate > 0 ? static_cast<double>(result.warp_instructions) / issue_rate
                                     : 0.0;
    if (!statistics_) return;
    stats::Step step;
    step.name = cubin::demangled(launch.kernel->name);
    step.grid = {launch.grid.x, launch.grid.y, launch.grid.z};
    step.block = {launch.block.x, launch.block.y, launch.block.z};
    step.metrics = result.metrics;
    if (group_ != nullptr)
        step.metrics.emplace_back("lockstep__device", std::uint64_t{launch.device});
    step.profile = result.profile;
    if (!timed && statistics_->mode() == "cycle") step.mode = "emulate";
    statistics_->add(std::move(step));
    statistics_->add_time(result.cycles, timed ? result.seconds : 0.0, result.warp_instructions);
}

Error Context::sticky_error() const {
    const std::lock_guard guard(lock_);
    return sticky_;
}

void Context::acknowledge(Error error) {
    const std::lock_guard guard(lock_);
    if (faulted_ && error != Error::kSuccess && (error == pending_ || error == sticky_))
        acknowledged_ = true;
}

void Context::reset_device() {
    const std::lock_guard guard(lock_);
    if (device_) {
        wait_for_all();
        memory.clear();
        arrays.clear();
        modules.unload_all();
    }
    pending_ = sticky_ = Error::kSuccess;
    acknowledged_ = true;
}

void Context::print_summary() {
    if (!configuration_.summarize || !statistics_) return;
    std::string text;
    if (!statistics_->steps().empty()) text = configuration_.summarize(*statistics_);
    if (device_ && device_->timeline() != nullptr) text += device_->timeline()->report();
    if (text.empty()) return;
    if (configuration_.screen_file.empty())
        std::fputs(terminal::report_for(STDERR_FILENO, text).c_str(), stderr);
    else
        stats::write_whole(configuration_.screen_file, text);
}

void Context::write_statistics() {
    if (configuration_.stats_file.empty()) return;
    ensure_device();  // a program that used no device has a file without steps
    if (!statistics_) return;
    if (device_->timeline() != nullptr)
        statistics_->set_seconds(static_cast<double>(device_->timeline()->now()) * kPicosecond);
    statistics_->write(configuration_.stats_file);
}

}  // namespace lockstep::cuda
