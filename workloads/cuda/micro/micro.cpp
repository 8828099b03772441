// SPDX-License-Identifier: Apache-2.0
// Microbenchmarks as built-in workloads: each runs kernels that read the SM's clock around what
// they measure, checks what they computed, and turns the clocks into a latency or a rate.
// Differences of a long and a short run cancel what the measurement itself costs.
#include "workloads/cuda/micro/micro.h"

#include <algorithm>

#include "sim/error/error.h"

namespace lockstep::cuda {
namespace micro {

double chain_latency(const Clocks& cycles) {
    const auto clocks = cycles.view();
    return (static_cast<double>(clocks[1]) - static_cast<double>(clocks[0])) /
           (kLongSteps - kShortSteps);
}

double loop_time(const Clocks& cycles, int warps) {
    std::uint64_t begin = cycles.view()[0], end = cycles.view()[1];
    for (int warp = 1; warp < warps; ++warp) {
        begin = std::min(begin, cycles.view()[2 * warp]);
        end = std::max(end, cycles.view()[2 * warp + 1]);
    }
    return static_cast<double>(end - begin);
}

double cycles_an_iteration(Run&, const Clocks& cycles, int warps,
                           const std::function<void(int iterations)>& launch) {
    launch(kFewIterations);
    const double few = loop_time(cycles, warps);
    launch(kManyIterations);
    return (loop_time(cycles, warps) - few) / (kManyIterations - kFewIterations);
}

void need_arch(const Run& run, int arch, std::string_view what) {
    if (run.arch() >= arch) return;
    throw InputError(fmt::format(
        "machine '{}' (compute capability {}.{}) has no {}: {}.{} and later", run.machine().name(),
        run.arch() / 10, run.arch() % 10, what, arch / 10, arch % 10));
}

ParameterInfo warps_parameter(int default_value) {
    return {"warps", default_value, 1, 32, "warps of the one block"};
}

}  // namespace micro

std::vector<Workload> micro_workloads() {
    std::vector<Workload> list;
    for (auto&& family : {micro::bandwidth_workloads(), micro::cluster_workloads(),
                          micro::fixed_latency_workloads(), micro::front_end_workloads(),
                          micro::latency_workloads(), micro::matrix_workloads(),
                          micro::synchronisation_workloads(), micro::tma_workloads(),
                          micro::variable_latency_workloads(), micro::warpgroup_workloads()}) {
        list.insert(list.end(), family.begin(), family.end());
    }
    return list;
}

}  // namespace lockstep::cuda
