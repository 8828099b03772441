// SPDX-License-Identifier: Apache-2.0
#include "validation/compare/measured_store.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <set>

#include "sim/error/error.h"
#include "sim/stats/sha256.h"
#include "validation/compare/measured_files.h"
#include "validation/measure/ncu_csv.h"
#include "workloads/cuda/kernel_images.h"
#include "workloads/cuda/workload.h"

namespace lockstep::validation {

namespace {

namespace fs = std::filesystem;

std::string read_file(const fs::path& path) {
    std::error_code error;
    if (!fs::is_regular_file(path, error))
        throw InputError(fmt::format("{}: is not a file", path.string()));
    std::ifstream file(path, std::ios::binary);
    std::string text{std::istreambuf_iterator<char>(file), {}};
    if (!file) throw InputError(fmt::format("{}: cannot be read", path.string()));
    return text;
}

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
        std::error_code error;
        const fs::directory_iterator folder(request.measured, error);
        if (error)
            throw InputError(fmt::format("{}: cannot be read as a folder: {}", request.measured,
                                         error.message()));
        for (const auto& entry : folder)
            if (entry.path().extension() == ".json")
                files.emplace_back(entry.path().string(), read_file(entry.path()));
        if (files.empty())
            throw InputError(fmt::format("{}: holds no .json file", request.measured));
    }
    std::sort(files.begin(), files.end());
    return files;
}

/// All files must be of the machine that is compared, of one GPU, and all measured or all sample.
class OneMachine {
  public:
    explicit OneMachine(std::string machine) : machine_(std::move(machine)) {}
    void check(const Provenance& provenance, const std::string& file) {
        if (provenance.machine != machine_)
            throw InputError(fmt::format("{}: provenance.machine: is '{}', compared is '{}'", file,
                                         provenance.machine, machine_));
        if (first_file_.empty()) first_file_ = file, first_ = provenance;
        if (provenance.gpu != first_.gpu)
            throw InputError(fmt::format("{}: provenance.gpu: is '{}', in {} it is '{}'", file,
                                         provenance.gpu, first_file_, first_.gpu));
        if (provenance.is_sample != first_.is_sample)
            throw InputError(fmt::format("{}: provenance.sample: is {}, in {} it is {}", file,
                                         provenance.is_sample, first_file_, first_.is_sample));
    }

  private:
    std::string machine_, first_file_;
    Provenance first_;
};

void check_workload(const std::string& name, const std::string& file, std::size_t pair) {
    const std::size_t colon = name.find(':');
    try {
        cuda::parse_parameters(
            cuda::find_workload(name.substr(0, colon)),
            colon == std::string::npos ? "" : std::string_view(name).substr(colon + 1));
    } catch (const InputError& error) {
        throw InputError(fmt::format("{}: pairs[{}].workload: {}", file, pair, error.what()));
    }
}

void check_cubins(const MeasuredPair& pair, int arch, const std::string& file) {
    for (const auto& [name, digest] : pair.cubins) {
        const std::string ours = stats::sha256(cuda::kernel_image(name, arch));
        if (ours != digest)
            throw InputError(
                fmt::format("{}: {}: cubins.{}: measured was {}, the simulator runs "
                            "{}: measure again",
                            file, pair.workload, name, digest, ours));
    }
    for (std::size_t i = 0; i < pair.launches.size(); ++i)
        if (!pair.cubins.contains(pair.launches[i].file))
            throw InputError(fmt::format("{}: {}: launches[{}].file: cubins.{}: is missing", file,
                                         pair.workload, i, pair.launches[i].file));
}

