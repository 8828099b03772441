// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/built_in.h"

#include <algorithm>

#include "sim/config/nearest.h"
#include "workloads/cuda/workload.h"
#include "workloads/network/builtin/builtin.h"

namespace lockstep::run {

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

}  // namespace lockstep::run
