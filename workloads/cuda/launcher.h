// SPDX-License-Identifier: Apache-2.0
// What every user of our kernels needs from a Device: typed arrays that are freed, kernels found by
// file and name, arguments packed as the kernel's parameter area.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "isa/sass/tma/tensor_map.h"
#include "models/device.h"
#include "workloads/cuda/kernel_name.h"

namespace lockstep::cuda {

/// An array in device memory, or a part of one. Not owning: the Launcher is.
template <class T>
struct Array {
    DevicePointer address = 0;
    std::size_t size = 0;

    /// Device memory is host memory: between launches the host may read and write it.
    std::span<T> view() const { return {reinterpret_cast<T*>(address), size}; }
    Array part(std::size_t offset, std::size_t count) const {
        return {address + offset * sizeof(T), count};
    }
};

/// The parameter area of a launch: each argument at its natural alignment.
class Arguments {
  public:
    template <class... Args>
    explicit Arguments(const Args&... args) {
        (add(args), ...);
    }
    std::span<const std::byte> bytes() const { return bytes_; }

  private:
    template <class T>
    void add(const Array<T>& array) {
        append(&array.address, sizeof array.address);
    }
    template <class T>
    void add(T* const& pointer) {
        append(&pointer, sizeof pointer);
    }
    /// As a kernel of sm_90 takes it: by value, encoded, at a multiple of 128 in the constant bank.
    void add(const sass::TensorMap& map) {
        constexpr std::size_t kAlignment = 128, kFirst = 0x210;  // of the parameters in the bank
        const std::size_t end = kFirst + bytes_.size();
        bytes_.resize((end + kAlignment - 1) / kAlignment * kAlignment - kFirst +
                      sass::kTensorMapBytes);
        encode_tensor_map(map, std::span(bytes_).last<sass::kTensorMapBytes>());
    }
    template <class T>
    void add(const T& value) {
        static_assert(std::is_same_v<T, int> || std::is_same_v<T, float>, "see README.md");
        append(&value, sizeof value);
    }
    void append(const void* value, std::size_t size) {
        bytes_.resize((bytes_.size() + size - 1) / size * size + size);
        std::memcpy(bytes_.data() + bytes_.size() - size, value, size);
    }
    std::vector<std::byte> bytes_;
};

class Launcher {
  public:
    explicit Launcher(Device& device);
    ~Launcher();
    Launcher(const Launcher&) = delete;
    Launcher& operator=(const Launcher&) = delete;

    /// Zeroed; freed with the Launcher. Throws InputError where the machine's memory is too small.
    template <class T>
    Array<T> allocate(std::size_t count) {
        return {allocate_bytes(count * sizeof(T)), count};
    }

    LaunchResult launch(KernelName name, sass::Dim3 grid, sass::Dim3 block,
                        std::uint32_t shared_bytes, const Arguments& arguments);

    const config::Machine& machine() const { return device_.machine(); }
    /// Whether the file's image for this machine has the kernel.
    bool has(KernelName name) {
        return device_.find_kernel(module(name.file), name.kernel) != nullptr;
    }
    /// Address and size of a __device__ or __constant__ variable of a file.
    std::pair<DevicePointer, std::uint64_t> variable(std::string_view file, std::string_view name) {
        return device_.find_variable(module(file), name);
    }

  private:
    DevicePointer allocate_bytes(std::size_t bytes);
    ModuleHandle module(std::string_view file);

    Device& device_;
    int arch_;
    std::vector<DevicePointer> allocations_;
    std::map<std::string, ModuleHandle, std::less<>> modules_;
};

}  // namespace lockstep::cuda
