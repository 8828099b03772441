// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/built_in.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/config/nearest.h"
#include "sim/error/error.h"
#include "workloads/cuda/workload.h"
#include "workloads/network/builtin/builtin.h"

namespace lockstep::cli {

bool is_network(std::string_view name) {
    const auto& networks = network::builtin_networks();
    return std::any_of(networks.begin(), networks.end(),
                       [&](const network::BuiltinNetwork& n) { return n.name == name; });
}

bool is_gpu_workload(std::string_view name) {
    const auto& workloads = cuda::workloads();
    return name == cuda::kProduct ||
           std::any_of(workloads.begin(), workloads.end(),
                       [&](const cuda::Workload& w) { return w.name == name; });
}

std::string nearest_built_in(std::string_view name) {
    std::vector<std::string> names;
    for (const network::BuiltinNetwork& network : network::builtin_networks())
        names.emplace_back(network.name);
    for (const cuda::Workload& workload : cuda::workloads()) names.push_back(workload.name);
    return config::nearest(name, names);
}

void check_built_in(std::string_view text, bool on_gpu) {
    const std::string_view name = text.substr(0, text.find(':'));
    if (on_gpu ? is_gpu_workload(name) : is_network(name)) return;
    if (is_network(name))
        throw InputError(fmt::format(
            "{} is a network, which runs on a TPU or a systolic array (--on tpu_v1)", name));
    if (is_gpu_workload(name))
        throw InputError(fmt::format("{} is a GPU's workload (--on h200)", name));
    const std::string near = nearest_built_in(name);
    throw InputError(fmt::format("'{}' is neither a file nor a built-in workload{}", text,
                                 near.empty() ? " (lockstep workloads lists them)"
                                              : fmt::format("; did you mean {}?", near)));
}

}  // namespace lockstep::cli
