// SPDX-License-Identifier: Apache-2.0
// A kernel on an H200 with half its SMs, then a network on a TPU.
//   kernel_and_network workloads/cuda/cubin/sm_90/vector_add.cubin
#include <lockstep/lockstep.h>

#include <cstdio>
#include <numeric>

namespace ls = lockstep::api;

namespace {

void run_kernel(const std::string& cubin) {
    const ls::Machine machine("h200", {"sm.count=66"});
    ls::Device device(machine);
    constexpr std::uint32_t kElements = 10000, kThreads = 256;
    std::vector<float> a(kElements), b(kElements, 0.5f), sum(kElements);
    std::iota(a.begin(), a.end(), 0.0f);
    const std::size_t bytes = kElements * sizeof(float);
    const ls::Address on_device[] = {device.allocate(bytes), device.allocate(bytes),
                                     device.allocate(bytes)};
    device.write(on_device[0], a.data(), bytes);
    device.write(on_device[1], b.data(), bytes);
    const ls::Module module = device.load(cubin);
    const ls::LaunchShape shape{.grid = {(kElements + kThreads - 1) / kThreads},
                                .block = {kThreads}};
    const ls::LaunchResult result =
        device.launch(module, module.kernels().front(), shape,
                      {on_device[0], on_device[1], on_device[2], kElements});
    device.read(sum.data(), on_device[2], bytes);
    std::printf("%s: %llu cycles, %.0f sectors of L2, sum[9999] = %.1f\n", machine.name().c_str(),
                static_cast<unsigned long long>(result.cycles),
                result.metrics.at("lts__t_sectors.sum"), double(sum[9999]));
}

void run_network() {
    const ls::RunResult result = ls::run_network("mlp", ls::Machine("tpu_v1"));
    std::printf("%s on %s: %.0f cycles, %zu layers, %zu output of %zu bytes\n",
                result.statistics.workload.c_str(), result.statistics.machine.c_str(),
                result.statistics.cycles(), result.statistics.steps.size(), result.outputs.size(),
                result.outputs.at(0).bytes.size());
}

}  // namespace

int main(int argc, char** argv) {
    try {
        run_kernel(argc > 1 ? argv[1] : "vector_add.cubin");
        run_network();
        return 0;
    } catch (const ls::Error& error) {
        std::fprintf(stderr, "%s\n", error.what());
        return error.status();
    }
}