/// Every launch has every counter that the file says it has, and those that every chip has are
/// there with a value.
void check_counters(const CounterFile& counters, const std::string& file) {
    const auto& asked = counters.metrics;
    for (const std::string_view metric : quick_metrics())
        if (std::find(asked.begin(), asked.end(), metric) == asked.end())
            throw InputError(fmt::format("{}: metrics: {} is missing", file, metric));
    for (std::size_t i = 0; i < asked.size(); ++i)
        if (std::find(asked.begin(), asked.begin() + static_cast<std::ptrdiff_t>(i), asked[i]) !=
            asked.begin() + static_cast<std::ptrdiff_t>(i))
            throw InputError(fmt::format("{}: metrics[{}]: {} stands twice", file, i, asked[i]));
    for (const CountedPair& pair : counters.pairs)
        for (std::size_t i = 0; i < pair.launches.size(); ++i) {
            const auto& metrics = pair.launches[i].metrics;
            for (const std::string& metric : asked)
                if (!metrics.contains(metric))
                    throw InputError(fmt::format("{}: {}: launches[{}].metrics.{}: is missing",
                                                 file, pair.workload, i, metric));
            for (const std::string_view metric : quick_metrics())
                if (!(metrics.at(std::string(metric)) > 0))
                    throw InputError(fmt::format("{}: {}: launches[{}].metrics.{}: must be above 0",
                                                 file, pair.workload, i, metric));
        }
}

/// Refuses what is there twice.
class Seen {
  public:
    void add(const std::string& what, const std::string& file, std::size_t pair) {
        const auto [entry, is_new] = files_.emplace(what, file);
        if (!is_new)
            throw InputError(fmt::format("{}: pairs[{}].workload: {} stands in {} already", file,
                                         pair, what, entry->second));
    }

  private:
    std::map<std::string, std::string> files_;
};

/// The counters of a workload with a state of the caches: of several files, those of the one that
/// has the most metrics.
void attach(StoredPair& pair, const CounterFile& file, const std::string& name) {
    StoredCounters& slot = file.cache == "cold" ? pair.cold : pair.warm;
    if (file.metrics.size() <= (slot.file == nullptr ? 0 : slot.file->metrics.size())) return;
    for (const CountedPair& counted : file.pairs)
        if (counted.workload == pair.measured.workload) slot = {&counted, &file, name};
}

}  // namespace

MeasuredStore load_measurements(const Request& request, int arch) {
    MeasuredStore stored;
    std::vector<std::string> counter_names;
    OneMachine one(request.machine);
    Seen seen_pairs, seen_counters;
    std::set<std::string> counted, measured;
    for (const auto& [name, text] : files_of(request)) {
        if (kind_of(text, name) == "counters") {
            const CounterFile& file = stored.counters.emplace_back(read_counters(text, name));
            one.check(file.provenance, name);
            check_counters(file, name);
            for (std::size_t i = 0; i < file.pairs.size(); ++i) {
                check_workload(file.pairs[i].workload, name, i);
                seen_counters.add(fmt::format("{} ({}, {} counters)", file.pairs[i].workload,
                                              file.cache, file.metrics.size()),
                                  name, i);
                counted.insert(file.pairs[i].workload);
            }
            counter_names.push_back(name);
            continue;
        }
        MeasurementFile file = read_measurements(text, name);
        one.check(file.provenance, name);
        for (const auto& [workload, why] : file.failures)
            fmt::print(stderr, "{}: {} was not measured: {}\n", name, workload, why);
        for (std::size_t i = 0; i < file.pairs.size(); ++i) {
            MeasuredPair& pair = file.pairs[i];
            check_workload(pair.workload, name, i);
            seen_pairs.add(pair.workload, name, i);
            check_cubins(pair, arch, name);
            measured.insert(pair.workload);
            for (const MeasuredCheck& check : pair.checks)
                if (!check.passed)
                    fmt::print(stderr, "{}: {}: the silicon's result is not the reference's: {}\n",
                               name, pair.workload, check.message);
            StoredPair entry{std::move(pair), file.provenance, name, {}, {}, ""};
            if (!request.measured.empty()) entry.outputs = request.measured + "/outputs";
            stored.pairs.push_back(std::move(entry));
        }
    }
    if (stored.pairs.empty())
        throw InputError(fmt::format("{}: no file has a measured pair", request.measured.empty()
                                                                            ? request.machine
                                                                            : request.measured));
    for (const std::string& workload : counted)
        if (!measured.contains(workload))
            fmt::print(stderr, "{}: NOT COMPARED: it has counters but no launches\n", workload);
    for (StoredPair& pair : stored.pairs)
        for (std::size_t i = 0; i < stored.counters.size(); ++i)
            attach(pair, stored.counters[i], counter_names[i]);
    return stored;
}

}  // namespace lockstep::validation
