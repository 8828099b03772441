// SPDX-License-Identifier: Apache-2.0
// Microbenchmarks on the cycle model against what was published of the chip (published/micro.csv):
// the same binaries measure themselves, with their own clock, on a model and on silicon. A latency
// may be 2 cycles or 3% off, a rate 5%; where several measurements are published, as much as they
// differ from their middle.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <map>

#include "models/device.h"
#include "sim/config/machine.h"
#include "sim/error/error.h"
#include "validation/compare/suites.h"
#include "validation/published/published.h"
#include "workloads/cuda/workload.h"

namespace lockstep::validation {

namespace {

constexpr double kLatencyCycles = 2, kLatencyShare = 0.03, kRateShare = 0.05;

// The table has blanks between parameters, for its cells hold no commas.
std::string with_commas(std::string text) {
    std::replace(text.begin(), text.end(), ' ', ',');
    return text;
}

// What a microbenchmark measures on a fresh device, by name.
std::map<std::string, double> measure(const std::string& name, const Request& request,
                                      const std::shared_ptr<const config::Machine>& machine) {
    const std::size_t colon = name.find(':');
    const cuda::Workload& workload = cuda::find_workload(name.substr(0, colon));
    const cuda::Parameters parameters = cuda::parse_parameters(
        workload, colon == std::string::npos ? "" : std::string_view(name).substr(colon + 1));
    const auto device = make_simulator(machine, {.threads = request.threads});
    std::map<std::string, double> values;
    for (const cuda::Measurement& measurement :
         cuda::run_workload(workload, parameters, 0, false, *device).measurements)
        values[measurement.name] = measurement.value;
    return values;
}

std::vector<Row> rows(const Request& request) {
    const auto machine = config::Machine::load(request.machine);
    const Table table = published_table("micro");
    std::map<std::string, std::map<std::string, double>> measured;
    std::vector<Row> list;
    for (std::size_t i = 0; i < table.rows(); ++i) {
        if (table.text(i, "machine") != machine->name()) continue;
        const std::string name = with_commas(table.text(i, "workload"));
        if (!measured.contains(name)) {
            if (request.progress) fmt::print(stderr, "\r\033[K{}", name);
            measured[name] = measure(name, request, machine);
        }
        const std::string& quantity = table.text(i, "quantity");
        const auto found = measured[name].find(quantity);
        LOCKSTEP_CHECK(found != measured[name].end(), "{} measures no {}", name, quantity);
        const double reference = table.number(i, "value");
        const bool is_latency = table.text(i, "kind") == "latency";
        list.push_back(
            {.name = name,
             .quantity = quantity,
             .reference = reference,
             .simulated = found->second,
             .unit = table.text(i, "unit"),
             .source = table.text(i, "source"),
             .part = table.text(i, "part") == "train" ? Part::kTrain : Part::kTest,
             .note = table.text(i, "note"),
             .allowed = std::max(table.number(i, "spread"),
                                 is_latency ? std::max(kLatencyCycles, kLatencyShare * reference)
                                            : kRateShare * reference)});
    }
    if (request.progress) fmt::print(stderr, "\r\033[K");
    if (list.empty())
        throw InputError(
            fmt::format("suite micro has no published figures of machine '{}'; it has some of "
                        "a100, h100, h200, "
                        "rtx3090, rtx4090, t4",
                        request.machine));
    return list;
}

}  // namespace

Suite micro_suite() {
    return {.name = "micro",
            .summary = "microbenchmarks of latency, rate and bandwidth against published figures",
            .machine = "h200",
            .rows = rows};
}

}  // namespace lockstep::validation
