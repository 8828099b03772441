// SPDX-License-Identifier: Apache-2.0
// lockstep_measure: runs the plan on the GPU of this machine and writes what it measured. Every
// pair runs in a process of its own: a fault or a hang costs one pair, not the rest. It changes no
// setting of the card. What OUT has already is not measured again, so that a run may be cut into
// several. Exit status: 0 all measured; 2 no GPU, or wrong input; 3 some pairs failed; 75 the time
// limit came first: the same call goes on.
#include <fmt/ranges.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <future>
#include <iterator>
#include <nlohmann/json.hpp>

#include "sim/error/error.h"
#include "sim/stats/sha256.h"
#include "sim/stats/statistics.h"
#include "validation/measure/child_process.h"
#include "validation/measure/measure_pair.h"
#include "validation/measure/ncu_csv.h"
#include "validation/measure/provenance.h"
#include "validation/measure/tables.h"

namespace lockstep::validation {

namespace {

namespace fs = std::filesystem;

struct Options {
    std::string out = ".", driver = "libcuda.so.1", management = "libnvidia-ml.so.1", machine,
                plan_file, commit = "unknown";
    std::string manifest, csv, cache = "cold", profiler = "unknown", metrics, available,
                               into = "counters.json";
    std::string part = "1/1";
    std::vector<std::string> groups, only;
    unsigned timeout = 60, limit = 0;
    std::uint64_t keep_outputs = 64u << 10;
    bool list = false, profile = false, all_profiled = false, tables = false, is_sample = false;
    int table_entries = 0;
    MeasureOptions measure;
};

std::string read_file(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw InputError(fmt::format("{}: cannot be read", path));
    return {std::istreambuf_iterator<char>(file), {}};
}

std::vector<PlannedPair> planned(const Options& options) {
    std::vector<PlannedPair> plan =
        options.plan_file.empty() ? measurement_plan()
                                  : parse_plan(read_file(options.plan_file), options.plan_file);
    const auto is_unwanted = [](const std::vector<std::string>& wanted, const std::string& name) {
        return !wanted.empty() && std::find(wanted.begin(), wanted.end(), name) == wanted.end();
    };
    std::erase_if(plan, [&](const PlannedPair& pair) {
        return is_unwanted(options.groups, pair.group) || is_unwanted(options.only, pair.workload);
    });
    plan = piece_of(plan, options.part);
    if (plan.empty()) throw InputError("the plan has no such pair");
    return plan;
}

/// Of what a limit of time in seconds (0: none) leaves.
class Deadline {
  public:
    explicit Deadline(unsigned limit) : limit_(limit) {}
    bool has_passed() const {
        return limit_ > 0 &&
               std::chrono::steady_clock::now() - begin_ > std::chrono::seconds(limit_);
    }

