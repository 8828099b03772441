// SPDX-License-Identifier: Apache-2.0
// Memory is copied whole to the GPU before a launch and back after it. An event that is recorded on
// an idle GPU takes its time before the host has enqueued the launch behind it, so a short spinning
// kernel stands in front. L2 is cleared by reading a buffer of several times its size: what it held
// is written back and nothing dirty is left, as after a profiler's flush.
#include "validation/measure/cuda_device.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "sim/error/error.h"
#include "sim/stats/sha256.h"
#include "validation/measure/probe_images.h"
#include "workloads/cuda/kernel_images.h"
#include "workloads/cuda/launcher.h"

namespace lockstep::validation {

namespace {

constexpr std::uint64_t kLeastClearBytes = 32u << 20;

/// A GPU that was idle for longer may have lowered its clock.
constexpr std::chrono::milliseconds kCoolingTime{50};

/// How long the GPU is kept busy at most while the host enqueues, and by how many microseconds
/// events of the same launch differ.
constexpr int kMostSpinCycles = 4'000'000;
constexpr double kEventNoise = 0.25;

/// How the Launcher names what is built in.
constexpr std::string_view kBuiltIn = ".cubin (built in)";

double median(std::vector<double> values) {
    if (values.empty()) return 0;
    std::sort(values.begin(), values.end());
    return values[values.size() / 2];
}

/// Device memory that is freed at the end of a scope.
class Backup {
  public:
    Backup(const Driver& driver, CuPointer of, std::uint64_t bytes)
        : driver_(driver), of_(of), bytes_(bytes) {
        driver_.check(driver_.allocate(&copy_, bytes_), "cuMemAlloc");
        driver_.check(driver_.copy_on_device(copy_, of_, bytes_, nullptr), "cuMemcpyDtoDAsync");
    }
    ~Backup() { driver_.free(copy_); }
    Backup(const Backup&) = delete;
    Backup& operator=(const Backup&) = delete;
    void restore() const {
        driver_.check(driver_.copy_on_device(of_, copy_, bytes_, nullptr), "cuMemcpyDtoDAsync");
    }

