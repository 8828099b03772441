// SPDX-License-Identifier: Apache-2.0
// `lockstep workloads [W]`: lists the built-in workloads, or one's parameters with their defaults.
#include "workloads/cuda/workload.h"

#include <fmt/format.h>

#include "sim/cli/verbs.h"

namespace lockstep::cli {

namespace {

void print_list() {
    for (const cuda::Workload& workload : cuda::workloads()) {
        std::string parameters;
        for (const cuda::ParameterInfo& p : workload.parameters)
            parameters +=
                fmt::format("{}{}={}", parameters.empty() ? ":" : ",", p.name, p.default_value);
        fmt::print("{:<22} {}\n{:<22}   {}{}\n", workload.name, workload.summary, "", workload.name,
                   parameters);
    }
}

void print_workload(const std::string& name) {
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
