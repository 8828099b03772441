// SPDX-License-Identifier: Apache-2.0
// A device's context: the machine, the modules loaded on it, its memory, streams and graphs, and
// the fault that every call reports. The runtime API and the driver API are two shells over it.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <string_view>

#include "models/device_group.h"
#include "sim/stats/statistics.h"
#include "workloads/cuda_api/state/abi.h"
#include "workloads/cuda_api/state/array.h"
#include "workloads/cuda_api/state/background.h"
#include "workloads/cuda_api/state/device_properties.h"
#include "workloads/cuda_api/state/graph.h"
#include "workloads/cuda_api/state/memory.h"
#include "workloads/cuda_api/state/module.h"
#include "workloads/cuda_api/state/stream.h"

namespace lockstep::cuda {

/// Whether a call waits for work on the device: those report a kernel's fault, as on hardware.
enum class Waits : bool { kNo, kYes };

/// What a context needs to exist: how to make the device, and where statistics and the
/// summary go.
struct Configuration {
    std::function<std::unique_ptr<Device>()> make_device;
    /// Properties of the device; by default those of its machine.
    std::function<DeviceProperties(const Device&)> properties;
    std::function<std::unique_ptr<stats::Statistics>(const Device&)> make_statistics;
    /// Adds to the statistics what is known when the program has ended.
    std::function<void(stats::Statistics&)> complete;
    std::string stats_file, screen_file;
    /// Called once, by the first call of an API.
    std::function<void()> on_first_use;
    unsigned device_threads = 1;  ///< of the host, the program's own among them
    /// What the program's launches came to, printed when it ends; none: nothing is printed.
    std::function<std::string(const stats::Statistics&)> summarize;
};

/// What a program sets of a device and asks for again. Limits as the driver starts with.
struct DeviceSettings {
    unsigned flags = 0;
    int cache_config = 0;
    std::size_t limits[abi::kLimitCount] = {1024, 1 << 20, 8 << 20, 2, 2048, 64, 0};
};

class Context {
  public:
    /// The context of the calling thread's device; there is one device today. Never destroyed:
    /// programs call CUDA from their own destructors.
    static Context& current();

    /// Whether the calling thread works on the device without having said so to the driver: a call
    /// of the runtime API does that.
    static bool is_bound_to_thread();
    static void bind_to_thread(bool bound);

    /// Before the first call; the library's start-up code and tests do it.
    void configure(Configuration configuration);
    /// Forgets everything but registered modules (tests).
    void reset();

    /// The calling thread's choice among several devices.
    static unsigned current_device();
    static void select_device(unsigned device);

    /// The calling thread's device.
    Device& device();
    const DeviceProperties& properties();
    /// Several devices; null: there is one.
    DeviceGroup* group();
    unsigned device_count();
    bool has_device(int device) {
        return device >= 0 && static_cast<unsigned>(device) < device_count();
    }
    /// Whose memory it is; the calling thread's device where it is nobody's.
    unsigned owner(const void* pointer);
    /// Where operations take their time; null: they are done when they are submitted.
    Timeline* timeline();
    /// The device changes memory that the host sees without asking.
    void shares_memory();
    /// Lets the device go on until this is so; other threads' calls get their turn meanwhile. On a
    /// time line only, as what follows. A fault is kept for the call to report.
    void wait_until(const std::function<bool()>& is_done);
    void wait_for_all();
    /// Lets the device come as far as the host's clock.
    void poll();
    /// Before the program ends: all that has been submitted is done, the statistics complete.
    void finish();

    /// Runs the body of one API call under the lock; while a fault stands, the call reports that
    /// instead.
    Error call(Waits waits, const std::function<Error(Context&)>& body);
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

    /// A launch has ended.
    void add_step(const KernelLaunch& launch, const LaunchResult& result);

    /// The fault that every call reports, or kSuccess.
    Error sticky_error() const;
    /// The program has seen the error: its exit status is its own.
    void acknowledge(Error error);
    bool has_fault() const { return pending_ != Error::kSuccess; }
    /// True where the checks that the run was asked for have found something.
    bool has_findings() const { return device_ && device_->findings() != 0; }
    bool has_unseen_fault() const { return refused_ || (faulted_ && !acknowledged_); }
    /// A call of an API has been made.
    bool is_used() const { return used_; }
    /// Something that the program asked for cannot work, which the program may not make known: a
    /// status of 0 is then not taken for success either.
    void note_refusal() { refused_ = true; }
    /// cudaDeviceReset: frees memory and unloads modules; clears faults.
    void reset_device();
    void write_statistics();
    /// Prints the summary to stderr: stdout is the program's.
    void print_summary();

    DeviceSettings settings;
    Memory memory{*this};
    Arrays arrays{*this};
    Modules modules{*this};
    Graphs graphs;
    Streams streams{*this};

  private:
    Context() = default;
    void record_fault(const DeviceFault& fault);
    /// Ends the process where the wait can have no end.
    void check_stuck();
    void go_on_in_background();
    void let_others_in();
    void ensure_device();

    mutable std::mutex lock_;
    std::atomic<int> callers_waiting_ = 0;  ///< for the lock
    std::unique_ptr<Background> background_;
    int steps_before_stuck_ = 0;  ///< that a program without other threads still has
    Configuration configuration_;
    std::unique_ptr<Device> device_;
    DeviceGroup* group_ = nullptr;  ///< device_, where it is several
    std::optional<DeviceProperties> properties_;
    std::unique_ptr<stats::Statistics> statistics_;
    Error pending_ = Error::kSuccess;  ///< of a kernel, not yet reported
    Error sticky_ = Error::kSuccess;   ///< of a kernel, reported by every call from now on
    bool faulted_ = false, acknowledged_ = false;
    std::atomic<bool> used_ = false, refused_ = false;
    double seconds_ = 0;
};

/// Writes out what the program has printed so far.
void flush_output();

/// The library cannot go on: prints "lockstep: message" and ends the process at once.
[[noreturn]] void end_process(ExitStatus status, std::string_view message);

}  // namespace lockstep::cuda
