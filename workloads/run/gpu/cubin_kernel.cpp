// SPDX-License-Identifier: Apache-2.0
// A kernel of a cubin or fatbin: arguments come from the command line.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>

#include "isa/cubin/cubin.h"
#include "isa/cubin/demangle.h"
#include "sim/config/nearest.h"
#include "workloads/run/gpu/gpu.h"
#include "workloads/run/gpu/kernel_arguments.h"
#include "workloads/run/gpu/launches.h"
#include "workloads/run/gpu/module_image.h"

namespace lockstep::run {

namespace {

sass::Dim3 parse_dim3(const std::string& option, const std::string& text) {
    std::uint32_t value[3] = {1, 1, 1};
    const char* at = text.data();
    const char* const end = at + text.size();
    for (std::uint32_t& dimension : value) {
        const auto [next, error] = std::from_chars(at, end, dimension);
        if (error != std::errc{}) break;
        at = next;
        if (at == end) return {value[0], value[1], value[2]};
        if (*at != ',' && *at != 'x') break;
        ++at;
    }
    throw InputError(fmt::format("{} {}: wanted x[,y[,z]]", option, text));
}

const cubin::Function& choose_kernel(const cubin::Cubin& cubin, const Job& job) {
    std::vector<std::string> kernels;
    for (const cubin::Function& function : cubin.functions)
        if (function.is_kernel) kernels.push_back(function.name);
    if (job.kernel.empty()) {
        if (kernels.size() == 1) return *cubin.find_function(kernels.front());
        throw InputError(fmt::format("{} has {} kernels; choose one with --kernel: {}", job.what,
                                     kernels.size(), fmt::join(kernels, " ")));
    }
    const cubin::Function* kernel = cubin.find_function(job.kernel);
    if (kernel == nullptr || !kernel->is_kernel) {
        const std::string near = config::nearest(job.kernel, kernels);
        throw InputError(fmt::format("{}: no kernel named {}{}", job.what, job.kernel,
                                     near.empty()
                                         ? fmt::format("; it has: {}", fmt::join(kernels, " "))
                                         : fmt::format("; did you mean {}?", near)));
    }
    return *kernel;
}

}  // namespace

Outcome run_cubin(const Job& job, const Subject& subject, const MachinePtr& machine,
                  Screen& screen) {
    Job all = job;
    all.kernel.clear();  // here a name, and it is simulated whatever it is
    const std::unique_ptr<Device> device = make_gpu(all, machine);
    const ModuleImage image(subject.bytes, job.what, *machine);
    const cubin::Cubin& cubin = image.cubin();
    const cubin::Function& kernel = choose_kernel(cubin, job);
    if (kernel.parameters.size() != job.kernel_arguments.size())
        throw InputError(fmt::format("{}: kernel {} has {} parameters, but {} --arg are given",
                                     job.what, cubin::demangled(kernel.name),
                                     kernel.parameters.size(), job.kernel_arguments.size()));
    KernelArguments arguments(kernel, *device, job.seed);
    for (std::size_t i = 0; i < job.kernel_arguments.size(); ++i)
        arguments.add(i, job.kernel_arguments[i]);

    LaunchRequest launch;
    launch.module = device->load_module(cubin);
    launch.kernel = kernel.name;
    launch.grid = parse_dim3("--grid", job.grid);
    launch.block = parse_dim3("--block", job.block);
    if (kernel.cluster[0] != 0)  // __cluster_dims__
        launch.cluster = {kernel.cluster[0], kernel.cluster[1], kernel.cluster[2]};
    launch.dynamic_shared_bytes = job.dynamic_shared_bytes;
    launch.parameters = arguments.packed();
    Launches launches(job, *machine, screen);
    const LaunchResult result = device->launch(launch);
    launches.add(cubin::demangled(kernel.name), launch.grid, launch.block, result);
    Outcome outcome{launches.take()};
    outcome.clean = device->findings() == 0;
    arguments.write_outputs();
    return outcome;
}

}  // namespace lockstep::run
