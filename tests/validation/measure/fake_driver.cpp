// SPDX-License-Identifier: Apache-2.0
// A CUDA driver for tests: the functions that lockstep_measure uses, on the emulator. What it
// measures is worth nothing (an event's time is the number of instructions so far); that the
// program calls the driver rightly is what it shows. Like the driver it refuses wrong pointers.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>

#include "isa/cubin/cubin.h"
#include "models/device.h"

#define EXPORT extern "C" [[gnu::visibility("default")]]

namespace {

using namespace lockstep;

constexpr int kInvalidValue = 1, kNotFound = 500, kLaunchFailed = 719;

struct FakeModule {
    ModuleHandle handle;
    cubin::Cubin cubin;
};
struct FakeFunction {
    FakeModule* module;
    std::string name;
    int shared_limit = 48 * 1024;
};
struct FakeEvent {
    std::uint64_t time = 0;
};
struct State {
    std::unique_ptr<Device> device;
    std::map<std::string, std::unique_ptr<FakeFunction>> functions;
    std::uint64_t instructions = 0;
    bool has_context = false;
    int sticky = 0;  ///< after a fault every call fails
};

State& state() {
    static State* const all = new State;  // never destroyed: the driver outlives the program
    return *all;
}

bool is_allocated(std::uint64_t pointer, std::size_t bytes) {
    const AllocationInfo info = state().device->find(pointer);
    return info.bytes != 0 && pointer + bytes <= info.begin + info.bytes;
}

std::size_t elf_bytes(const unsigned char* image) {
    const auto read = [&](std::size_t at, std::size_t bytes) {
        std::uint64_t value = 0;
        std::memcpy(&value, image + at, bytes);
        return value;
    };
    std::size_t end = read(0x20, 8) + read(0x36, 2) * read(0x38, 2);  // program headers
    const std::size_t sections = read(0x28, 8), size = read(0x3a, 2), count = read(0x3c, 2);
    end = std::max<std::size_t>(end, sections + size * count);
    for (std::size_t i = 0; i < count; ++i) {
        const std::size_t header = sections + i * size;
        if (read(header + 4, 4) != 8)  // SHT_NOBITS
            end = std::max<std::size_t>(end, read(header + 24, 8) + read(header + 32, 8));
    }
    return end;
}

#define NEED(condition)                                 \
    do {                                                \
        if (state().sticky != 0) return state().sticky; \
        if (!(condition)) return kInvalidValue;         \
    } while (false)

}  // namespace

