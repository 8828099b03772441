// SPDX-License-Identifier: Apache-2.0
// Launches kernels of this folder on a Device: picks the image for its architecture once a file.
#include "workloads/cuda/launcher.h"

#include <algorithm>

#include "isa/cubin/cubin.h"
#include "sim/error/error.h"
#include "workloads/cuda/kernel_images.h"

namespace lockstep::cuda {

Launcher::Launcher(Device& device)
    : device_(device), arch_(static_cast<int>(device.machine().integer("arch"))) {}

Launcher::~Launcher() {
    for (const auto& [file, handle] : modules_) device_.unload_module(handle);
    for (const DevicePointer pointer : allocations_) device_.free(pointer);
}

DevicePointer Launcher::allocate_bytes(std::size_t bytes) {
    const DevicePointer pointer = device_.allocate(std::max<std::size_t>(bytes, 1));
    if (pointer == 0) {
        throw InputError(
            fmt::format("{} bytes do not fit into the memory of machine '{}' ({} free)", bytes,
                        device_.machine().name(), device_.free_bytes()));
    }
    device_.note_host_write(pointer, bytes);  // zeros
    allocations_.push_back(pointer);
    return pointer;
}

ModuleHandle Launcher::module(std::string_view file) {
    if (const auto found = modules_.find(file); found != modules_.end()) return found->second;
    const std::span<const std::uint8_t> image = kernel_image(file, arch_);
    if (image.empty()) {
        std::string compiled;
        for (const int arch : kernel_archs(file))
            compiled += fmt::format("{}{}.{}", compiled.empty() ? "" : ", ", arch / 10, arch % 10);
        throw InputError(
            fmt::format("machine '{}' has compute capability {}.{}; the built-in kernel '{}' is "
                        "compiled for {} "
                        "(try --on h200)",
                        device_.machine().name(), arch_ / 10, arch_ % 10, file, compiled));
    }
    const ModuleHandle handle =
        device_.load_module(cubin::parse(image, fmt::format("{}.cubin (built in)", file)));
    modules_.emplace(file, handle);
    return handle;
}

LaunchResult Launcher::launch(KernelName name, sass::Dim3 grid, sass::Dim3 block,
                              std::uint32_t shared_bytes, const Arguments& arguments) {
    LaunchRequest request;
    request.module = module(name.file);
    request.kernel = name.kernel;
    const cubin::Function* function = device_.find_kernel(request.module, name.kernel);
    LOCKSTEP_CHECK(function != nullptr, "no kernel {} in {}.cubin", name.kernel, name.file);
    LOCKSTEP_CHECK(function->parameter_bytes == arguments.bytes().size(),
                   "{} takes {} bytes of parameters, {} given", name.kernel,
                   function->parameter_bytes, arguments.bytes().size());
    // Without __cluster_dims__ there are no clusters.
    if (function->cluster[0] != 0)
        request.cluster = {function->cluster[0], function->cluster[1], function->cluster[2]};
    request.grid = grid;
    request.block = block;
    request.dynamic_shared_bytes = shared_bytes;
    request.parameters = arguments.bytes();
    return device_.launch(request);
}

}  // namespace lockstep::cuda
