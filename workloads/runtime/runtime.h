// SPDX-License-Identifier: Apache-2.0
// The state of the CUDA runtime in this process: one device, the modules the program registered,
// its streams, and the error every call reports.
#pragma once

#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "models/device.h"
#include "sim/stats/statistics.h"
#include "workloads/runtime/abi.h"
#include "workloads/runtime/device_properties.h"
#include "workloads/runtime/graph.h"
#include "workloads/runtime/memory.h"
#include "workloads/runtime/module.h"
#include "workloads/runtime/stream.h"

namespace lockstep::cuda {

/// Whether a call waits for work on the device: those report a kernel's fault, as on hardware.
enum class Waits : bool { kNo, kYes };

/// What the runtime library needs to exist: how to make the device, and where statistics go.
struct Configuration {
    std::function<std::unique_ptr<Device>()> make_device;
    /// Properties of the device; by default those of its machine.
    std::function<DeviceProperties(const Device&)> properties;
    std::function<std::unique_ptr<stats::Statistics>(const Device&)> make_statistics;
    std::string stats_file;
    /// What the program's launches came to, printed when it ends; none: nothing is printed.
    std::function<std::string(const stats::Statistics&)> summarize;
};

class Runtime {
  public:
    /// Never destroyed: programs call CUDA from their own destructors.
    static Runtime& get();

    /// Before the first call; the library's start-up code and tests do it.
    void configure(Configuration configuration);
    /// Forgets everything but registered modules (tests).
    void reset();

    Device& device();
    const DeviceProperties& properties();

    /// Runs the body of one API call under the lock and keeps the books about errors.
    Error call(Waits waits, const std::function<Error(Runtime&)>& body);
    /// Calls back into the program without holding the lock.
    void run_unlocked(const std::function<void()>& function);

    /// Ends a module; also after a fault, and from the program's exit handlers.
    void unregister(Module* module);

    /// Runs one kernel now; a fault is kept for the next call that waits.
    Error launch(const KernelLaunch& launch);
    /// Seconds of simulated time since the start. In emulation, which has no time, the time the
    /// warp-instructions would take if every sub-core issued one a cycle: it is the same on every
    /// run and grows with the work, and it is all that events can report there.
    double now() const { return seconds_; }

    Error peek_error() const;
    Error take_error();
    /// The program has seen the error: its exit status is its own.
    void acknowledge(Error error);
    bool has_unseen_fault() const { return faulted_ && !acknowledged_; }
    /// cudaDeviceReset: frees memory and unloads modules; clears faults.
    void reset_device();
    void write_statistics();
    /// Prints the summary to stderr: stdout is the program's.
    void print_summary();

    Memory memory{*this};
    Modules modules{*this};
    Graphs graphs;
    Streams streams{*this};

  private:
    Runtime() = default;
    void record_fault(Error error, std::string_view report);
    void add_step(const KernelLaunch& launch, const LaunchResult& result);
    void ensure_device();
    Error peek_error_locked() const;

    mutable std::mutex lock_;
    Configuration configuration_;
    std::unique_ptr<Device> device_;
    std::optional<DeviceProperties> properties_;
    std::unique_ptr<stats::Statistics> statistics_;
    Error pending_ = Error::kSuccess;  ///< of a kernel, not yet reported
    Error sticky_ = Error::kSuccess;   ///< of a kernel, reported by every call from now on
    bool faulted_ = false, acknowledged_ = false;
    double seconds_ = 0;
};

/// The pattern of every exported function.
inline Error call(const std::function<Error(Runtime&)>& body) {
    return Runtime::get().call(Waits::kNo, body);
}
inline Error call_and_wait(const std::function<Error(Runtime&)>& body) {
    return Runtime::get().call(Waits::kYes, body);
}

/// Writes out what the program has printed so far.
void flush_output();

/// The runtime library cannot go on: prints "lockstep: message" and ends the process at once.
[[noreturn]] void end_process(ExitStatus status, std::string_view message);

/// A function that is exported but not implemented was called.
[[noreturn]] void not_implemented(const char* function);

}  // namespace lockstep::cuda
