// SPDX-License-Identifier: Apache-2.0
// Loaded at run time, as the driver is; names and values are those of NVIDIA's documented NVML API,
// version 12, whose functions keep their meaning once they are there.
#include "validation/measure/nvml.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "validation/measure/driver.h"

namespace lockstep::validation {

namespace {

using NvmlDevice = void*;
constexpr int kDone = 0, kInsufficientSize = 7;  // NVML_SUCCESS, NVML_ERROR_INSUFFICIENT_SIZE
constexpr int kSmClock = 1, kMemoryClock = 2;    // NVML_CLOCK_...
constexpr int kGpuTemperature = 0;               // NVML_TEMPERATURE_GPU

/// Bits of nvmlDeviceGetCurrentClocksThrottleReasons.
constexpr std::pair<unsigned long long, const char*> kReasons[] = {
    {0x1, "idle"},
    {0x2, "application clocks"},
    {0x4, "power cap"},
    {0x8, "hardware slowdown"},
    {0x10, "sync boost"},
    {0x20, "software thermal slowdown"},
    {0x40, "hardware thermal slowdown"},
    {0x80, "power brake"},
    {0x100, "display clocks"},
};

class Nvml {
  public:
    explicit Nvml(void* library) : library_(library) {}
    /// Whether the function is there and did it.
    template <class... A>
    bool did(const char* name, A... arguments) const {
        return result(name, arguments...) == kDone;
    }
    template <class... A>
    int result(const char* name, A... arguments) const {
        const auto function = reinterpret_cast<int (*)(A...)>(dlsym(library_, name));
        return function == nullptr ? -1 : function(arguments...);
    }

  private:
    void* library_;
};

}  // namespace

std::map<std::string, std::string> card_state(const std::string& library,
                                              const std::string& pci_address) {
    std::string error;
    void* const handle = open_library(library, error);
    if (handle == nullptr) return {};
    const Nvml nvml(handle);
    NvmlDevice card = nullptr;
    std::map<std::string, std::string> state;
    if (!nvml.did("nvmlInit_v2")) return {};
    if (nvml.did("nvmlDeviceGetHandleByPciBusId_v2", pci_address.c_str(), &card)) {
        char version[96] = {};
        if (nvml.did("nvmlSystemGetDriverVersion", +version, unsigned{sizeof version - 1}))
            state["driver"] = version;
        unsigned value = 0, later = 0;
        const auto note = [&](const char* name, double scale = 1) {
            state[name] = fmt::format("{}", value / scale);
        };
        const auto note_switch = [&](const char* name) { state[name] = value ? "on" : "off"; };
        if (nvml.did("nvmlDeviceGetClockInfo", card, kSmClock, &value)) note("sm_mhz");
        if (nvml.did("nvmlDeviceGetMaxClockInfo", card, kSmClock, &value)) note("sm_mhz_most");
        if (nvml.did("nvmlDeviceGetClockInfo", card, kMemoryClock, &value)) note("memory_mhz");
        if (nvml.did("nvmlDeviceGetMaxClockInfo", card, kMemoryClock, &value))
            note("memory_mhz_most");
        if (nvml.did("nvmlDeviceGetEnforcedPowerLimit", card, &value)) note("power_limit_w", 1000);
        if (nvml.did("nvmlDeviceGetTemperature", card, kGpuTemperature, &value))
            note("temperature_c");
        if (nvml.did("nvmlDeviceGetEccMode", card, &value, &later)) note_switch("ecc");
        if (nvml.did("nvmlDeviceGetMigMode", card, &value, &later)) note_switch("mig");
        if (nvml.did("nvmlDeviceGetPersistenceMode", card, &value)) note_switch("persistence");
        unsigned long long reasons = 0;
        if (nvml.did("nvmlDeviceGetCurrentClocksThrottleReasons", card, &reasons)) {
            std::string list;
            for (const auto& [bit, reason] : kReasons)
                if (reasons & bit) list += (list.empty() ? "" : ", ") + std::string(reason);
            state["clocks_low_by"] = list.empty() ? "nothing" : list;
        }
        value = 0;  // no room for a list: how many there are is all that is asked
        const int result = nvml.result("nvmlDeviceGetComputeRunningProcesses_v3", card, &value,
                                       static_cast<void*>(nullptr));
        if (result == kDone || result == kInsufficientSize) note("processes");
    }
    nvml.did("nvmlShutdown");
    return state;
}

}  // namespace lockstep::validation
