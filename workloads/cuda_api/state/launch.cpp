// SPDX-License-Identifier: Apache-2.0
// The driver refuses a launch that the machine cannot hold before it starts; the codes are those
// that cudaLaunchKernel returns on hardware. Residency follows the CUDA occupancy calculator:
// registers are given out by warp in units of 256 and split over the sub-cores, shared memory by
// CTA in units of 128 or 256 bytes with what the system reserves.
#include "workloads/cuda_api/state/launch.h"

#include <algorithm>
#include <cstring>

#include "isa/cubin/demangle.h"
#include "isa/sass/launch_limits.h"
#include "workloads/cuda_api/state/context.h"

namespace lockstep::cuda {
namespace {

template <typename T>
T round_up(T value, T unit) {
    return (value + unit - 1) / unit * unit;
}

sass::Dim3 dimensions(abi::Dim3 d) {
    return {d.x, d.y, d.z};
}

/// CU_LAUNCH_PARAM_*: the driver's list of key and value that `extra` points to.
constexpr std::uintptr_t kExtraEnd = 0, kExtraBuffer = 1, kExtraBufferSize = 2;

Error pack_extra(void** extra, std::vector<std::byte>& parameters) {
    const void* buffer = nullptr;
    std::size_t bytes = 0;
    for (; reinterpret_cast<std::uintptr_t>(*extra) != kExtraEnd; extra += 2) {
        if (reinterpret_cast<std::uintptr_t>(*extra) == kExtraBuffer) buffer = extra[1];
        if (reinterpret_cast<std::uintptr_t>(*extra) == kExtraBufferSize)
            bytes = *static_cast<const std::size_t*>(extra[1]);
    }
    if (!buffer) return Error::kInvalidValue;
    std::memcpy(parameters.data(), buffer, std::min(bytes, parameters.size()));
    return Error::kSuccess;
}

}  // namespace

Error make_launch(Context& context, const void* function, abi::Dim3 grid, abi::Dim3 block,
                  void** arguments, std::size_t dynamic_shared, KernelLaunch& launch,
                  void** extra) {
    Kernel* kernel = context.modules.find_kernel(function);
    if (!kernel) return Error::kInvalidDeviceFunction;
    const cubin::Function* code = context.modules.load(*kernel);
    if (!code) return Error::kInvalidDeviceFunction;
    launch.kernel = kernel;
    launch.device = DeviceGroup::current();
    launch.grid = dimensions(grid);
    launch.block = dimensions(block);
    launch.dynamic_shared = dynamic_shared;
    const auto& cluster = code->cluster;
    const int* const asked = kernel->cluster;  // cudaFuncSetAttribute
    if (cluster[0] != 0)
        launch.cluster = {cluster[0], cluster[1], cluster[2]};
    else if (asked[0] > 0 && asked[1] > 0 && asked[2] > 0)
        launch.cluster =
            dimensions({static_cast<unsigned>(asked[0]), static_cast<unsigned>(asked[1]),
                        static_cast<unsigned>(asked[2])});
    launch.parameters.assign(code->parameter_bytes, std::byte{0});
    if (extra) return pack_extra(extra, launch.parameters);
    if (!arguments && !code->parameters.empty()) return Error::kInvalidValue;
    for (std::size_t i = 0; i < code->parameters.size(); ++i) {
        const cubin::Parameter& parameter = code->parameters[i];
        LOCKSTEP_CHECK(std::uint64_t{parameter.offset} + parameter.size <= code->parameter_bytes,
                       "parameter {} of {} lies outside of its area", i, kernel->name);
        std::byte* place = launch.parameters.data() + parameter.offset;
        std::memcpy(place, arguments[i], parameter.size);
        launch.arguments.push_back(place);
    }
    return Error::kSuccess;
}

std::size_t static_shared(const Kernel& kernel) {
    // From sm_90 on ptxas counts the reserved kilobyte into the kernel's own shared memory.
    constexpr std::size_t kReserved = 1024;
    const std::size_t bytes = kernel.function->shared_bytes;
    return kernel.module->arch() >= 90 && bytes >= kReserved ? bytes - kReserved : bytes;
}

std::size_t dynamic_shared_limit(const Kernel& kernel) {
    if (kernel.max_dynamic_shared) return static_cast<std::size_t>(*kernel.max_dynamic_shared);
    const std::size_t bytes = static_shared(kernel);
    return DeviceProperties::kSharedPerBlock - std::min(bytes, DeviceProperties::kSharedPerBlock);
}

int resident_blocks(Context& context, const Kernel& kernel, unsigned threads,
                    std::size_t dynamic_shared) {
    const DeviceProperties& device = context.properties();
    if (threads == 0 || threads > DeviceProperties::kMaxThreadsPerBlock) return 0;
    const auto sub_cores = static_cast<unsigned>(device.sub_cores);
    const unsigned warps = (threads + 31) / 32;
    unsigned blocks = std::min(static_cast<unsigned>(device.max_blocks_per_sm),
                               static_cast<unsigned>(device.max_threads_per_sm) / 32 / warps);
    if (const unsigned registers = kernel.function->registers; registers != 0) {
        const unsigned per_warp = round_up(registers * 32, DeviceProperties::kRegisterUnit);
        const unsigned resident_warps =
            static_cast<unsigned>(device.registers_per_sm) / sub_cores / per_warp * sub_cores;
        blocks = std::min(blocks, resident_warps / warps);
        // Warps of a CTA are dealt to the sub-cores in turn: a CTA must fit in whole rounds.
        if (round_up(warps, sub_cores) * per_warp > DeviceProperties::kRegistersPerBlock)
            blocks = 0;
    }
    const std::size_t asked = static_shared(kernel) + dynamic_shared;
    if (asked > device.shared_per_block_optin || dynamic_shared > dynamic_shared_limit(kernel))
        return 0;
    const std::size_t shared =
        round_up<std::size_t>(asked + device.reserved_shared, device.shared_unit());
    if (shared != 0)
        blocks = std::min(blocks, static_cast<unsigned>(device.shared_per_sm / shared));
    return static_cast<int>(blocks);
}

Error set_attribute(KernelLaunch& launch, abi::LaunchAttributeId id,
                    const abi::LaunchAttributeValue& value) {
    switch (id) {
        case abi::kLaunchAttributeCooperative:
            launch.cooperative = value.cooperative != 0;
            return Error::kSuccess;
        case abi::kLaunchAttributeProgrammaticStreamSerialization:
            launch.programmatic = value.programmaticStreamSerializationAllowed != 0;
            return Error::kSuccess;
        case abi::kLaunchAttributeClusterDimension:
            launch.cluster = {value.clusterDim.x, value.clusterDim.y, value.clusterDim.z};
            return launch.cluster.volume() == 0 ? Error::kInvalidClusterSize : Error::kSuccess;
        default:
            return Error::kSuccess;
    }
}

Error check_launch(Context& context, const KernelLaunch& launch) {
    const DeviceProperties& device = context.properties();
    const cubin::Function& code = *launch.kernel->function;
    const std::uint64_t threads = launch.block.volume();
    if (launch.grid.volume() == 0 || threads == 0 || !sass::fits(launch.grid, sass::kMaxGrid) ||
        !sass::fits(launch.block, sass::kMaxBlock))
        return Error::kInvalidConfiguration;
    if (threads > DeviceProperties::kMaxThreadsPerBlock) return Error::kInvalidConfiguration;
    if (launch.dynamic_shared > dynamic_shared_limit(*launch.kernel)) return Error::kInvalidValue;
    const std::uint64_t most = std::uint64_t{code.max_threads[0]} *
                               std::max(code.max_threads[1], 1u) *
                               std::max(code.max_threads[2], 1u);
    if (most != 0 && threads > most) return Error::kLaunchOutOfResources;
    const std::uint64_t cluster = launch.cluster.volume();
    if (cluster > 1 && device.arch < 90) return Error::kInvalidClusterSize;
    if (cluster > DeviceProperties::kMaxCluster && launch.kernel->non_portable_cluster == 0)
        return Error::kInvalidClusterSize;
    const std::uint32_t grid[3] = {launch.grid.x, launch.grid.y, launch.grid.z};
    const std::uint32_t size[3] = {launch.cluster.x, launch.cluster.y, launch.cluster.z};
    for (int i = 0; i < 3; ++i)
        if (size[i] == 0 || grid[i] % size[i] != 0 ||
            (code.cluster[0] != 0 && code.cluster[i] != size[i]))
            return Error::kInvalidClusterSize;
    if (code.max_cluster_rank != 0 && cluster > code.max_cluster_rank)
        return Error::kInvalidClusterSize;
    const int resident = resident_blocks(context, *launch.kernel, static_cast<unsigned>(threads),
                                         launch.dynamic_shared);
    if (resident == 0) return Error::kLaunchOutOfResources;
    if (launch.cooperative && launch.grid.volume() > static_cast<std::uint64_t>(resident) *
                                                         static_cast<unsigned>(device.sm_count))
        return Error::kCooperativeLaunchTooLarge;
    return Error::kSuccess;
}

LaunchRequest request_of(const KernelLaunch& launch) {
    LOCKSTEP_CHECK(launch.kernel->function != nullptr, "kernel {} is not loaded",
                   launch.kernel->name);
    LaunchRequest request;
    request.module = launch.kernel->module->handle();
    request.kernel = launch.kernel->name;
    request.grid = launch.grid;
    request.block = launch.block;
    request.cluster = launch.cluster;
    request.dynamic_shared_bytes = static_cast<std::uint32_t>(launch.dynamic_shared);
    request.parameters = launch.parameters;
    request.cooperative = launch.cooperative;
    request.programmatic = launch.programmatic;
    return request;
}

}  // namespace lockstep::cuda
