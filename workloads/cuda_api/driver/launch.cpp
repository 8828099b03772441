// SPDX-License-Identifier: Apache-2.0
// Launches, and how many CTAs an SM holds.
#include "workloads/cuda_api/state/launch.h"

#include <algorithm>

#include "workloads/cuda_api/driver/call.h"

namespace lockstep::cuda::driver {
namespace {

abi::LaunchConfig runtime_config(const LaunchConfig& config) {
    return {{config.gridDimX, config.gridDimY, config.gridDimZ},
            {config.blockDimX, config.blockDimY, config.blockDimZ},
            config.sharedMemBytes,
            config.hStream,
            config.attrs,
            config.numAttrs};
}

Result launch(const LaunchConfig& config, Kernel* function, void** parameters, void** extra) {
    if (parameters && extra) return Result::kInvalidValue;
    const abi::LaunchConfig same = runtime_config(config);
    return call([&] { return launch_kernel(same, function, parameters, extra); });
}

/// CTAs times threads is largest, as cudaOccupancyMaxPotentialBlockSize of the toolkit's header
/// finds it: from the largest block down, in steps of a warp.
Error best_block(cuda::Context& context, Kernel& kernel, OccupancyBytes bytes_of,
                 std::size_t dynamic_shared, int limit, int& grid, int& block) {
    constexpr int kWarp = cuda::DeviceProperties::kWarpSize;
    int largest = max_block_threads(context, kernel);
    if (limit > 0) largest = std::min(largest, limit);
    int best = 0;
    for (int threads = (largest + kWarp - 1) / kWarp * kWarp; threads > 0; threads -= kWarp) {
        const int tried = std::min(threads, largest);
        const std::size_t shared = bytes_of ? bytes_of(tried) : dynamic_shared;
        const int blocks = resident_blocks(context, kernel, static_cast<unsigned>(tried), shared);
        if (blocks * tried > best) {
            best = blocks * tried;
            block = tried;
            grid = blocks * context.properties().sm_count;
        }
        if (best == context.properties().max_threads_per_sm) break;
    }
    return best != 0 ? Error::kSuccess : Error::kInvalidConfiguration;
}

Result potential(int* grid, int* block, Kernel* function, OccupancyBytes bytes_of,
                 std::size_t dynamic_shared, int limit) {
    return in_context([&](cuda::Context& context) {
        if (!grid || !block) return Error::kInvalidValue;
        Kernel* const kernel = context.modules.find_kernel(function);
        if (!kernel || !context.modules.load(*kernel)) return Error::kInvalidDeviceFunction;
        return best_block(context, *kernel, bytes_of, dynamic_shared, limit, *grid, *block);
    });
}

}  // namespace

LOCKSTEP_DRIVER(cuLaunchKernel,
                (Kernel * function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                 unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                 Stream* stream, void** parameters, void** extra)) {
    return launch(
        {grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, nullptr, 0},
        function, parameters, extra);
}
LOCKSTEP_DRIVER(cuLaunchKernelEx,
                (const LaunchConfig* config, Kernel* function, void** parameters, void** extra)) {
    return config ? launch(*config, function, parameters, extra) : Result::kInvalidValue;
}
LOCKSTEP_DRIVER(cuLaunchCooperativeKernel,
                (Kernel * function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                 unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                 Stream* stream, void** parameters)) {
    abi::LaunchAttribute cooperative{};
    cooperative.id = abi::kLaunchAttributeCooperative;
    cooperative.val.cooperative = 1;
    return launch(
        {grid_x, grid_y, grid_z, block_x, block_y, block_z, shared_bytes, stream, &cooperative, 1},
        function, parameters, nullptr);
}
LOCKSTEP_DRIVER(cuLaunchHostFunc, (Stream * stream, abi::HostFunction function, void* data)) {
    return call([&] { return cudaLaunchHostFunc(stream, function, data); });
}

LOCKSTEP_DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessor,
                (int* blocks, Kernel* function, int block_threads, std::size_t dynamic_shared)) {
    return call([&] {
        return cudaOccupancyMaxActiveBlocksPerMultiprocessor(blocks, function, block_threads,
                                                             dynamic_shared);
    });
}
LOCKSTEP_DRIVER(cuOccupancyMaxActiveBlocksPerMultiprocessorWithFlags,
                (int* blocks, Kernel* function, int block_threads, std::size_t dynamic_shared,
                 unsigned flags)) {
    return call([&] {
        return cudaOccupancyMaxActiveBlocksPerMultiprocessorWithFlags(
            blocks, function, block_threads, dynamic_shared, flags);
    });
}
LOCKSTEP_DRIVER(cuOccupancyMaxPotentialBlockSize,
                (int* grid, int* block, Kernel* function, OccupancyBytes bytes_of,
                 std::size_t dynamic_shared, int limit)) {
    return potential(grid, block, function, bytes_of, dynamic_shared, limit);
}
LOCKSTEP_DRIVER(cuOccupancyMaxPotentialBlockSizeWithFlags,
                (int* grid, int* block, Kernel* function, OccupancyBytes bytes_of,
                 std::size_t dynamic_shared, int limit, unsigned flags)) {
    if (flags > 1) return Result::kInvalidValue;
    return potential(grid, block, function, bytes_of, dynamic_shared, limit);
}
LOCKSTEP_DRIVER(cuOccupancyAvailableDynamicSMemPerBlock,
                (std::size_t * bytes, Kernel* function, int blocks, int block_threads)) {
    return call([&] {
        return cudaOccupancyAvailableDynamicSMemPerBlock(bytes, function, blocks, block_threads);
    });
}
LOCKSTEP_DRIVER(cuOccupancyMaxPotentialClusterSize,
                (int* size, Kernel* function, const LaunchConfig* config)) {
    if (!config) return Result::kInvalidValue;
    const abi::LaunchConfig same = runtime_config(*config);
    return call([&] { return cudaOccupancyMaxPotentialClusterSize(size, function, &same); });
}
LOCKSTEP_DRIVER(cuOccupancyMaxActiveClusters,
                (int* clusters, Kernel* function, const LaunchConfig* config)) {
    if (!config) return Result::kInvalidValue;
    const abi::LaunchConfig same = runtime_config(*config);
    return call([&] { return cudaOccupancyMaxActiveClusters(clusters, function, &same); });
}

}  // namespace lockstep::cuda::driver
