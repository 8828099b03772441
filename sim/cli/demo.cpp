// SPDX-License-Identifier: Apache-2.0
// `lockstep demo`: trains an MLP and a small CNN on digits, on an emulated GPU, and checks the
// weights against an Eigen implementation; then simulates a product on the GPU's Tensor Cores and
// AlexNet on a TPU, and checks their results too.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "sim/cli/run_request.h"
#include "sim/cli/verbs.h"
#include "workloads/cuda/train/train.h"

namespace lockstep::cli {

namespace {

int simulate(const std::string& what, const std::string& machine, const char* title) {
    RunRequest request;
    request.what = request.options.workload = what;
    request.options.machine = machine;
    request.verify = true;
    fmt::print("\n{}, cycle by cycle: ./lockstep run {} --on {} --verify\n", title, what, machine);
    return run(request);
}

int run_demo(RunRequest& request) {
    request.options.mode = "emulate";
    request.what = request.options.workload = "demo";
    const std::unique_ptr<Device> device = cuda::make_device(request.options);
    const auto start = std::chrono::steady_clock::now();
    const cuda::ProgramResult result = cuda::run_training(*device, request.arguments, stdout);
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    if (!request.options.quiet)
        fmt::print("{} million warp-instructions emulated in {:.1f} s on {}\n",
                   result.warp_instructions / 1'000'000, wall.count(), request.options.machine);
    if (result.status != 0) return result.status;
    const int status =
        simulate("hgemm:m=1024,n=1024,k=512", request.options.machine, "a product on Tensor Cores");
    return status != 0 ? status : simulate("alexnet", "tpu_v1", "AlexNet in 8-bit integers");
}

}  // namespace

void add_demo(CLI::App& app, const Words& after_dashes, int& status) {
    auto request = std::make_shared<RunRequest>();
    CLI::App* verb = app.add_subcommand(
        "demo", "Train networks on an emulated GPU, simulate kernels on a GPU and a TPU");
    verb->add_option("arguments", request->arguments,
                     "options of the training program, after --: --mnist FOLDER, --epochs N, ...");
    verb->add_option("--on", request->options.machine, "machine: a name or a .yaml file")
        ->capture_default_str();
    verb->add_option("--threads", request->options.threads, "host threads")
        ->check(CLI::Range(1u, 1024u))
        ->capture_default_str();
    verb->callback([request, &after_dashes, &status] {
        request->arguments.insert(request->arguments.end(), after_dashes.begin(),
                                  after_dashes.end());
        status = run_demo(*request);
    });
}

}  // namespace lockstep::cli
