// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/built_in.h"

#include <algorithm>

#include "sim/config/key_values.h"
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

bool needs_network(std::string_view what) {
    const auto& workloads = cuda::workloads();
    const std::size_t colon = what.find(':');
    const std::string_view name = what.substr(0, colon);
    const auto kernel = std::ranges::find(workloads, name, &cuda::Workload::name);
    if (kernel == workloads.end() || !is_network(name)) return false;
    const auto network =
        std::ranges::find(network::builtin_networks(), name, &network::BuiltinNetwork::name);
    const std::vector<config::KeyValue> items =
        config::key_values(colon == std::string_view::npos ? "" : what.substr(colon + 1));
    const auto all_of = [&](const auto& parameters, std::string_view other) {
        return std::ranges::all_of(items, [&](const config::KeyValue& item) {
            return item.key == other || std::ranges::any_of(parameters, [&](const auto& p) {
                       return p.name == item.key;
                   });
        });
    };
    return !all_of(kernel->parameters, "") && all_of(network->parameters, "dtype");
}

std::string nearest_built_in(std::string_view name) {
    std::vector<std::string> names;
    for (const network::BuiltinNetwork& network : network::builtin_networks())
        names.emplace_back(network.name);
    for (const cuda::Workload& workload : cuda::workloads()) names.push_back(workload.name);
    return config::nearest(name, names);
}

}  // namespace lockstep::run
