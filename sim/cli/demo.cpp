// SPDX-License-Identifier: Apache-2.0
// `lockstep demo`: trains an MLP and a small CNN on digits, on an emulated GPU, and checks the
// weights against an Eigen implementation; then simulates a product on the GPU's Tensor Cores and
// AlexNet on a TPU, and what was trained on a TPU, an NPU and all three beside each other, and
// checks their results too.
#include <fmt/format.h>

#include <chrono>
#include <cstdio>

#include "sim/cli/run.h"
#include "sim/cli/run_on_each.h"
#include "sim/cli/verbs.h"
#include "workloads/cuda/train/train.h"
#include "workloads/run/gpu/gpu.h"

namespace lockstep::cli {

namespace {

int simulate(const std::string& what, const std::string& machine, const char* title) {
    fmt::print("\n{}, cycle by cycle: ./lockstep run {} --on {} --verify\n", title, what, machine);
    return run_job({.what = what, .machine = machine, .verify = true});
}

int run_demo(const run::Job& job) {
    const std::unique_ptr<Device> device = run::make_gpu(job);
    const auto start = std::chrono::steady_clock::now();
    const cuda::ProgramResult result = cuda::run_training(*device, job.arguments, stdout);
    const std::chrono::duration<double> wall = std::chrono::steady_clock::now() - start;
    fmt::print("{} million warp-instructions emulated in {:.1f} s on {}\n",
               result.warp_instructions / 1'000'000, wall.count(), job.machine);
    if (result.status != 0) return result.status;
    const int status =
        simulate("hgemm:m=1024,n=1024,k=512", job.machine, "a product on Tensor Cores");
    if (status != 0) return status;
    if (const int tpu = simulate("alexnet", "tpu_v1", "AlexNet in 8-bit integers"); tpu != 0)
        return tpu;
    // The network that the GPU has trained above.
    if (const int tpu = simulate("digits_cnn", "tpu_v1", "the trained CNN on a TPU"); tpu != 0)
        return tpu;
    if (const int npu = simulate("digits_cnn", "npu_mobile", "the trained CNN on a phone's NPU");
        npu != 0)
        return npu;
    const std::string all = job.machine + ",tpu_v1,npu_mobile";
    fmt::print(
        "\nthe trained CNN on the three machines: ./lockstep run digits_cnn --on {} --energy "
        "--verify\n",
        all);
    return run_on_each({.what = "digits_cnn", .machine = all, .verify = true, .energy = true}, "");
}

}  // namespace

void add_demo(CLI::App& app, const Words& after_dashes, int& status) {
    auto job = std::make_shared<run::Job>();
    job->what = "demo";
    job->mode = run::Mode::kEmulate;
    CLI::App* verb = app.add_subcommand(
        "demo", "Train networks on an emulated GPU, simulate kernels on a GPU, a TPU and an NPU");
    verb->add_option("arguments", job->arguments,
                     "options of the training program, after --: --mnist FOLDER, --epochs N, ...");
    verb->add_option("--on", job->machine, "machine: a name or a .yaml file")
        ->capture_default_str();
    verb->add_option("--threads", job->threads, "host threads")
        ->check(CLI::Range(1u, 1024u))
        ->capture_default_str();
    verb->callback([job, &after_dashes, &status] {
        job->arguments.insert(job->arguments.end(), after_dashes.begin(), after_dashes.end());
        status = run_demo(*job);
    });
}

}  // namespace lockstep::cli
