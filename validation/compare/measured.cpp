// SPDX-License-Identifier: Apache-2.0
// The model against what lockstep_measure recorded on silicon (validation/measured, or a folder).
// Each pair runs in a process of its own, several at a time; its rows do not depend on that.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>

#include "sim/config/machine.h"
#include "sim/error/error.h"
#include "sim/process/process_pool.h"
#include "validation/compare/comparison.h"
#include "validation/compare/measured_store.h"
#include "validation/compare/mufu_tables.h"
#include "validation/compare/suites.h"

namespace lockstep::validation {

namespace {

/// Rows through a pipe; numbers in hexadecimal, to the bit.
std::string to_text(const std::vector<Row>& rows) {
    auto list = nlohmann::json::array();
    for (const Row& row : rows)
        list.push_back({row.name, row.quantity, fmt::format("{:a}", row.reference),
                        fmt::format("{:a}", row.simulated), row.unit, row.source,
                        static_cast<int>(row.part), row.note, fmt::format("{:a}", row.allowed),
                        row.group, row.is_percentage});
    return list.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::vector<Row> rows_of(const std::string& text) {
    const auto number = [](const nlohmann::json& json) {
        return std::strtod(json.get_ref<const std::string&>().c_str(), nullptr);
    };
    std::vector<Row> rows;
    for (const auto& entry : nlohmann::json::parse(text))
        rows.push_back({.name = entry[0],
                        .quantity = entry[1],
                        .reference = number(entry[2]),
                        .simulated = number(entry[3]),
                        .unit = entry[4],
                        .source = entry[5],
                        .part = static_cast<Part>(entry[6].get<int>()),
                        .note = entry[7],
                        .allowed = number(entry[8]),
                        .group = entry[9],
                        .is_percentage = entry[10]});
    return rows;
}

std::vector<Row> rows(const Request& request) {
    const auto machine = config::Machine::load(request.machine);
    if (machine->kind() != "gpu")
        throw InputError(
            fmt::format("suite h200 compares GPUs, {} is a {}", request.machine, machine->kind()));
    const MeasuredStore stored =
        load_measurements(request, static_cast<int>(machine->integer("arch")));
    const std::vector<MufuTable> tables =
        request.measured.empty() ? std::vector<MufuTable>{} : find_mufu_tables(request.measured);
    const std::size_t pairs = stored.pairs.size(), jobs = pairs + tables.size();
    const auto name_of = [&](std::size_t job) {
        return job < pairs ? stored.pairs[job].measured.workload
                           : "mufu_" + tables[job - pairs].range.function;
    };
    const auto start = std::chrono::steady_clock::now();
    std::vector<Row> list;
    std::size_t failed = 0;
    const std::size_t begun = process::run_in_processes(
        jobs, request.threads, request.limit,
        [&](std::size_t job) {
            return to_text(job < pairs
                               ? compare_pair(stored.pairs[job], request.machine)
                               : std::vector{compare_mufu_table(tables[job - pairs], *machine)});
        },
        [&](std::size_t job, const process::JobResult& result) {
            if (result.is_input_error) throw InputError(result.text);
            if (!result.is_done) {
                ++failed;
                fmt::print(stderr, "{}: NOT COMPARED: {}\n", name_of(job), result.text);
                return;
            }
            const std::vector<Row> some = rows_of(result.text);
            if (request.on_rows) request.on_rows(some);
            list.insert(list.end(), some.begin(), some.end());
            if (request.progress)
                fmt::print(stderr, "\r\033[K{} of {}: {}\r", job + 1, jobs, name_of(job));
        });
    const auto seconds =
        std::chrono::duration_cast<std::chrono::seconds>(std::chrono::steady_clock::now() - start);
    for (std::size_t job = begun; job < jobs; ++job)
        fmt::print(stderr, "{}: NOT COMPARED: the time limit was reached\n", name_of(job));
    fmt::print(stderr, "{} of {} pairs compared in {} s, {} at a time\n", begun - failed, jobs,
               seconds.count(), request.threads);
    return list;
}

}  // namespace

Suite h200_suite() {
    return {.name = "h200",
            .summary = "kernels on the silicon: cycles, counters, microbenchmarks, output bits",
            .machine = "h200",
            .goal = Goal{"cycles", 8, 30, 0.99},
            .rows = rows};
}

}  // namespace lockstep::validation
