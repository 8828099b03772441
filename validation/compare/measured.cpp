// SPDX-License-Identifier: Apache-2.0
// The model against what lockstep_measure recorded on silicon (validation/measured, or a folder).
// Each pair runs in a process of its own, several at a time; its rows do not depend on that.
#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <deque>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "sim/config/machine.h"
#include "sim/error/error.h"
#include "validation/compare/comparison.h"
#include "validation/compare/measured_files.h"
#include "validation/compare/mufu_tables.h"
#include "validation/compare/process_pool.h"
#include "validation/compare/suites.h"
#include "validation/measure/sha256.h"
#include "workloads/cuda/kernel_images.h"

namespace lockstep::validation {

namespace {

/// Name and text of each file, by name.
std::vector<std::pair<std::string, std::string>> files_of(const Request& request) {
    std::vector<std::pair<std::string, std::string>> files;
    if (request.measured.empty()) {
        for (const MeasuredText& file : measured_files())
            if (file.machine == request.machine)
                files.emplace_back(std::string(file.name), std::string(file.text));
        if (files.empty())
            throw InputError(fmt::format(
                "no measurements of {} are built in yet; validation/measure/run.sh makes them on a "
                "machine with that GPU, --measured names a folder that has some",
                request.machine));
    } else {
        namespace fs = std::filesystem;
        if (!fs::is_directory(request.measured))
            throw InputError(fmt::format("{}: is not a folder", request.measured));
        for (const auto& entry : fs::directory_iterator(request.measured)) {
            if (entry.path().extension() != ".json") continue;
            std::ifstream file(entry.path(), std::ios::binary);
            files.emplace_back(entry.path().string(),
                               std::string(std::istreambuf_iterator<char>(file), {}));
        }
        if (files.empty())
            throw InputError(fmt::format("{}: holds no .json file", request.measured));
    }
    std::sort(files.begin(), files.end());
    return files;
}

void check_machine(const Provenance& provenance, const Request& request, const std::string& file) {
    if (provenance.machine != request.machine)
        throw InputError(fmt::format("{}: provenance.machine: is '{}', compared is '{}'", file,
                                     provenance.machine, request.machine));
}

void check_cubins(const MeasuredPair& pair, int arch, const std::string& file) {
    for (const auto& [name, digest] : pair.cubins) {
        const std::string ours = sha256(cuda::kernel_image(name, arch));
        if (ours != digest)
            throw InputError(
                fmt::format("{}: {}: cubins.{}: measured was {}, the simulator runs "
                            "{}: measure again",
                            file, pair.workload, name, digest, ours));
    }
    for (const MeasuredLaunch& launch : pair.launches)
        if (!pair.cubins.contains(launch.file))
            throw InputError(
                fmt::format("{}: {}: cubins.{}: is missing", file, pair.workload, launch.file));
}

struct Stored {
    std::vector<StoredPair> pairs;
    std::deque<CounterFile> counters;  // pairs point into it
};

/// The counters of a workload with a state of the caches: of several files, those of the one that
/// has the most metrics.
void attach(StoredPair& pair, const CounterFile& file, const std::string& name) {
    StoredCounters& slot = file.cache == "cold" ? pair.cold : pair.warm;
    if (file.metrics.size() <= (slot.file == nullptr ? 0 : slot.file->metrics.size())) return;
    for (const CountedPair& counted : file.pairs)
        if (counted.workload == pair.measured.workload) slot = {&counted, &file, name};
}

Stored load(const Request& request, int arch) {
    Stored stored;
    std::vector<std::string> counter_names;
    for (const auto& [name, text] : files_of(request)) {
        if (kind_of(text, name) == "counters") {
            stored.counters.push_back(read_counters(text, name));
            check_machine(stored.counters.back().provenance, request, name);
            counter_names.push_back(name);
            continue;
        }
        MeasurementFile file = read_measurements(text, name);
        check_machine(file.provenance, request, name);
        for (const auto& [workload, why] : file.failures)
            fmt::print(stderr, "{}: {} was not measured: {}\n", name, workload, why);
        for (MeasuredPair& pair : file.pairs) {
            check_cubins(pair, arch, name);
            for (const MeasuredCheck& check : pair.checks)
                if (!check.passed)
                    fmt::print(stderr, "{}: {}: the silicon's result is not the reference's: {}\n",
                               name, pair.workload, check.message);
            StoredPair entry{std::move(pair), file.provenance, name, {}, {}, ""};
            if (!request.measured.empty()) entry.outputs = request.measured + "/outputs";
            stored.pairs.push_back(std::move(entry));
        }
    }
    for (StoredPair& pair : stored.pairs)
        for (std::size_t i = 0; i < stored.counters.size(); ++i)
            attach(pair, stored.counters[i], counter_names[i]);
    return stored;
}

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
    const Stored stored = load(request, static_cast<int>(machine->integer("arch")));
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
    const std::size_t begun = run_in_processes(
        jobs, request.threads, request.limit,
        [&](std::size_t job) {
            return to_text(job < pairs
                               ? compare_pair(stored.pairs[job], request.machine)
                               : std::vector{compare_mufu_table(tables[job - pairs], *machine)});
        },
        [&](std::size_t job, const JobResult& result) {
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
        fmt::print(stderr, "{}: NOT COMPARED: the time limit came first\n", name_of(job));
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
