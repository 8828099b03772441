// SPDX-License-Identifier: Apache-2.0
// Any bytes at all are read as a cubin, loaded onto the machine of its architecture, and each of
// its kernels is launched by the emulator for a few instructions. Only errors of the input and
// faults of the simulated program may come out.
#include <array>
#include <map>

#include "models/device.h"

using namespace lockstep;

namespace {

constexpr std::size_t kMaximumKernels = 8;
constexpr std::uint64_t kBudget = 2000;

Device* device_of(int arch) {
    static const std::map<int, std::string> machines{
        {70, "v100"}, {75, "t4"}, {80, "a100"}, {86, "rtx3090"}, {89, "rtx4090"}, {90, "h200"}};
    static std::map<int, std::unique_ptr<Device>> devices;
    const auto machine = machines.find(arch);
    if (machine == machines.end()) return nullptr;
    std::unique_ptr<Device>& device = devices[arch];
    if (device == nullptr) {
        device =
            make_emulator(config::Machine::load(machine->second), {.max_instructions = kBudget});
        device->set_printf_output([](std::string_view) {});
    }
    return device.get();
}

void launch(Device& device, ModuleHandle module, const cubin::Function& kernel,
            DevicePointer buffer) {
    // Every aligned pair of words is a pointer to the buffer.
    std::array<std::uint64_t, 512> parameters;
    parameters.fill(buffer);
    try {
        device.launch({.module = module,
                       .kernel = kernel.name,
                       .grid = {2, 1, 1},
                       .block = {48, 1, 1},
                       .dynamic_shared_bytes = 256,
                       .parameters = std::as_bytes(std::span(parameters))});
    } catch (const InputError&) {
    } catch (const ProgramFault&) {
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    try {
        const cubin::Cubin cubin = cubin::parse({data, size}, "x");
        Device* const device = device_of(cubin.arch);
        if (device == nullptr) return 0;
        const std::uint64_t before = device->free_bytes();
        ModuleHandle module = 0;
        try {
            module = device->load_module(cubin);
        } catch (const InputError&) {
            if (device->free_bytes() != before) __builtin_trap();
            return 0;
        }
        const DevicePointer buffer = device->allocate(65536);
        std::size_t launched = 0;
        for (const cubin::Function& function : cubin.functions)
            if (function.is_kernel && launched++ < kMaximumKernels)
                launch(*device, module, function, buffer);
        for (const cubin::Symbol& symbol : cubin.symbols)
            device->find_variable(module, symbol.name);
        device->free(buffer);
        device->unload_module(module);
    } catch (const InputError&) {
    }
    return 0;
}
