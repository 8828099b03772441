// SPDX-License-Identifier: Apache-2.0
// Launches kernels of a cubin under tests/models/gpu/data on an emulated machine, or on the cycle
// model of a few of its SMs.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "isa/cubin/cubin.h"
#include "models/device.h"
#include "sim/config/machine.h"
#include "tests/paths.h"

namespace lockstep {

class KernelRunner {
  public:
    KernelRunner(const std::string& machine, const std::string& cubin_name,
                 const DeviceOptions& options = {}, bool in_cycles = false)
        : device_(in_cycles
                      ? make_simulator(config::Machine::load(machine, {"sm.count=14"}), options)
                      : make_emulator(config::Machine::load(machine), options)) {
        const std::string path = source_path("tests/models/gpu/data/") + cubin_name;
        std::ifstream file(path, std::ios::binary);
        const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file),
                                              std::istreambuf_iterator<char>()};
        module_ = device_->load_module(cubin::parse(bytes, path));
    }

    Device& device() { return *device_; }
    ModuleHandle module() const { return module_; }

    /// Zeroed device memory for `count` ints.
    std::span<int> ints(std::size_t count) {
        return {reinterpret_cast<int*>(device_->allocate(count * sizeof(int))), count};
    }

    /// Parameters must have natural alignment one after the other.
    template <typename... Parameters>
    LaunchResult launch(const std::string& kernel, sass::Dim3 grid, sass::Dim3 block,
                        Parameters... parameters) {
        const std::vector<std::byte> bytes = packed(parameters...);
        LaunchRequest request{.module = module_, .kernel = kernel, .grid = grid, .block = block};
        request.parameters = bytes;
        request.cluster = cluster;
        request.cooperative = cooperative;
        request.dynamic_shared_bytes = dynamic_shared_bytes;
        return device_->launch(request);
    }

    /// Parameters as a kernel gets them.
    template <typename... Parameters>
    static std::vector<std::byte> packed(Parameters... parameters) {
        std::vector<std::byte> bytes;
        (pack(bytes, parameters), ...);
        return bytes;
    }

    sass::Dim3 cluster;
    bool cooperative = false;
    std::uint32_t dynamic_shared_bytes = 0;

  private:
    template <typename T>
    static void pack(std::vector<std::byte>& packed, T value) {
        packed.resize((packed.size() + alignof(T) - 1) / alignof(T) * alignof(T) + sizeof(T));
        std::memcpy(packed.data() + packed.size() - sizeof(T), &value, sizeof(T));
    }

    std::unique_ptr<Device> device_;
    ModuleHandle module_ = 0;
};

/// Machine and the suffix of the cubins that it runs; emulated or in cycles.
struct Target {
    const char* machine;
    const char* arch;
    bool in_cycles = false;
};

inline void PrintTo(const Target& target, std::ostream* out) {
    *out << target.machine;
}

}  // namespace lockstep
