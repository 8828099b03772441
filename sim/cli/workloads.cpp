// SPDX-License-Identifier: Apache-2.0
// `lockstep workloads [W]`: lists the built-in workloads, or one's parameters with their defaults:
// kernels for GPUs, and networks.
#include "workloads/cuda/workload.h"

#include <fmt/format.h>

#include <algorithm>

#include "sim/cli/verbs.h"
#include "workloads/network/builtin/builtin.h"

namespace lockstep::cli {

namespace {

template <typename List, typename Default>
std::string defaults(const List& parameters, Default otherwise) {
    std::string text;
    for (const auto& p : parameters)
        text += fmt::format("{}{}={}", text.empty() ? ":" : ",", p.name, p.*otherwise);
    return text;
}

void print_list() {
    fmt::print("On a GPU:\n");
    for (const cuda::Workload& workload : cuda::workloads()) {
        fmt::print("{:<22} {}\n{:<22}   {}{}\n", workload.name, workload.summary, "", workload.name,
                   defaults(workload.parameters, &cuda::ParameterInfo::default_value));
    }
    fmt::print("\nNetworks, on a TPU or a systolic array:\n");
    for (const network::BuiltinNetwork& network : network::builtin_networks()) {
        fmt::print("{:<22} {}\n{:<22}   {}{}\n", network.name, network.description, "",
                   network.name,
                   defaults(network.parameters, &network::BuiltinParameter::otherwise));
    }
}

/// Whether there is a network of that name.
bool print_network(const std::string& name) {
    for (const network::BuiltinNetwork& network : network::builtin_networks()) {
        if (network.name != name) continue;
        fmt::print("{} (network): {}\n", network.name, network.description);
        for (const network::BuiltinParameter& p : network.parameters)
            fmt::print("  {:<10} {:>10}   ({} to 65536)\n", p.name, p.otherwise, p.minimum);
        return true;
    }
    return false;
}

void print_workload(const std::string& name) {
    const bool is_network = print_network(name);
    const auto& kernels = cuda::workloads();
    if (is_network && std::none_of(kernels.begin(), kernels.end(),
                                   [&](const cuda::Workload& w) { return w.name == name; }))
        return;
    const cuda::Workload& workload = cuda::find_workload(name);
    fmt::print("{}: {}\n", workload.name, workload.summary);
    for (const cuda::ParameterInfo& p : workload.parameters)
        fmt::print("  {:<10} {:>10}   ({} to {})  {}\n", p.name, p.default_value, p.minimum,
                   p.maximum, p.meaning);
}

}  // namespace

void add_workloads(CLI::App& app, int&) {
    auto name = std::make_shared<std::string>();
    CLI::App* verb =
        app.add_subcommand("workloads", "List the built-in workloads, or one's parameters");
    verb->add_option("workload", *name, "a workload's name");
    verb->callback([name] {
        if (name->empty())
            print_list();
        else
            print_workload(*name);
    });
}

}  // namespace lockstep::cli
