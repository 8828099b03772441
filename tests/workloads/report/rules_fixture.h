// SPDX-License-Identifier: Apache-2.0
// Runs kernels of data/rules.cu on a small H200, as a run that a statistics file says.
#pragma once

#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "isa/cubin/cubin.h"
#include "models/device.h"
#include "sim/config/machine.h"
#include "sim/stats/statistics.h"
#include "tests/paths.h"
#include "workloads/report/run_file.h"

namespace lockstep::report {

class RulesRunner {
  public:
    explicit RulesRunner(bool counts_instructions = true, unsigned threads = 1,
                         const std::vector<std::string>& settings = {"sm.count=4"})
        : machine_(config::Machine::load("h200", settings)),
          device_(make_simulator(
              machine_, {.threads = threads, .counts_instructions = counts_instructions})) {
        const std::string path = source_path("tests/workloads/report/data/rules_sm_90.cubin");
        std::ifstream file(path, std::ios::binary);
        const std::vector<std::uint8_t> bytes{std::istreambuf_iterator<char>(file),
                                              std::istreambuf_iterator<char>()};
        module_ = device_->load_module(cubin::parse(bytes, path));
        out_ = device_->allocate(std::uint64_t{16} << 20);
        in_ = device_->allocate(std::uint64_t{16} << 20);
    }

    const config::Machine& machine() const { return *machine_; }

    LaunchResult launch(const std::string& kernel, std::uint32_t ctas, std::uint32_t threads,
                        std::uint32_t shared_bytes = 0) {
        LaunchRequest request{.module = module_,
                              .kernel = kernel,
                              .grid = {ctas, 1, 1},
                              .block = {threads, 1, 1},
                              .dynamic_shared_bytes = shared_bytes};
        const DevicePointer pointers[] = {out_, in_};
        std::vector<std::byte> parameters(sizeof pointers);
        std::memcpy(parameters.data(), pointers, sizeof pointers);
        const cubin::Function* function = device_->find_kernel(module_, kernel);
        parameters.resize(std::min<std::size_t>(parameters.size(), function->parameter_bytes));
        request.parameters = parameters;
        return device_->launch(request);
    }

    /// As the statistics say it.
    RunFile run(const std::string& kernel, std::uint32_t ctas, std::uint32_t threads,
                std::uint32_t shared_bytes = 0) {
        const LaunchResult result = launch(kernel, ctas, threads, shared_bytes);
        stats::Statistics statistics("h200", "cycle", kernel);
        statistics.add({.name = kernel,
                        .grid = {ctas, 1, 1},
                        .block = {threads, 1, 1},
                        .metrics = result.metrics,
                        .mode = "",
                        .profile = result.profile});
        statistics.add_time(result.cycles, result.seconds, result.warp_instructions);
        return parse_run(kernel, statistics.json());
    }

  private:
    std::shared_ptr<const config::Machine> machine_;
    std::unique_ptr<Device> device_;
    ModuleHandle module_ = 0;
    DevicePointer out_ = 0, in_ = 0;
};

}  // namespace lockstep::report
