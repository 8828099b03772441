// SPDX-License-Identifier: Apache-2.0
// The one door through which workloads and the runtime library reach a modelled machine.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "isa/cubin/cubin.h"
#include "isa/sass/fault.h"
#include "isa/sass/state.h"
#include "isa/sass/texture/texture.h"
#include "models/address_space.h"
#include "models/transfer.h"
#include "sim/config/machine.h"
#include "sim/error/error.h"
#include "sim/stats/value.h"

namespace lockstep {

namespace stats {
class Statistics;
struct Profile;
}  // namespace stats

/// An address in the device's global memory. It is also a valid host address: modelled memory lies
/// in the simulator's own process, so that managed and mapped memory need no copying.
using DevicePointer = std::uint64_t;

/// A loaded module (one cubin). Handles are small positive numbers; 0 is none.
using ModuleHandle = std::uint32_t;

enum class MemoryKind : std::uint8_t { kDevice, kHost, kManaged, kRegisteredHost };

struct AllocationInfo {
    DevicePointer begin = 0;
    std::uint64_t bytes = 0;  ///< as asked for
    MemoryKind kind = MemoryKind::kDevice;
};

struct LaunchRequest {
    ModuleHandle module = 0;
    std::string kernel;
    sass::Dim3 grid, block, cluster;
    std::uint32_t dynamic_shared_bytes = 0;
    std::span<const std::byte> parameters;  ///< packed as the kernel's parameter area
    bool cooperative = false;               ///< all CTAs are resident at once
    bool programmatic = false;  ///< may begin before the launch ahead of it in its stream has ended
};

/// What one launch did.
struct LaunchResult {
    std::uint64_t warp_instructions = 0;
    std::uint64_t thread_instructions = 0;  ///< lanes that were active and predicated on
    std::uint64_t cycles = 0;               ///< of the SMs; 0 in emulation, which has no time
    double seconds = 0;                     ///< simulated
    stats::Metrics metrics;  ///< all of the above and more, under Nsight Compute's names
    /// By instruction, where DeviceOptions asks for it and the launch had the chip for itself.
    std::shared_ptr<const stats::Profile> profile;
};

/// Thrown by Device::launch when a thread faults. what() is the whole report: what happened,
/// kernel, CTA, thread, pc, disassembled instruction and the nearest allocation.
class DeviceFault : public ProgramFault {
  public:
    DeviceFault(sass::FaultKind kind, const std::string& report)
        : ProgramFault(report), kind_(kind) {}
    sass::FaultKind kind() const { return kind_; }

  private:
    sass::FaultKind kind_;
};

/// A launch that the machine refuses before it starts (too many threads, registers, shared memory).
/// The runtime library maps it to the code the real runtime returns.
class LaunchRefused : public InputError {
  public:
    enum class Reason {
        kInvalidConfiguration,
        kOutOfResources,
        kCooperativeTooLarge,
        kNoKernel,
        kInvalidCluster
    };
    LaunchRefused(Reason reason, const std::string& message)
        : InputError(message), reason_(reason) {}
    Reason reason() const { return reason_; }

  private:
    Reason reason_;
};

/// What the L2 holds when a kernel begins: nothing, as where a profiler flushes it before each
/// kernel, or what the kernels before it left.
enum class L2Start : std::uint8_t { kCold, kWarm };

/// Which launches a simulator simulates, as a profiler is told which to profile; the others it
/// emulates, in the same memory.
struct LaunchFilter {
    std::string kernel;           ///< regular expression, found in the demangled name; empty: any
    std::uint64_t skip = 0;       ///< launches of these kernels that come first
    std::uint64_t count = ~0ull;  ///< launches that are simulated after those
    bool operator==(const LaunchFilter&) const = default;
};

/// Throws InputError where the filter's regular expression is malformed, with the position.
void check_filter(const LaunchFilter& filter);

/// Local memory that a thread may have, frame and stack together, at every compute capability
/// (CUDA C++ Programming Guide, technical specifications by compute capability).
constexpr std::uint64_t kMaximumLocalBytes = 512 * 1024;

/// Checks of what a program does, in emulation: bits of DeviceOptions::checks.
constexpr unsigned kCheckRace = 1;     ///< accesses of one place that nothing orders
constexpr unsigned kCheckInit = 2;     ///< reads of memory never written
constexpr unsigned kCheckSync = 4;     ///< barrier misuse
constexpr unsigned kCheckHazards = 8;  ///< what is not ordered with asynchronous copies

/// What a trace shows; outside of this nothing is recorded.
struct TraceOptions {
    std::string file;                       ///< .json, .vcd or .kanata; empty: no file
    bool signals = false;                   ///< no file, but SystemC signals
    std::uint64_t from = 0, until = ~0ull;  ///< SM cycles since the device was made, [from, until)
    unsigned first_sm = 0, last_sm = 0;     ///< SMs whose warps and pipes are shown, both included
};

/// Which global accesses are out of bounds.
enum class Bounds : std::uint8_t {
    kExact,  ///< those that touch a byte of no allocation
    kPage,   ///< as on hardware: those that touch a page of 2 MiB that holds no allocation's memory
};

struct DeviceOptions {
    unsigned threads = 1;                ///< host threads; results never depend on it
    std::uint64_t max_instructions = 0;  ///< per launch, warp-instructions; 0: no limit
    std::uint64_t seed = 0;
    bool progress = false;  ///< show a line on stderr during long launches, if that is a terminal
    Bounds bounds = Bounds::kExact;
    unsigned checks = 0;  ///< of emulation only
    // Of simulation only.
    L2Start l2 = L2Start::kCold;
    bool count_toggles = false;  ///< sample which bits toggle, for energy
    TraceOptions trace;
    LaunchFilter simulate;
    bool counts_instructions = false;  ///< LaunchResult::profile
    /// Simulate of each launch only as many CTAs as it takes to know its time, of launches like one
    /// before none; the others are emulated.
    bool samples = false;
    std::optional<std::uint64_t> shuffle;  ///< seed: units take turns in a random order (tests)
};

class Timeline;  // models/timeline.h

class Device {
  public:
    virtual ~Device() = default;

