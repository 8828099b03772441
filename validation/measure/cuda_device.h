// SPDX-License-Identifier: Apache-2.0
// A real GPU as a Device: the workloads that run on a model run on the silicon, with the same
// cubins, inputs and checks, and every launch is timed.
#pragma once

#include <chrono>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "models/device.h"
#include "validation/measure/allocation_log.h"
#include "validation/measure/driver.h"
#include "validation/measure/shadow_memory.h"

namespace lockstep::validation {

struct CudaDeviceOptions {
    /// Timed repeats of each launch with caches flushed, and as the repeat before left them. Before
    /// each one memory is as it was before the launch. Where both are 0, the launch runs once.
    unsigned cold_repeats = 0, warm_repeats = 0;
    bool record_outputs = true;
    std::uint64_t keep_bytes = 0;  ///< the bytes of outputs of up to this size are kept
    /// Nothing but the launches themselves, for a profiler.
    bool bare = false;
    /// With `bare`: each launch runs once before the profiler looks, and memory is restored.
    bool runs_before = false;
    /// The workload keeps addresses in memory, not only in parameters.
    bool has_addresses = false;
    int warm_up_cycles = 100'000'000;  ///< the clock rises under load
    int spin_cycles = 100'000;         ///< in front of what is timed, while the host enqueues it
    int clock_cycles = 2'000'000;      ///< over which the SM's clock is measured
    /// Allocated first, and a thousandth of it again, so that addresses differ from run to run: the
    /// driver takes small allocations from other places than large ones.
    std::uint64_t skip_bytes = 0;
};

/// One launch on the silicon. Times in microseconds, by the driver's events.
struct CudaLaunch {
    std::string file, kernel;  ///< NAME of NAME.cubin
    sass::Dim3 grid, block;
    std::uint32_t shared_bytes = 0;  ///< dynamic
    double first = 0;
    std::vector<double> cold, warm;
    double sm_mhz = 0;  ///< by the SM's own clock and timer, right after; 0: not known
    std::vector<Output> outputs;
};

class CudaDevice : public Device {
  public:
    /// The machine says what workloads ask of it (sizes, architecture); its numbers of SMs and its
    /// architecture must be the GPU's. Throws InputError where they are not.
    CudaDevice(std::shared_ptr<const Driver> driver, std::shared_ptr<const config::Machine> machine,
               const CudaDeviceOptions& options);
    ~CudaDevice() override;
    CudaDevice(const CudaDevice&) = delete;
    CudaDevice& operator=(const CudaDevice&) = delete;

    const config::Machine& machine() const override { return *machine_; }
    DevicePointer allocate(std::uint64_t bytes, MemoryKind kind) override;
    bool free(DevicePointer pointer) override;
    bool register_host(void* pointer, std::uint64_t bytes) override;
    AllocationInfo find(DevicePointer address) const override;
    std::uint64_t free_bytes() const override;
    std::uint64_t total_bytes() const override;
    ModuleHandle load_module(const cubin::Cubin& cubin) override;
    void unload_module(ModuleHandle module) override;
    /// The address is that of a copy on the host, which launches send to the GPU and fetch back.
    std::pair<DevicePointer, std::uint64_t> find_variable(ModuleHandle module,
                                                          std::string_view name) override;
    const cubin::Function* find_kernel(ModuleHandle module, std::string_view name) override;
    LaunchResult launch(const LaunchRequest& request) override;
    void set_printf_output(std::function<void(std::string_view)>) override {}
    void set_heap_bytes(std::uint64_t) override {}
    void set_stack_bytes(std::uint64_t) override {}

    /// What ran since this was last asked.
    std::vector<CudaLaunch> take_launches() { return std::move(launches_); }
    /// SHA-256 of each cubin that was loaded, by NAME.
    const std::map<std::string, std::string>& cubins() const { return cubins_; }
    /// Microseconds of a launch that does nothing, timed as the others are; from then on the GPU is
    /// kept busy for as long as the host needs to enqueue one.
    double empty_launch();
    /// MHz of the SM's clock now, 0 where the timer does not move.
    double measure_sm_clock();
    /// Keeps the GPU busy until its clock has risen; keep_warm: where it was idle for long.
    void warm_up();
    void keep_warm();
    /// Runs a function of the transcendental unit over consecutive bit patterns (probes.cu).
    std::vector<float> table(const std::string& function, std::uint32_t first_bits, int count);

  private:
    struct Variable {
        CuPointer address = 0;
        std::vector<std::byte> copy;
    };
    struct Module {
        CuModule* module = nullptr;
        std::string file;
        cubin::Cubin cubin;
        std::map<std::string, Variable, std::less<>> variables;
    };

    CuFunction* probe(const char* name);
    void run(CuFunction* function, sass::Dim3 grid, sass::Dim3 block, std::uint32_t shared_bytes,
             std::span<const std::byte> parameters);
    void spin(int cycles);
    double time_launch(CuFunction* function, const LaunchRequest& request,
                       std::span<const std::byte> parameters);
    void send_variables();
    void fetch_variables();
    void clear_l2();
    void check(CuResult result, const char* call) const { driver_->check(result, call); }

    std::shared_ptr<const Driver> driver_;
    std::shared_ptr<const config::Machine> machine_;
    CudaDeviceOptions options_;
    CuDevice device_ = 0;
    CuEvent *begin_ = nullptr, *end_ = nullptr;
    CuPointer noted_ = 0, clear_ = 0, skipped_[2] = {};
    std::size_t clear_bytes_ = 0;
    CuModule* probes_ = nullptr;
    std::chrono::steady_clock::time_point last_busy_ = {};
    ShadowMemory memory_;
    AllocationLog log_;
    std::map<ModuleHandle, Module> modules_;
    ModuleHandle next_module_ = 1;
    std::map<std::string, std::string> cubins_;
    std::vector<CudaLaunch> launches_;
};

}  // namespace lockstep::validation
