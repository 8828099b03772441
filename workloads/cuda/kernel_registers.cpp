// SPDX-License-Identifier: Apache-2.0
#include "workloads/cuda/kernel_registers.h"

#include <map>
#include <mutex>
#include <string>

#include "isa/cubin/warp_registers.h"
#include "sim/error/error.h"
#include "workloads/cuda/kernel_images.h"

namespace lockstep::cuda {

namespace {

constexpr std::uint32_t kWarp = 32;  ///< threads

using Registers = std::map<std::string, std::uint32_t, std::less<>>;

Registers registers_of(std::string_view file, int arch) {
    Registers found;
    const std::span<const std::uint8_t> image = kernel_image(file, arch);
    if (image.empty()) return found;
    for (const cubin::Function& function : cubin::parse(image, file).functions)
        found[function.name] = cubin::warp_registers(function) / kWarp;
    return found;
}

}  // namespace

std::uint32_t kernel_registers(const KernelName& name, int arch) {
    constexpr std::uint32_t kMost = 255;
    static std::mutex mutex;
    static std::map<std::pair<std::string, int>, Registers> files;
    const std::lock_guard lock(mutex);
    const auto [file, is_new] = files.try_emplace({std::string(name.file), arch});
    if (is_new) file->second = registers_of(name.file, arch);
    if (file->second.empty()) return kMost;
    const auto kernel = file->second.find(name.kernel);
    LOCKSTEP_CHECK(kernel != file->second.end(), "no kernel {} in {}", name.kernel, name.file);
    return kernel->second;
}

}  // namespace lockstep::cuda