    virtual const config::Machine& machine() const = 0;

    /// Allocates zeroed memory, aligned to 256 bytes; 0 where the machine's memory is exhausted.
    virtual DevicePointer allocate(std::uint64_t bytes, MemoryKind kind = MemoryKind::kDevice) = 0;
    /// False where no allocation begins at this address.
    virtual bool free(DevicePointer pointer) = 0;
    /// Makes host memory of the program's own accessible to kernels; undone by free().
    virtual bool register_host(void* pointer, std::uint64_t bytes) = 0;
    /// Makes a texture or surface object; returns the handle that kernels are given, 0 where the
    /// device has no textures.
    virtual std::uint32_t add_texture(sass::Texture) { return 0; }
    /// Memory that the program maps itself; nullptr where the device has none.
    virtual AddressSpace* address_space() { return nullptr; }
    /// Memory of the device has got values by no kernel, which a check of reads counts as writes.
    virtual void note_host_write(DevicePointer, std::uint64_t /*bytes*/) {}
    /// Zeroes memory of the device, where that is better not written; false: nothing is done.
    virtual bool clear(DevicePointer, std::uint64_t /*bytes*/) { return false; }
    /// A copy or a fill has read or written memory, the device's or other: L2 has passed it on.
    virtual void note_transfer(DevicePointer, std::uint64_t /*bytes*/, Transfer) {}
    /// Distinct faults that checks have found so far.
    virtual std::uint64_t findings() const { return 0; }
    /// The allocation that holds an address; bytes == 0 where none does.
    virtual AllocationInfo find(DevicePointer address) const = 0;
    virtual std::uint64_t free_bytes() const = 0;
    virtual std::uint64_t total_bytes() const = 0;

    /// Loads a module: allocates and initialises its globals, applies relocations.
    virtual ModuleHandle load_module(const cubin::Cubin& cubin) = 0;
    virtual void unload_module(ModuleHandle module) = 0;
    /// Address and size of a __device__ or __constant__ variable (0, 0: no such variable). A
    /// constant's address is a device address too: copies to it change the bank.
    virtual std::pair<DevicePointer, std::uint64_t> find_variable(ModuleHandle module,
                                                                  std::string_view name) = 0;
    /// The kernel's properties, or nullptr.
    virtual const cubin::Function* find_kernel(ModuleHandle module, std::string_view name) = 0;

    /// Clusters of so many CTAs that the machine holds at once where an SM holds `by_sm` CTAs.
    virtual std::uint64_t active_clusters(std::uint32_t /*ctas*/, std::uint32_t /*by_sm*/) const {
        return 0;
    }

    /// Runs a kernel to its end, alone and without a host. Throws LaunchRefused or DeviceFault.
    virtual LaunchResult launch(const LaunchRequest& request) = 0;

    /// Where work is submitted that takes its time beside the host's; null where there is no time:
    /// what is asked for is done when the call returns.
    virtual Timeline* timeline() { return nullptr; }

    /// Where device printf goes; the default writes to stdout.
    virtual void set_printf_output(std::function<void(std::string_view)> output) = 0;
    /// Bytes for device-side malloc (cudaLimitMallocHeapSize) and stack (cudaLimitStackSize).
    virtual void set_heap_bytes(std::uint64_t bytes) = 0;
    virtual void set_stack_bytes(std::uint64_t bytes) = 0;
};

/// The emulator: right answers, fast, no time.
std::unique_ptr<Device> make_emulator(std::shared_ptr<const config::Machine> machine,
                                      const DeviceOptions& options);

/// The cycle model: the same answers, in time.
std::unique_ptr<Device> make_simulator(std::shared_ptr<const config::Machine> machine,
                                       const DeviceOptions& options);

/// What simulated launches show first, in at most 25 lines: one launch as Nsight Compute's "Speed
/// Of Light" does, several by kernel.
std::string speed_of_light(const stats::Statistics& statistics);

}  // namespace lockstep
