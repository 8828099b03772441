// SPDX-License-Identifier: Apache-2.0
// One TPU v3 core against cycles measured on one: operators and networks in bf16, compiled by
// workloads/network/tpu, time alone.
#include <algorithm>

#include "sim/error/error.h"
#include "validation/compare/suites.h"
#include "validation/published/published.h"
#include "workloads/run/tpu/network.h"

namespace lockstep::validation {

namespace {

std::vector<Row> rows(const Request& request) {
    const Table table = published_table("tpu_measured");
    std::vector<Row> list;
    for (std::size_t i = 0; i < table.rows(); ++i) {
        std::string workload = table.text(i, "workload");
        std::replace(workload.begin(), workload.end(), ';', ',');
        const tpu::RunResult run =
            run::time_tpu_network({.what = workload, .machine = request.machine});
        list.push_back({workload, "cycles", table.number(i, "cycles"),
                        static_cast<double>(run.cycles), "cycles",
                        "PyTorchSim (MICRO 2025), measured on a TPU v3",
                        table.text(i, "part") == "train" ? Part::kTrain : Part::kTest,
                        table.text(i, "note"), 0, table.text(i, "class")});
    }
    return list;
}

}  // namespace

Suite tpu_measured_suite() {
    return {.name = "tpu_measured",
            .summary = "one TPU v3 core against cycles measured on real hardware",
            .machine = "tpu_v3",
            .bar = 10,
            .bar_source = "the goal; PyTorchSim, the best published model, reaches 11.5%",
            .rows = rows};
}

}  // namespace lockstep::validation
