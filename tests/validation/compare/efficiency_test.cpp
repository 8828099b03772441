// SPDX-License-Identifier: Apache-2.0
// The page on NPUs' efficiency says what the NPU and TPU machines now come to.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "tests/paths.h"
#include "workloads/run/job.h"

namespace lockstep::validation {
namespace {

double millijoules(const std::string& network, const std::string& machine) {
    run::Screen screen;
    const run::Outcome outcome =
        run::run({.what = network, .machine = machine, .no_values = true, .energy = true}, screen);
    for (const auto& [name, value] : outcome.statistics.totals())
        if (name == "energy.total") return 1e3 * value.as_double();
    return 0;
}

TEST(Efficiency, ThePageSaysWhatMachinesComeTo) {
    std::ifstream page(source_path("validation/published/npu_efficiency.md"));
    std::size_t rows = 0;
    for (std::string line; std::getline(page, line);)
        for (const char* machine :
             {"npu_mobile", "npu_auto", "npu_edge", "nvdla_large", "tpu_v4"}) {
            if (!line.starts_with(fmt::format("| {} ", machine)) ||
                line.find(" mJ ") == std::string::npos)
                continue;
            std::vector<std::string> cells;
            std::istringstream row(line.substr(1));
            for (std::string cell; std::getline(row, cell, '|');) cells.push_back(cell);
            const char* networks[] = {"alexnet", "resnet50", "mobilenet_v2"};
            for (std::size_t i = 0; i < std::size(networks); ++i) {
                const double said = std::stod(cells.at(2 + 2 * i));
                EXPECT_NEAR(millijoules(networks[i], machine) / said, 1, 0.03)
                    << machine << " " << networks[i];
            }
            ++rows;
        }
    EXPECT_EQ(rows, 5u);
}

}  // namespace
}  // namespace lockstep::validation