  private:
    unsigned limit_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

constexpr int kTimeIsUp = 75;  // EX_TEMPFAIL

Provenance provenance(const Options& options, const Driver& driver) {
    Provenance p = provenance_of(driver, options.management, options.machine);
    p.commit = options.commit;
    p.program = "lockstep_measure";
    p.is_sample = options.is_sample;
    p.cold_repeats = options.measure.cold_repeats;
    p.warm_repeats = options.measure.warm_repeats;
    p.runs = options.measure.runs;
    p.seed = options.measure.seed;
    return p;
}

void check_finite(const MeasuredPair& pair) {
    for (const MeasuredValue& value : pair.values)
        for (const double v : value.values)
            if (!std::isfinite(v))
                throw InputError(fmt::format("{} was measured as {}", value.name, v));
}

void note_clock(Provenance& p, const MeasuredPair& pair) {
    for (const MeasuredLaunch& launch : pair.launches) {
        if (launch.sm_mhz == 0) continue;
        if (p.sm_mhz_least == 0 || launch.sm_mhz < p.sm_mhz_least) p.sm_mhz_least = launch.sm_mhz;
        p.sm_mhz_most = std::max(p.sm_mhz_most, launch.sm_mhz);
    }
}

/// What is in OUT of a run that was cut short. The source may have changed since: cubins are
/// compared by their hashes.
void take_over(MeasurementFile& file, const fs::path& path) {
    if (!fs::exists(path)) return;
    MeasurementFile old = read_measurements(read_file(path.string()), path.string());
    const Provenance &a = old.provenance, &b = file.provenance;
    if (a.gpu != b.gpu || a.machine != b.machine || a.seed != b.seed ||
        a.is_sample != b.is_sample || a.cold_repeats != b.cold_repeats ||
        a.warm_repeats != b.warm_repeats || a.runs != b.runs)
        throw InputError(fmt::format(
            "{}: provenance: is of another GPU, seed or number of repeats; name another --out",
            path.string()));
    if (a.commit != b.commit)
        fmt::print(stderr, "{}: begun at commit {}, now {}\n", path.string(), a.commit, b.commit);
    file.provenance = a;
    file.pairs = std::move(old.pairs);
}

bool has(const MeasurementFile& file, const std::string& workload) {
    return std::any_of(file.pairs.begin(), file.pairs.end(),
                       [&](const MeasuredPair& pair) { return pair.workload == workload; });
}

int measure(const Options& options) {
    const Deadline deadline(options.limit);
    const std::vector<PlannedPair> plan = planned(options);
    fs::create_directories(options.out);
    const fs::path scratch = fs::path(options.out) / fmt::format(".child-{}", getpid());
    const Provenance about =
        read_measurements(in_child(scratch, options.timeout,
                                   [&] {
                                       MeasurementFile file;
                                       file.provenance =
                                           provenance(options, *Driver::load(options.driver));
                                       return to_text(file);
                                   }),
                          "the driver")
            .provenance;
    const auto machine = config::Machine::load(about.machine);
    fmt::print(stderr, "{}: {} pairs, machine {}\n", about.gpu, plan.size(), about.machine);
    for (const std::string& doubt : doubts(about))
        fmt::print(stderr, "{}: DOUBTFUL: {}\n", about.gpu, doubt);

    const Keeper keeper(options.driver);
    MeasureOptions measure_options = options.measure;
    if (options.keep_outputs > 0) {
        measure_options.outputs = (fs::path(options.out) / "outputs").string();
        measure_options.device.keep_bytes = options.keep_outputs;
    }
    std::map<std::string, MeasurementFile> files;
    std::size_t done = 0, failed = 0, there = 0;
    for (const PlannedPair& pair : plan) {
        const fs::path path = fs::path(options.out) / (pair.group + ".json");
        const auto [entry, is_new] = files.try_emplace(pair.group, MeasurementFile{about, {}, {}});
        MeasurementFile& file = entry->second;
        if (is_new) take_over(file, path);
        if (has(file, pair.workload)) {
            ++done, ++there;
            continue;
        }
        if (deadline.has_passed()) {
            fmt::print("{} of {} pairs measured, time is up\n", done - failed, plan.size());
            return kTimeIsUp;
        }
        try {
            file.pairs.push_back(read_pair(in_child(scratch, options.timeout,
                                                    [&] {
                                                        const MeasuredPair measured = measure_pair(
                                                            pair, Driver::load(options.driver),
                                                            machine, measure_options);
                                                        check_finite(measured);
                                                        return to_json(measured).dump();
                                                    }),
                                           pair.workload));
            note_clock(file.provenance, file.pairs.back());
            for (const MeasuredCheck& check : file.pairs.back().checks)
                if (!check.passed)
                    fmt::print(stderr, "{}: WRONG RESULT: {}\n", pair.workload, check.message);
        } catch (const Error& error) {
            ++failed;
            file.failures.emplace_back(pair.workload, error.what());
            fmt::print(stderr, "{}: FAILED: {}\n", pair.workload, error.what());
        }
        stats::write_whole(path.string(), to_text(file));
        fmt::print(stderr, "{} of {}: {}\n", ++done, plan.size(), pair.workload);
    }
    fmt::print("{} pairs measured ({} before), {} failed, {}\n", done - failed, there, failed,
               options.out);
    return failed == 0 ? 0 : 3;
}

/// Under a profiler: all launches once, in this process, and a list of them.
int profile(const Options& options) {
    const auto driver = Driver::load(options.driver);
    CounterFile file;
    file.provenance = provenance(options, *driver);
    file.cache = options.cache;
    file.profiler = options.profiler;
    const auto machine = config::Machine::load(file.provenance.machine);
    for (const PlannedPair& pair : planned(options)) {
        CudaDeviceOptions device_options = options.measure.device;
        device_options.bare = true;
        device_options.runs_before = options.cache == "warm" && !options.all_profiled;
        if (options.all_profiled) device_options.warm_up_cycles = 0;
        device_options.has_addresses = pair.times_itself();
        CudaDevice device(driver, machine, device_options);
        file.pairs.push_back(profile_pair(pair, device, options.measure.seed,
                                          [&] { return device.take_launches(); }));
        // A list that is always whole as far as it goes.
        stats::write_whole(options.manifest, to_text(file));
    }
    return 0;
}

/// Writes mufu_NAME.zst for each function, and what they are to tables/index.json.
int tables(const Options& options) {
    const auto driver = Driver::load(options.driver);
    const Provenance about = provenance(options, *driver);
    CudaDevice device(driver, config::Machine::load(about.machine), options.measure.device);
    const fs::path folder = fs::path(options.out) / "tables";
    fs::create_directories(folder);
    // The GPU takes milliseconds, finding the rounded results and packing seconds on a core each.
    std::vector<std::pair<TableRange, std::future<std::string>>> work;
    for (TableRange range : table_ranges()) {
        if (options.table_entries > 0) range.count = std::min(range.count, options.table_entries);
        std::vector<float> results = device.table(range.function, range.first_bits, range.count);
        work.emplace_back(range, std::async(std::launch::async, [range, all = std::move(results)] {
                              return compress_table(range, all);
                          }));
    }
    TableIndex index{about, {}};
    for (auto& [range, packed] : work) {
        const std::string bytes = packed.get(), name = "mufu_" + range.function + ".zst";
        stats::write_whole((folder / name).string(), bytes);
        index.tables.push_back({range, name, stats::sha256(std::as_bytes(std::span(bytes)))});
    }
    stats::write_whole((folder / "index.json").string(), to_text(index));
    fmt::print("{} tables, {}\n", table_ranges().size(), folder.string());
    return 0;
}

std::vector<std::string> split(const std::string& list) {
    std::vector<std::string> names;
    for (std::size_t at = 0; at < list.size();) {
        const std::size_t comma = std::min(list.find(',', at), list.size());
        names.push_back(list.substr(at, comma - at));
        at = comma + 1;
    }
    return names;
}

int merge(const Options& options) {
    CounterFile file = read_counters(read_file(options.manifest), options.manifest);
    file.metrics = split(options.metrics);
    add_counters(file, read_file(options.csv), options.csv);
    fs::create_directories(options.out);
    const std::string path = (fs::path(options.out) / options.into).string();
    stats::write_whole(path, to_text(file));
    fmt::print("counters of {} pairs, {}\n", file.pairs.size(), path);
    return 0;
}

void print_list(const std::vector<std::string>& names) {
    fmt::print("{}\n", fmt::join(names, ","));
}

int run(const Options& options) {
    if (!options.available.empty()) {
        print_list(available_metrics(read_file(options.available), options.available));
        return 0;
    }
    if (!options.csv.empty()) return merge(options);
    if (!options.metrics.empty()) {
        const auto quick = quick_metrics();
        const auto all = options.metrics == "quick"
                             ? std::vector<std::string_view>(quick.begin(), quick.end())
                             : asked_metrics();
        print_list({all.begin(), all.end()});
        return 0;
    }
    if (options.list) {
        for (const PlannedPair& pair : planned(options))
            fmt::print("{:<14} {}\n", pair.group, pair.workload);
        return 0;
    }
    if (options.tables) return tables(options);
    return options.profile ? profile(options) : measure(options);
}

}  // namespace

}  // namespace lockstep::validation

int main(int argc, char** argv) {
    lockstep::validation::Options options;
    CLI::App app(
        "Runs Lockstep's workloads on the GPU of this machine and writes what it measures");
    app.add_option("--out", options.out, "folder of the results")->capture_default_str();
    app.add_option("--group", options.groups, "only these groups of the plan");
    app.add_option("--only", options.only, "only these workloads of the plan");
    app.add_option("--part", options.part, "I/N: only the I-th of N parts of the plan")
        ->capture_default_str();
    app.add_option("--limit", options.limit, "seconds after which no pair is begun (0: none)");
    app.add_option("--keep-outputs", options.keep_outputs,
                   "keep outputs of up to so many bytes, to see where they differ (0: none)")
        ->capture_default_str();
    app.add_option("--plan", options.plan_file, "a plan of your own (group,workload lines)");
    app.add_option("--machine", options.machine, "the GPU's machine file (default: by its name)");
    app.add_option("--driver", options.driver, "the CUDA driver's library")->capture_default_str();
    app.add_option("--management", options.management, "the library that knows the card's state")
        ->capture_default_str();
    app.add_option("--commit", options.commit, "of the source, for the provenance");
    app.add_option("--cold-repeats", options.measure.cold_repeats, "with caches flushed")
        ->check(CLI::Range(0u, 1000u))
        ->capture_default_str();
    app.add_option("--warm-repeats", options.measure.warm_repeats, "with caches as they are")
        ->check(CLI::Range(0u, 1000u))
        ->capture_default_str();
    app.add_option("--runs", options.measure.runs, "of workloads that time themselves")
        ->check(CLI::Range(2u, 1000u))
        ->capture_default_str();
    app.add_option("--seed", options.measure.seed, "of the inputs")->capture_default_str();
    app.add_option("--timeout", options.timeout, "seconds for each pair")
        ->take_last()
        ->capture_default_str();
    app.add_option("--warm-up-cycles", options.measure.device.warm_up_cycles,
                   "of load before each run, so that the clock rises")
        ->check(CLI::Range(0, 2'000'000'000))
        ->take_last()
        ->capture_default_str();
    app.add_flag("--sample", options.is_sample, "mark the results as not measured");
    app.add_flag("--list", options.list, "print the plan");
    app.add_option(
        "--metrics", options.metrics,
        "print the names of the counters: full or quick; with --counters: those asked for");
    app.add_option("--available", options.available,
                   "print the names of the counters that this profiler's CSV has");
    app.add_flag("--profile", options.profile, "run everything once, for a profiler");
    app.add_flag("--all-profiled", options.all_profiled,
                 "with --profile: run nothing that is not to be profiled");
    app.add_flag("--tables", options.tables, "write the tables of the transcendental unit");
    app.add_option("--table-entries", options.table_entries, "at most so many of each (tests)");
    app.add_option("--manifest", options.manifest, "the list of launches that --profile writes");
    app.add_option("--counters", options.csv, "turn a profiler's CSV and the manifest into JSON");
    app.add_option("--into", options.into, "with --counters: the file in OUT")
        ->capture_default_str();
    app.add_option("--cache", options.cache, "with --profile: the caches before each launch")
        ->check(CLI::IsMember({"cold", "warm"}))
        ->capture_default_str();
    app.add_option("--profiler", options.profiler, "its version, for the provenance");
    CLI11_PARSE(app, argc, argv);
    try {
        return lockstep::validation::run(options);
    } catch (const lockstep::Error& error) {
        fmt::print(stderr, "lockstep_measure: {}\n", error.what());
        return static_cast<int>(error.status());
    } catch (const std::exception& error) {
        fmt::print(stderr, "lockstep_measure: {}\n", error.what());
        return static_cast<int>(lockstep::ExitStatus::kInternalError);
    }
}
