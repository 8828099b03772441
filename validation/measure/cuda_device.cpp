// SPDX-License-Identifier: Apache-2.0
// Managed memory gives addresses that are valid on the host and on the GPU; it is moved whole to
// where it is needed, so that no page faults fall into what is timed. An event that is recorded on
// an idle GPU takes its time before the host has enqueued the launch behind it, so a short spinning
// kernel stands in front. L2 is flushed by writing a buffer of several times its size.
#include "validation/measure/cuda_device.h"

#include <algorithm>
#include <cmath>
#include <cstring>

#include "sim/error/error.h"
#include "validation/measure/probe_images.h"
#include "validation/measure/sha256.h"
#include "workloads/cuda/kernel_images.h"
#include "workloads/cuda/launcher.h"

namespace lockstep::validation {

namespace {

constexpr std::uint64_t kLeastFlushBytes = 256u << 20;

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
    : driver_(std::move(driver)), machine_(std::move(machine)), options_(options) {
    check(driver_->device(&device_, 0), "cuDeviceGet");
    const int arch =
        10 * driver_->attribute(kCuMajor, device_) + driver_->attribute(kCuMinor, device_);
    const int sms = driver_->attribute(kCuMultiprocessors, device_);
    if (arch != machine_->integer("arch") || sms != machine_->integer("sm.count"))
        throw InputError(fmt::format(
            "the GPU has {} SMs of compute capability {}.{}, machine '{}' has {} of {}.{}", sms,
            arch / 10, arch % 10, machine_->name(), machine_->integer("sm.count"),
            machine_->integer("arch") / 10, machine_->integer("arch") % 10));
    if (driver_->attribute(kCuConcurrentManagedAccess, device_) == 0)
        throw InputError("the GPU cannot share managed memory with the host while it runs");
    CuContext* context = nullptr;
    check(driver_->retain_context(&context, device_), "cuDevicePrimaryCtxRetain");
    check(driver_->set_context(context), "cuCtxSetCurrent");
    if (options_.skip_bytes > 0)
        check(driver_->allocate_managed(&skipped_, options_.skip_bytes, kCuAttachGlobal),
              "cuMemAllocManaged");
    if (options_.bare) return;
    const auto image = probe_image(arch);
    LOCKSTEP_CHECK(!image.empty(), "no probes for compute capability {}.{}", arch / 10, arch % 10);
    check(driver_->load_module(&probes_, image.data()), "cuModuleLoadData");
    check(driver_->allocate(&noted_, 2 * sizeof(std::uint64_t)), "cuMemAlloc");
    const int l2_bytes = driver_->attribute(kCuL2Bytes, device_);
    flush_bytes_ = std::max<std::uint64_t>(kLeastFlushBytes, 4 * std::uint64_t(l2_bytes));
    check(driver_->allocate(&flush_, flush_bytes_), "cuMemAlloc");
    check(driver_->create_event(&begin_, 0), "cuEventCreate");
    check(driver_->create_event(&end_, 0), "cuEventCreate");
}

CudaDevice::~CudaDevice() {
    // After a fault every call fails, and the process ends: nothing to do about it here.
    for (auto& [handle, module] : modules_) driver_->unload_module(module.module);
    for (auto& [pointer, allocation] : log_.allocations()) driver_->free(pointer);
    if (skipped_ != 0) driver_->free(skipped_);
    if (probes_ == nullptr) return;
    driver_->destroy_event(begin_);
    driver_->destroy_event(end_);
    driver_->free(flush_);
    driver_->free(noted_);
    driver_->unload_module(probes_);
}

DevicePointer CudaDevice::allocate(std::uint64_t bytes, MemoryKind) {
    CuPointer pointer = 0;
    // Managed memory may exceed the GPU's; a kernel would then wait for the host.
    if (bytes > free_bytes()) return 0;
    check(driver_->allocate_managed(&pointer, bytes, kCuAttachGlobal), "cuMemAllocManaged");
    std::memset(reinterpret_cast<void*>(pointer), 0, bytes);
    log_.add(pointer, bytes);
    return pointer;
}

bool CudaDevice::free(DevicePointer pointer) {
    if (!log_.allocations().contains(pointer)) return false;
    log_.remove(pointer);
    // No exception: workloads free their memory while a fault goes through them, and after a fault
    // every call of the driver fails.
    driver_->free(pointer);
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
    cubins_[file] = sha256(image);
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

void CudaDevice::prefetch(CuDevice to) {
    for (const auto& [pointer, allocation] : log_.allocations())
        check(driver_->prefetch(pointer, allocation.bytes, to, nullptr), "cuMemPrefetchAsync");
    check(driver_->synchronise(), "cuCtxSynchronize");
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

void CudaDevice::flush_l2() {
    check(driver_->fill(flush_, 0, flush_bytes_ / sizeof(unsigned), nullptr), "cuMemsetD32Async");
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
    // In pieces: one long kernel would hold up a display, and a wrong clock rate the program.
    const int pieces = 20;
    for (int i = 0; i < pieces; ++i) spin(options_.warm_up_cycles / pieces);
    check(driver_->synchronise(), "cuCtxSynchronize");
}

double CudaDevice::measure_sm_clock() {
    spin(options_.clock_cycles);
    std::uint64_t noted[2] = {};
    check(driver_->copy_to_host(noted, noted_, sizeof noted), "cuMemcpyDtoH");
    return noted[1] == 0 ? 0 : 1000.0 * static_cast<double>(noted[0]) / double(noted[1]);
}

double CudaDevice::time_launch(CuFunction* function, const LaunchRequest& request) {
    spin(options_.spin_cycles);
    check(driver_->record_event(begin_, nullptr), "cuEventRecord");
    run(function, request.grid, request.block, request.dynamic_shared_bytes, request.parameters);
    check(driver_->record_event(end_, nullptr), "cuEventRecord");
    check(driver_->wait_for_event(end_), "cuEventSynchronize");
    float milliseconds = 0;
    check(driver_->elapsed_time(&milliseconds, begin_, end_), "cuEventElapsedTime");
    return 1000.0 * milliseconds;
}

double CudaDevice::empty_launch() {
    std::vector<double> times;
    CuFunction* const function = probe("empty");
    for (int i = 0; i < 21; ++i) times.push_back(time_launch(function, {}));
    return median(times);
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
    if (options_.bare) {
        send_variables();
        prefetch(device_);
        run(function, request.grid, request.block, request.dynamic_shared_bytes,
            request.parameters);
        prefetch(kCuHost);
        fetch_variables();
        launches_.push_back(std::move(launch));
        return {};
    }

    const bool repeats = options_.cold_repeats + options_.warm_repeats > 0;
    if (options_.record_outputs || repeats) log_.before_launch();
    send_variables();
    prefetch(device_);
    std::map<std::size_t, std::unique_ptr<Backup>> backups;  // by the allocation's number
    if (repeats)
        for (const auto& [pointer, allocation] : log_.allocations())
            backups.emplace(allocation.number,
                            std::make_unique<Backup>(*driver_, pointer, allocation.bytes));
    launch.first = time_launch(function, request);
    launch.sm_mhz = measure_sm_clock();
    prefetch(kCuHost);
    if (options_.record_outputs || repeats) launch.outputs = log_.after_launch();

    if (repeats) {
        // Only what the launch changed has to be restored; of large allocations that is not known.
        std::vector<const Backup*> changed;
        for (const Output& output : launch.outputs)
            changed.push_back(backups.at(output.allocation).get());
        for (const auto& [pointer, allocation] : log_.allocations())
            if (allocation.bytes > AllocationLog::kMaximumBytes)
                changed.push_back(backups.at(allocation.number).get());
        prefetch(device_);
        for (unsigned i = 0; i < options_.warm_repeats + options_.cold_repeats; ++i) {
            const bool is_cold = i >= options_.warm_repeats;
            for (const Backup* backup : changed) backup->restore();
            send_variables();
            if (is_cold) flush_l2();
            (is_cold ? launch.cold : launch.warm).push_back(time_launch(function, request));
        }
        if (const double mhz = measure_sm_clock(); mhz > 0) launch.sm_mhz = mhz;
        prefetch(kCuHost);
    }
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
