// SPDX-License-Identifier: Apache-2.0
// One TPU v6e against times measured on one: products, streams, and chains of element by element
// work in VMEM, of which a step's time is the slope between chains of two lengths, as it was
// measured. Statistics are also taken by class; noisy rows are shown and not counted.
#include <algorithm>

#include "validation/compare/suites.h"
#include "validation/published/published.h"
#include "workloads/run/tpu/network.h"

namespace lockstep::validation {

namespace {

constexpr int kShort = 4, kLong = 12;  // steps of a chain

double microseconds(const std::string& workload, const std::string& machine) {
    constexpr double kMicroseconds = 1e6;
    return kMicroseconds * run::time_tpu_network({.what = workload, .machine = machine}).seconds;
}

double simulated(const std::string& workload, const std::string& machine) {
    if (!workload.ends_with("steps=")) return microseconds(workload, machine);
    return (microseconds(workload + std::to_string(kLong), machine) -
            microseconds(workload + std::to_string(kShort), machine)) /
           (kLong - kShort);
}

Part part_of(const std::string& text) {
    return text == "noisy" ? Part::kNoisy : text == "train" ? Part::kTrain : Part::kTest;
}

std::vector<Row> rows(const Request& request) {
    const Table table = published_table("tpu_v6e");
    std::vector<Row> list;
    for (std::size_t i = 0; i < table.rows(); ++i) {
        std::string workload = table.text(i, "workload");
        if (workload == "-") continue;
        std::replace(workload.begin(), workload.end(), ';', ',');
        list.push_back(
            {.name = workload,
             .quantity = "time",
             .reference = table.number(i, "us"),
             .simulated = simulated(workload, request.machine),
             .unit = "us",
             .source = "polarbearsrock/cocossim, measured on a TPU v6e: " + table.text(i, "source"),
             .part = part_of(table.text(i, "part")),
             .note = table.text(i, "note"),
             .group = table.text(i, "class")});
    }
    return list;
}

}  // namespace

Suite tpu_v6e_suite() {
    return {.name = "tpu_v6e",
            .summary = "one TPU v6e against times of operators measured on real hardware",
            .machine = "tpu_v6e",
            .rows = rows};
}

}  // namespace lockstep::validation