EXPORT int cuInit(unsigned flags) {
    if (std::getenv("LOCKSTEP_FAKE_NO_GPU") != nullptr) return 100;
    if (state().device == nullptr)
        state().device = make_emulator(config::Machine::load("h200"), {});
    return flags == 0 ? 0 : kInvalidValue;
}
EXPORT int cuDriverGetVersion(int* version) {
    *version = 12080;
    return 0;
}
EXPORT int cuDeviceGetCount(int* count) {
    *count = 1;
    return 0;
}
EXPORT int cuDeviceGet(int* device, int ordinal) {
    NEED(ordinal == 0);
    *device = 7;
    return 0;
}
EXPORT int cuDeviceGetName(char* name, int bytes, int device) {
    NEED(device == 7);
    std::snprintf(name, static_cast<std::size_t>(bytes), "Emulated H200");
    return 0;
}
EXPORT int cuDeviceGetAttribute(int* value, int attribute, int device) {
    NEED(device == 7);
    switch (attribute) {
        case 13:
            *value = 1980000;
            return 0;
        case 16:
            *value = 132;
            return 0;
        case 36:
            *value = 3201000;
            return 0;
        case 38:
            *value = 1 << 20;
            return 0;
        case 75:
            *value = 9;
            return 0;
        case 76:
            *value = 0;
            return 0;
        default:
            return kInvalidValue;
    }
}
EXPORT int cuDeviceGetPCIBusId(char* address, int bytes, int device) {
    NEED(device == 7);
    std::snprintf(address, static_cast<std::size_t>(bytes), "0000:1a:00.0");
    return 0;
}
EXPORT int cuDeviceTotalMem_v2(std::size_t* bytes, int device) {
    NEED(device == 7);
    *bytes = state().device->total_bytes();
    return 0;
}
EXPORT int cuDevicePrimaryCtxRetain(void** context, int device) {
    NEED(device == 7);
    *context = &state();
    return 0;
}
EXPORT int cuCtxSetCurrent(void* context) {
    NEED(context == &state());
    state().has_context = true;
    return 0;
}
EXPORT int cuCtxSynchronize() {
    NEED(state().has_context);
    return 0;
}
EXPORT int cuMemGetInfo_v2(std::size_t* free, std::size_t* total) {
    NEED(state().has_context);
    *free = state().device->free_bytes();
    *total = state().device->total_bytes();
    return 0;
}
EXPORT int cuMemAlloc_v2(std::uint64_t* pointer, std::size_t bytes) {
    NEED(state().has_context && bytes > 0);
    *pointer = state().device->allocate(bytes);
    return *pointer == 0 ? 2 : 0;
}
EXPORT int cuMemFree_v2(std::uint64_t pointer) {
    NEED(state().device->free(pointer));
    return 0;
}
EXPORT int cuMemcpyDtoDAsync_v2(std::uint64_t to, std::uint64_t from, std::size_t bytes, void*) {
    NEED(is_allocated(to, bytes) && is_allocated(from, bytes));
    std::memcpy(reinterpret_cast<void*>(to), reinterpret_cast<void*>(from), bytes);
    return 0;
}
EXPORT int cuMemcpyHtoD_v2(std::uint64_t to, const void* from, std::size_t bytes) {
    NEED(state().has_context && is_allocated(to, bytes));
    std::memcpy(reinterpret_cast<void*>(to), from, bytes);
    return 0;
}
EXPORT int cuMemcpyDtoH_v2(void* to, std::uint64_t from, std::size_t bytes) {
    NEED(state().has_context && is_allocated(from, bytes));
    std::memcpy(to, reinterpret_cast<void*>(from), bytes);
    return 0;
}
EXPORT int cuMemsetD32Async(std::uint64_t to, unsigned, std::size_t words, void*) {
    // The flush: its buffer is large, and nobody reads it.
    NEED(is_allocated(to, 4 * words));
    return 0;
}
EXPORT int cuModuleLoadData(void** module, const void* image) {
    NEED(state().has_context);
    const auto* bytes = static_cast<const unsigned char*>(image);
    auto* fake = new FakeModule{0, cubin::parse({bytes, elf_bytes(bytes)}, "image")};
    fake->handle = state().device->load_module(fake->cubin);
    *module = fake;
    return 0;
}
EXPORT int cuModuleUnload(void* module) {
    auto* fake = static_cast<FakeModule*>(module);
    std::erase_if(state().functions,
                  [&](const auto& entry) { return entry.second->module == fake; });
    state().device->unload_module(fake->handle);
    delete fake;
    return 0;
}
EXPORT int cuModuleGetFunction(void** function, void* module, const char* name) {
    auto* fake = static_cast<FakeModule*>(module);
    NEED(fake != nullptr);
    if (state().device->find_kernel(fake->handle, name) == nullptr) return kNotFound;
    auto& entry = state().functions[std::to_string(fake->handle) + name];
    if (entry == nullptr) entry = std::make_unique<FakeFunction>(FakeFunction{fake, name});
    *function = entry.get();
    return 0;
}
EXPORT int cuModuleGetGlobal_v2(std::uint64_t* pointer, std::size_t* bytes, void* module,
                                const char* name) {
    std::tie(*pointer, *bytes) =
        state().device->find_variable(static_cast<FakeModule*>(module)->handle, name);
    return *pointer == 0 ? kNotFound : 0;
}
EXPORT int cuFuncSetAttribute(void* function, int attribute, int value) {
    NEED(attribute == 8 && value <= 227 * 1024);
    static_cast<FakeFunction*>(function)->shared_limit = value;
    return 0;
}
EXPORT int cuLaunchKernel(void* function, unsigned gx, unsigned gy, unsigned gz, unsigned bx,
                          unsigned by, unsigned bz, unsigned shared, void* stream,
                          void** parameters, void** extra) {
    auto* fake = static_cast<FakeFunction*>(function);
    NEED(stream == nullptr && parameters == nullptr &&
         static_cast<int>(shared) <= fake->shared_limit);
    std::span<const std::byte> bytes;
    if (extra != nullptr) {
        NEED(extra[0] == reinterpret_cast<void*>(1) && extra[2] == reinterpret_cast<void*>(2) &&
             extra[4] == nullptr);
        bytes = {static_cast<const std::byte*>(extra[1]), *static_cast<std::size_t*>(extra[3])};
    }
    const auto* kernel = state().device->find_kernel(fake->module->handle, fake->name);
    NEED(kernel != nullptr && kernel->parameter_bytes == bytes.size());
    if (const char* name = std::getenv("LOCKSTEP_FAKE_FAULT"); name && fake->name == name)
        return state().sticky = kLaunchFailed;
    try {
        const LaunchResult result = state().device->launch({.module = fake->module->handle,
                                                            .kernel = fake->name,
                                                            .grid = {gx, gy, gz},
                                                            .block = {bx, by, bz},
                                                            .dynamic_shared_bytes = shared,
                                                            .parameters = bytes});
        state().instructions += result.warp_instructions;
    } catch (const std::exception& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return state().sticky = kLaunchFailed;
    }
    return 0;
}
EXPORT int cuEventCreate(void** event, unsigned flags) {
    NEED(flags == 0);
    *event = new FakeEvent;
    return 0;
}
EXPORT int cuEventDestroy_v2(void* event) {
    delete static_cast<FakeEvent*>(event);
    return 0;
}
EXPORT int cuEventRecord(void* event, void* stream) {
    NEED(stream == nullptr);
    static_cast<FakeEvent*>(event)->time = state().instructions;
    return 0;
}
EXPORT int cuEventSynchronize(void*) {
    NEED(true);
    return 0;
}
EXPORT int cuEventElapsedTime(float* milliseconds, void* from, void* to) {
    NEED(true);
    *milliseconds = 1e-3f * static_cast<float>(static_cast<FakeEvent*>(to)->time -
                                               static_cast<FakeEvent*>(from)->time);
    return 0;
}
EXPORT int cuProfilerStart() {
    NEED(state().has_context);
    return 0;
}
EXPORT int cuProfilerStop() {
    NEED(state().has_context);
    return 0;
}
EXPORT int cuGetErrorName(int error, const char** name) {
    *name = error == kLaunchFailed   ? "CUDA_ERROR_LAUNCH_FAILED"
            : error == 100           ? "CUDA_ERROR_NO_DEVICE"
            : error == kInvalidValue ? "CUDA_ERROR_INVALID_VALUE"
                                     : "CUDA_ERROR_OTHER";
    return 0;
}
EXPORT int cuGetErrorString(int, const char** text) {
    *text = "an error of the driver for tests";
    return 0;
}

