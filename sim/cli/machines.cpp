// SPDX-License-Identifier: Apache-2.0
// `lockstep machines [M]`: lists the machines, or one machine's parameters with unit and evidence.
#include <fmt/format.h>

#include <algorithm>

#include "sim/cli/verbs.h"
#include "sim/config/machine.h"
#include "sim/error/error.h"

namespace lockstep::cli {

namespace {

struct Options {
    std::string machine;
    std::vector<std::string> overrides;
};

void print_list() {
    for (const std::string& name : config::Machine::names()) {
        const auto machine = config::Machine::load(name);
        fmt::print("{:<12} {:<8} {}\n", name, machine->kind(), machine->description());
    }
}

void print_machine(const Options& options) {
    const auto machine = config::Machine::load(options.machine, options.overrides);
    fmt::print("{} ({}): {}\n", machine->name(), machine->kind(), machine->description());
    const auto parameters = machine->parameters();
    std::size_t path_width = 0, value_width = 0;
    for (const config::Parameter& p : parameters) {
        path_width = std::max(path_width, p.path.size());
        value_width = std::max(value_width, p.value.size());
    }
    for (const config::Parameter& p : parameters)
        fmt::print("  {:<{}}  {:>{}} {:<5} {}; {}\n", p.path, path_width, p.value, value_width,
                   p.unit == "1" ? "" : p.unit, p.meaning, p.evidence);
}

}  // namespace

void add_machines(CLI::App& app, int&) {
    auto options = std::make_shared<Options>();
    CLI::App* verb = app.add_subcommand("machines", "List the machines, or show one's parameters");
    verb->add_option("machine", options->machine, "a machine's name, or a .yaml file");
    verb->add_option("--set", options->overrides, "override a parameter: path=value")
        ->take_all()
        ->expected(1);
    verb->callback([options] {
        if (options->machine.empty() && !options->overrides.empty())
            throw InputError(fmt::format("--set {}: of which machine?", options->overrides[0]));
        if (options->machine.empty())
            print_list();
        else
            print_machine(*options);
    });
}

}  // namespace lockstep::cli
