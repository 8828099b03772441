// SPDX-License-Identifier: Apache-2.0
// Limits are those of the CUDA Programming Guide's table of compute capabilities, read from the
// machine file.
#include "models/gpu/device/launch_check.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "isa/cubin/demangle.h"
#include "isa/cubin/warp_registers.h"
#include "isa/sass/cluster.h"
#include "isa/sass/launch_limits.h"
#include "models/gpu/device/module.h"
#include "models/gpu/device/occupancy.h"

namespace lockstep::gpu {

bool is_clustered(const cubin::Function& kernel, const LaunchRequest& request) {
    return request.cluster.volume() > 1 || kernel.explicit_cluster;
}

namespace {

/// The driver's rules, CUDA Driver API, cuLaunchKernelEx; and the sizes of the Programming Guide.
void check_cluster(const config::Machine& machine, const cubin::Function& kernel,
                   const LaunchRequest& request) {
    using Reason = LaunchRefused::Reason;
    const auto refuse = [&](const std::string& why) {
        throw LaunchRefused(Reason::kInvalidCluster,
                            fmt::format("kernel {} cannot be launched on {}: {}",
                                        cubin::demangled(kernel.name), machine.name(), why));
    };
    const sass::Dim3& cluster = request.cluster;
    const sass::Dim3& grid = request.grid;
    const std::uint64_t ctas = cluster.volume();
    if (ctas == 1) return;
    if (ctas == 0) refuse("a dimension of the cluster is zero");
    const std::string shape = fmt::format("({},{},{})", cluster.x, cluster.y, cluster.z);
    constexpr std::int64_t kFirstArch = 90;
    if (machine.integer("arch") < kFirstArch)
        refuse(fmt::format("clusters, as {}, exist from sm_90 on", shape));
    if (ctas > sass::kMaxClusterCtas)
        refuse(fmt::format("a cluster {} has {} CTAs, at most {}", shape, ctas,
                           sass::kMaxClusterCtas));
    if (kernel.max_cluster_rank != 0 && ctas > kernel.max_cluster_rank)
        refuse(fmt::format("a cluster {} has {} CTAs, its .maxclusterrank is {}", shape, ctas,
                           kernel.max_cluster_rank));
    if (kernel.cluster[0] != 0 &&
        cluster != sass::Dim3{kernel.cluster[0], kernel.cluster[1], kernel.cluster[2]})
        refuse(fmt::format("a cluster {} is not the ({},{},{}) that it was compiled for", shape,
                           kernel.cluster[0], kernel.cluster[1], kernel.cluster[2]));
    if (grid.x % cluster.x != 0 || grid.y % cluster.y != 0 || grid.z % cluster.z != 0)
        refuse(fmt::format("grid ({},{},{}) is not a multiple of the cluster {}", grid.x, grid.y,
                           grid.z, shape));
}

}  // namespace

void check_launch(const config::Machine& machine, const cubin::Function& kernel,
                  const LaunchRequest& request) {
    using Reason = LaunchRefused::Reason;
    const auto limit = [&](const char* path) {
        return static_cast<std::uint64_t>(machine.integer(path));
    };
    const auto refuse = [&](Reason reason, const std::string& why) {
        throw LaunchRefused(reason,
                            fmt::format("kernel {} cannot be launched on {}: {}",
                                        cubin::demangled(kernel.name), machine.name(), why));
    };
    const sass::Dim3& block = request.block;
    const sass::Dim3& grid = request.grid;
    if (block.volume() == 0 || grid.volume() == 0)
        refuse(Reason::kInvalidConfiguration, "a dimension of the grid or block is zero");
    if (!sass::fits(block, sass::kMaxBlock) || block.volume() > limit("cta.max_threads"))
        refuse(Reason::kInvalidConfiguration,
               fmt::format("block ({},{},{}) is larger than a CTA may be ({} threads; {} by "
                           "dimension)",
                           block.x, block.y, block.z, limit("cta.max_threads"),
                           fmt::join(sass::kMaxBlock, ", ")));
    if (!sass::fits(grid, sass::kMaxGrid))
        refuse(Reason::kInvalidConfiguration,
               fmt::format("grid ({},{},{}) exceeds ({})", grid.x, grid.y, grid.z,
                           fmt::join(sass::kMaxGrid, ",")));
    if (kernel.max_threads[0] != 0) {
        const std::uint64_t bound = std::uint64_t{kernel.max_threads[0]} *
                                    std::max(kernel.max_threads[1], 1u) *
                                    std::max(kernel.max_threads[2], 1u);
        if (block.volume() > bound)
            refuse(Reason::kInvalidConfiguration,
                   fmt::format("{} threads exceed its launch bounds of {}", block.volume(), bound));
    }
    check_cluster(machine, kernel, request);
    const std::uint64_t warps = (block.volume() + sass::kWarpSize - 1) / sass::kWarpSize;
    if (warps * warp_registers(kernel) > limit("sm.registers"))
        refuse(Reason::kOutOfResources,
               fmt::format("{} threads of {} registers need more than the SM's {} registers",
                           block.volume(), kernel.registers, limit("sm.registers")));
    if (kernel.local_bytes > kMaximumLocalBytes)
        refuse(Reason::kOutOfResources,
               fmt::format("{} bytes of local memory exceed the {} that a thread may have",
                           kernel.local_bytes, kMaximumLocalBytes));
    const std::uint64_t shared = std::uint64_t{kernel.shared_bytes} + request.dynamic_shared_bytes;
    if (shared > limit("shared_memory.max_per_cta") + limit("shared_memory.reserved_per_cta"))
        refuse(Reason::kInvalidConfiguration,
               fmt::format("{} bytes of shared memory exceed the {} that a CTA may have", shared,
                           limit("shared_memory.max_per_cta")));
    const std::uint64_t by_sm = resident_ctas(
        machine, kernel, static_cast<std::uint32_t>(block.volume()), request.dynamic_shared_bytes);
    if (by_sm == 0)
        refuse(
            Reason::kOutOfResources,
            fmt::format("an SM does not hold a CTA of {} warps with {} registers a thread and {} "
                        "bytes of shared memory",
                        warps, kernel.registers, shared));
    if (request.cooperative) {
        const std::uint64_t resident = by_sm * limit("sm.count");
        if (grid.volume() > resident)
            refuse(Reason::kCooperativeTooLarge,
                   fmt::format("{} CTAs of a cooperative launch, but only {} fit at once",
                               grid.volume(), resident));
    }
}

}  // namespace lockstep::gpu