// What of the management library is asked, in the same file: a card with ECC that another process
// uses, of a library that knows nothing of MIG.
EXPORT int nvmlInit_v2() {
    return 0;
}
EXPORT int nvmlShutdown() {
    return 0;
}
EXPORT int nvmlSystemGetDriverVersion(char* version, unsigned bytes) {
    std::snprintf(version, bytes, "580.1");
    return 0;
}
EXPORT int nvmlDeviceGetHandleByPciBusId_v2(const char* address, void** card) {
    *card = &state();
    return std::strcmp(address, "0000:1a:00.0") == 0 ? 0 : 6;
}
EXPORT int nvmlDeviceGetClockInfo(void*, int clock, unsigned* mhz) {
    *mhz = clock == 1 ? 345 : 3201;
    return 0;
}
EXPORT int nvmlDeviceGetEnforcedPowerLimit(void*, unsigned* milliwatts) {
    *milliwatts = 700'500;
    return 0;
}
EXPORT int nvmlDeviceGetEccMode(void*, unsigned* now, unsigned* later) {
    *now = *later = 1;
    return 0;
}
EXPORT int nvmlDeviceGetTemperature(void*, int, unsigned*) {
    return 3;  // NVML_ERROR_NOT_SUPPORTED
}
EXPORT int nvmlDeviceGetCurrentClocksThrottleReasons(void*, unsigned long long* reasons) {
    *reasons = 0x1 | 0x4;
    return 0;
}
EXPORT int nvmlDeviceGetComputeRunningProcesses_v3(void*, unsigned* count, void* list) {
    *count = 2;
    return list == nullptr ? 7 : 0;
}
