// SPDX-License-Identifier: Apache-2.0
// `lockstep workloads [W]`: lists the built-in workloads, or one's parameters with their defaults:
// kernels for GPUs, and networks.
#include <fmt/format.h>

#include "sim/cli/verbs.h"
#include "sim/error/error.h"
#include "workloads/cuda/workload.h"
#include "workloads/network/builtin/builtin.h"
#include "workloads/run/built_in.h"

namespace lockstep::cli {

namespace {

constexpr const char* kNetworkTypes =
    "tpu_v1: int8 (default) or int16 activations; later TPUs: fp32 (default) or bf16; systolic: "
    "int8 (default) or bf16";
constexpr const char* kProductSummary =
    "sgemm, hgemm or igemm (see there), as dtype is fp32 (default), fp16 or int8";

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
    fmt::print("{:<22} {}\n", cuda::kProduct, kProductSummary);
    fmt::print("\nNetworks, on a TPU or a systolic array:\n");
    for (const network::BuiltinNetwork& network : network::builtin_networks()) {
        fmt::print("{:<22} {}\n{:<22}   {}{}\n", network.name, network.description, "",
                   network.name,
                   defaults(network.parameters, &network::BuiltinParameter::otherwise));
    }
}

void print_network(std::string_view name) {
    for (const network::BuiltinNetwork& network : network::builtin_networks()) {
        if (network.name != name) continue;
        fmt::print("{} (a network, on a TPU or a systolic array): {}\n", network.name,
                   network.description);
        for (const network::BuiltinParameter& p : network.parameters)
            fmt::print("  {:<10} {:>10}   ({} to 65536)\n", p.name, p.otherwise, p.minimum);
        fmt::print("  {:<10} {:>10}   {}\n", "dtype", "", kNetworkTypes);
    }
}

void print_kernel(std::string_view name) {
    for (const cuda::Workload& workload : cuda::workloads()) {
        if (workload.name != name) continue;
        fmt::print("{} (on a GPU): {}\n", workload.name, workload.summary);
        for (const cuda::ParameterInfo& p : workload.parameters)
            fmt::print("  {:<10} {:>10}   ({} to {})  {}\n", p.name, p.default_value, p.minimum,
                       p.maximum, p.meaning);
    }
}

void print_workload(const std::string& name) {
    if (!run::is_network(name) && !run::is_gpu_workload(name)) {
        const std::string near = run::nearest_built_in(name);
        throw InputError(
            near.empty() ? fmt::format("there is no workload '{}'", name)
                         : fmt::format("there is no workload '{}'; did you mean {}?", name, near));
    }
    print_network(name);
    print_kernel(name);
    if (name == cuda::kProduct) fmt::print("{} (on a GPU): {}\n", name, kProductSummary);
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
