// SPDX-License-Identifier: Apache-2.0
// Finds the driver's functions by name. The library stays loaded until the program ends: the driver
// has threads of its own.
#include "validation/measure/driver.h"

#include <dlfcn.h>

#include <cstdlib>

#include "sim/error/error.h"

namespace lockstep::validation {

void* open_library(const std::string& library, std::string& error) {
    for (const char* folder :
         {"", "/usr/local/nvidia/lib64/", "/usr/local/nvidia/lib/", "/usr/lib/wsl/lib/"}) {
        void* const handle = dlopen((folder + library).c_str(), RTLD_NOW | RTLD_LOCAL);
        if (handle != nullptr) return handle;
        if (error.empty()) error = dlerror();
        if (library.find('/') != std::string::npos) break;
    }
    return nullptr;
}

std::shared_ptr<const Driver> Driver::load(const std::string& library) {
    // Code is loaded with its module, not in the midst of what is timed.
    setenv("CUDA_MODULE_LOADING", "EAGER", 1);
    std::string error;
    void* const handle = open_library(library, error);
    if (handle == nullptr)
        throw InputError(fmt::format("no CUDA driver on this machine: {}", error));
    auto driver = std::make_shared<Driver>();
    const auto find = [&](auto& member, const char* symbol) {
        member = reinterpret_cast<std::remove_reference_t<decltype(member)>>(dlsym(handle, symbol));
        if (member == nullptr)
            throw InputError(fmt::format("{}: the driver has no function {}", library, symbol));
    };
#define LOCKSTEP_CUDA_FIND(member, symbol, parameters) find(driver->member, #symbol);
    LOCKSTEP_CUDA_DRIVER(LOCKSTEP_CUDA_FIND)
#undef LOCKSTEP_CUDA_FIND
    if (const CuResult result = driver->init(0); result != 0) {
        const char* name = nullptr;
        driver->error_name(result, &name);
        throw InputError(fmt::format("{}: the driver does not start: {} ({})", library,
                                     name == nullptr ? "unknown error" : name, result));
    }
    int count = 0;
    driver->check(driver->device_count(&count), "cuDeviceGetCount");
    if (count == 0) throw InputError(fmt::format("{}: the driver sees no GPU", library));
    return driver;
}

void Driver::check(CuResult result, const char* call) const {
    if (result == 0) return;
    const char *name = nullptr, *text = nullptr;
    error_name(result, &name);
    error_text(result, &text);
    throw ProgramFault(fmt::format("{} failed: {} ({}): {}", call, name == nullptr ? "?" : name,
                                   result, text == nullptr ? "?" : text));
}

int Driver::attribute(int which, CuDevice device) const {
    int value = 0;
    check(device_attribute(&value, which, device), "cuDeviceGetAttribute");
    return value;
}

int Driver::attribute_or_0(int which, CuDevice device) const {
    int value = 0;
    return device_attribute(&value, which, device) == 0 ? value : 0;
}

}  // namespace lockstep::validation