  private:
    const Driver& driver_;
    CuPointer of_, copy_ = 0;
    std::uint64_t bytes_;
};

}  // namespace

CudaDevice::CudaDevice(std::shared_ptr<const Driver> driver,
                       std::shared_ptr<const config::Machine> machine,
                       const CudaDeviceOptions& options)
    : driver_(std::move(driver)),
      machine_(std::move(machine)),
      options_(options),
      memory_(driver_) {
    check(driver_->device(&device_, 0), "cuDeviceGet");
    const int arch =
        10 * driver_->attribute(kCuMajor, device_) + driver_->attribute(kCuMinor, device_);
    const int sms = driver_->attribute(kCuMultiprocessors, device_);
    if (arch != machine_->integer("arch") || sms != machine_->integer("sm.count"))
        throw InputError(fmt::format(
            "the GPU has {} SMs of compute capability {}.{}, machine '{}' has {} of {}.{}", sms,
            arch / 10, arch % 10, machine_->name(), machine_->integer("sm.count"),
            machine_->integer("arch") / 10, machine_->integer("arch") % 10));
    CuContext* context = nullptr;
    check(driver_->retain_context(&context, device_), "cuDevicePrimaryCtxRetain");
    check(driver_->set_context(context), "cuCtxSetCurrent");
    if (options_.skip_bytes > 0) {
        check(driver_->allocate(&skipped_[0], options_.skip_bytes), "cuMemAlloc");
        check(driver_->allocate(&skipped_[1], (options_.skip_bytes + 999) / 1000), "cuMemAlloc");
    }
    const auto image = probe_image(arch);
    LOCKSTEP_CHECK(!image.empty(), "no probes for compute capability {}.{}", arch / 10, arch % 10);
    check(driver_->load_module(&probes_, image.data()), "cuModuleLoadData");
    check(driver_->allocate(&noted_, 2 * sizeof(std::uint64_t)), "cuMemAlloc");
    if (options_.bare) return;
    const int l2_bytes = driver_->attribute(kCuL2Bytes, device_);
    clear_bytes_ = std::max<std::uint64_t>(kLeastClearBytes, 4 * std::uint64_t(l2_bytes));
    check(driver_->allocate(&clear_, clear_bytes_), "cuMemAlloc");
    check(driver_->fill(clear_, 0, clear_bytes_ / sizeof(unsigned), nullptr), "cuMemsetD32Async");
    check(driver_->create_event(&begin_, 0), "cuEventCreate");
    check(driver_->create_event(&end_, 0), "cuEventCreate");
}

CudaDevice::~CudaDevice() {
    // After a fault every call fails, and the process ends: nothing to do about it here.
    for (auto& [handle, module] : modules_) driver_->unload_module(module.module);
    for (const CuPointer pointer : {skipped_[0], skipped_[1], clear_, noted_})
        if (pointer != 0) driver_->free(pointer);
    for (CuEvent* const event : {begin_, end_})
        if (event != nullptr) driver_->destroy_event(event);
    if (probes_ != nullptr) driver_->unload_module(probes_);
}

DevicePointer CudaDevice::allocate(std::uint64_t bytes, MemoryKind) {
    const DevicePointer pointer = memory_.allocate(bytes);
    if (pointer != 0) log_.add(pointer, bytes);
    return pointer;
}

bool CudaDevice::free(DevicePointer pointer) {
    if (!log_.allocations().contains(pointer)) return false;
    log_.remove(pointer);
    memory_.free(pointer);
    return true;
}

bool CudaDevice::register_host(void*, std::uint64_t) {
    throw InputError("a measured workload cannot register host memory");
}

AllocationInfo CudaDevice::find(DevicePointer address) const {
    const auto& all = log_.allocations();
    auto after = all.upper_bound(address);
    if (after == all.begin()) return {};
    const auto& [begin, allocation] = *--after;
    if (address - begin >= allocation.bytes) return {};
    return {begin, allocation.bytes, MemoryKind::kDevice};
}

std::uint64_t CudaDevice::free_bytes() const {
    std::size_t free = 0, total = 0;
    check(driver_->memory_info(&free, &total), "cuMemGetInfo");
    return free;
}

std::uint64_t CudaDevice::total_bytes() const {
    std::size_t total = 0;
    check(driver_->total_memory(&total, device_), "cuDeviceTotalMem");
    return total;
}

ModuleHandle CudaDevice::load_module(const cubin::Cubin& cubin) {
    if (!std::string_view(cubin.file_name).ends_with(kBuiltIn))
        throw InputError(fmt::format("{}: only built-in kernels are measured", cubin.file_name));
    const std::string file = cubin.file_name.substr(0, cubin.file_name.size() - kBuiltIn.size());
    const auto image = cuda::kernel_image(file, static_cast<int>(machine_->integer("arch")));
    LOCKSTEP_CHECK(!image.empty(), "no image of {}", file);
    Module module{nullptr, file, cubin, {}};
    check(driver_->load_module(&module.module, image.data()), "cuModuleLoadData");
    cubins_[file] = stats::sha256(image);
    modules_.emplace(next_module_, std::move(module));
    return next_module_++;
}

void CudaDevice::unload_module(ModuleHandle handle) {
    const auto found = modules_.find(handle);
    LOCKSTEP_CHECK(found != modules_.end(), "no module {}", handle);
    driver_->unload_module(found->second.module);  // also called while a fault is reported
    modules_.erase(found);
}

std::pair<DevicePointer, std::uint64_t> CudaDevice::find_variable(ModuleHandle handle,
                                                                  std::string_view name) {
    Module& module = modules_.at(handle);
    auto found = module.variables.find(name);
    if (found == module.variables.end()) {
        if (module.cubin.find_symbol(name) == nullptr) return {0, 0};
        Variable variable;
        std::size_t bytes = 0;
        check(driver_->find_variable(&variable.address, &bytes, module.module,
                                     std::string(name).c_str()),
              "cuModuleGetGlobal");
        variable.copy.resize(bytes);
        check(driver_->copy_to_host(variable.copy.data(), variable.address, bytes), "cuMemcpyDtoH");
        found = module.variables.emplace(name, std::move(variable)).first;
    }
    return {reinterpret_cast<DevicePointer>(found->second.copy.data()), found->second.copy.size()};
}

const cubin::Function* CudaDevice::find_kernel(ModuleHandle handle, std::string_view name) {
    const cubin::Function* function = modules_.at(handle).cubin.find_function(name);
    return function != nullptr && function->is_kernel ? function : nullptr;
}

void CudaDevice::send_variables() {
    for (auto& [handle, module] : modules_)
        for (auto& [name, variable] : module.variables)
            check(driver_->copy_to_device(variable.address, variable.copy.data(),
                                          variable.copy.size()),
                  "cuMemcpyHtoD");
}

void CudaDevice::fetch_variables() {
    for (auto& [handle, module] : modules_)
        for (auto& [name, variable] : module.variables)
            check(
                driver_->copy_to_host(variable.copy.data(), variable.address, variable.copy.size()),
                "cuMemcpyDtoH");
}

void CudaDevice::clear_l2() {
    const cuda::Array<unsigned> buffer{clear_, clear_bytes_ / sizeof(unsigned)},
        noted{noted_, 2 * sizeof(std::uint64_t) / sizeof(unsigned)};
    const cuda::Arguments arguments(buffer, noted,
                                    static_cast<int>(clear_bytes_ / (4 * sizeof(unsigned))));
    run(probe("read_all"), {static_cast<std::uint32_t>(2 * machine_->integer("sm.count"))}, {512},
        0, arguments.bytes());
}

CuFunction* CudaDevice::probe(const char* name) {
    CuFunction* function = nullptr;
    check(driver_->find_function(&function, probes_, name), "cuModuleGetFunction");
    return function;
}

void CudaDevice::run(CuFunction* function, sass::Dim3 grid, sass::Dim3 block,
                     std::uint32_t shared_bytes, std::span<const std::byte> parameters) {
    std::size_t bytes = parameters.size();
    void* extra[] = {
        reinterpret_cast<void*>(kCuParamPointer), const_cast<std::byte*>(parameters.data()),
        reinterpret_cast<void*>(kCuParamSize), &bytes, reinterpret_cast<void*>(kCuParamEnd)};
    check(driver_->launch(function, grid.x, grid.y, grid.z, block.x, block.y, block.z, shared_bytes,
                          nullptr, nullptr, bytes == 0 ? nullptr : extra),
          "cuLaunchKernel");
}

void CudaDevice::spin(int cycles) {
    const cuda::Array<std::uint64_t> noted{noted_, 2};
    const cuda::Arguments arguments(noted, cycles);
    run(probe("spin"), {}, {}, 0, arguments.bytes());
}

void CudaDevice::warm_up() {
    if (options_.warm_up_cycles == 0) return;
    // In pieces: one long kernel would hold up a display, and a wrong clock rate the program.
    const int pieces = 20;
    for (int i = 0; i < pieces; ++i) spin(options_.warm_up_cycles / pieces);
    check(driver_->synchronise(), "cuCtxSynchronize");
    last_busy_ = std::chrono::steady_clock::now();
}

void CudaDevice::keep_warm() {
    if (std::chrono::steady_clock::now() - last_busy_ > kCoolingTime) warm_up();
}

double CudaDevice::measure_sm_clock() {
    spin(options_.clock_cycles);
    std::uint64_t noted[2] = {};
    check(driver_->copy_to_host(noted, noted_, sizeof noted), "cuMemcpyDtoH");
    return noted[1] == 0 ? 0 : 1000.0 * static_cast<double>(noted[0]) / double(noted[1]);
}

double CudaDevice::time_launch(CuFunction* function, const LaunchRequest& request,
                               std::span<const std::byte> parameters) {
    spin(options_.spin_cycles);
    check(driver_->record_event(begin_, nullptr), "cuEventRecord");
    run(function, request.grid, request.block, request.dynamic_shared_bytes, parameters);
    check(driver_->record_event(end_, nullptr), "cuEventRecord");
    check(driver_->wait_for_event(end_), "cuEventSynchronize");
    float milliseconds = 0;
    check(driver_->elapsed_time(&milliseconds, begin_, end_), "cuEventElapsedTime");
    return 1000.0 * milliseconds;
}

double CudaDevice::empty_launch() {
    keep_warm();
    CuFunction* const function = probe("empty");
    const auto time = [&] {
        std::vector<double> times;
        for (int i = 0; i < 21; ++i) times.push_back(time_launch(function, {}, {}));
        return median(times);
    };
    // Where the host enqueues slowly the GPU waits between the events, and spinning longer in front
    // of them makes the launch seem shorter.
    double shortest = time();
    while (options_.spin_cycles < kMostSpinCycles) {
        const int enough = options_.spin_cycles;
        options_.spin_cycles *= 2;
        const double longer_spin = time();
        if (longer_spin > shortest - kEventNoise) {
            options_.spin_cycles = enough;
            break;
        }
        shortest = longer_spin;
    }
    return shortest;
}

LaunchResult CudaDevice::launch(const LaunchRequest& request) {
    const auto found = modules_.find(request.module);
    LOCKSTEP_CHECK(found != modules_.end(), "no module {}", request.module);
    if (request.cooperative || request.cluster.volume() != 1)
        throw InputError(
            fmt::format("{}: cooperative launches and clusters are not measured", request.kernel));
    CuFunction* function = nullptr;
    check(driver_->find_function(&function, found->second.module, request.kernel.c_str()),
          "cuModuleGetFunction");
    if (request.dynamic_shared_bytes > 0)
        check(driver_->set_function_attribute(function, kCuMaxDynamicSharedBytes,
                                              static_cast<int>(request.dynamic_shared_bytes)),
              "cuFuncSetAttribute");
    CudaLaunch launch{.file = found->second.file,
                      .kernel = request.kernel,
                      .grid = request.grid,
                      .block = request.block,
                      .shared_bytes = request.dynamic_shared_bytes};
    const std::vector<std::byte> parameters = memory_.translated(request.parameters);
    send_variables();
    if (options_.bare) {
        memory_.to_device(options_.has_addresses);
        keep_warm();
        if (options_.runs_before) {
            run(function, request.grid, request.block, request.dynamic_shared_bytes, parameters);
            check(driver_->synchronise(), "cuCtxSynchronize");
            send_variables();
            memory_.to_device(options_.has_addresses);
        }
        // Profilers that were told so look at nothing else; without one there is nothing to start.
        driver_->start_profiler();
        run(function, request.grid, request.block, request.dynamic_shared_bytes, parameters);
        check(driver_->synchronise(), "cuCtxSynchronize");
        driver_->stop_profiler();
        memory_.to_host(options_.has_addresses);
        fetch_variables();
        launches_.push_back(std::move(launch));
        return {};
    }

    const bool repeats = options_.cold_repeats + options_.warm_repeats > 0;
    if (options_.record_outputs || repeats) log_.before_launch();
    memory_.to_device(options_.has_addresses);
    std::map<std::size_t, std::unique_ptr<Backup>> backups;  // by the allocation's number
    if (repeats)
        for (const auto& [pointer, allocation] : log_.allocations())
            backups.emplace(
                allocation.number,
                std::make_unique<Backup>(*driver_, memory_.on_device(pointer), allocation.bytes));
    keep_warm();
    launch.first = time_launch(function, request, parameters);
    launch.sm_mhz = measure_sm_clock();
    memory_.to_host(options_.has_addresses);
    if (options_.record_outputs || repeats) launch.outputs = log_.after_launch(options_.keep_bytes);

    if (repeats) {
        // Only what the launch changed has to be restored; of large allocations that is not known.
        std::vector<const Backup*> changed;
        for (const Output& output : launch.outputs)
            changed.push_back(backups.at(output.allocation).get());
        for (const auto& [pointer, allocation] : log_.allocations())
            if (allocation.bytes > AllocationLog::kMaximumBytes)
                changed.push_back(backups.at(allocation.number).get());
        for (unsigned i = 0; i < options_.warm_repeats + options_.cold_repeats; ++i) {
            const bool is_cold = i >= options_.warm_repeats;
            for (const Backup* backup : changed) backup->restore();
            send_variables();
            if (is_cold) clear_l2();
            (is_cold ? launch.cold : launch.warm)
                .push_back(time_launch(function, request, parameters));
        }
        if (const double mhz = measure_sm_clock(); mhz > 0) launch.sm_mhz = mhz;
    }
    last_busy_ = std::chrono::steady_clock::now();
    fetch_variables();

    LaunchResult result;
    const double microseconds = launch.cold.empty() ? launch.first : median(launch.cold);
    result.seconds = 1e-6 * microseconds;
    result.cycles = static_cast<std::uint64_t>(std::llround(microseconds * launch.sm_mhz));
    launches_.push_back(std::move(launch));
    return result;
}

std::vector<float> CudaDevice::table(const std::string& function, std::uint32_t first_bits,
                                     int count) {
    CuPointer out = 0;
    const std::size_t bytes = static_cast<std::size_t>(count) * sizeof(float);
    check(driver_->allocate(&out, bytes), "cuMemAlloc");
    const cuda::Array<float> array{out, static_cast<std::size_t>(count)};
    const cuda::Arguments arguments(array, static_cast<int>(first_bits), count);
    run(probe(("table_" + function).c_str()), {static_cast<std::uint32_t>((count + 255) / 256)},
        {256}, 0, arguments.bytes());
    std::vector<float> values(static_cast<std::size_t>(count));
    check(driver_->copy_to_host(values.data(), out, bytes), "cuMemcpyDtoH");
    check(driver_->free(out), "cuMemFree");
    return values;
}

}  // namespace lockstep::validation
