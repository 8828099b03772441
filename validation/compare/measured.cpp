// SPDX-License-Identifier: Apache-2.0
// The model against what lockstep_measure recorded on silicon (validation/measured, or a folder):
// the same cubins, inputs and launches, caches flushed before each launch on both sides. Outputs
// are compared where they are a function of the inputs: two runs on the silicon at different
// addresses left the same bits, and so do emulator and cycle model.
#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <numeric>

#include "sim/error/error.h"
#include "validation/compare/measured_files.h"
#include "validation/compare/recording_device.h"
#include "validation/compare/suites.h"
#include "validation/measure/measure_pair.h"
#include "validation/measure/ncu_csv.h"
#include "validation/measure/sha256.h"
#include "workloads/cuda/kernel_images.h"

namespace lockstep::validation {

namespace {

constexpr std::string_view kStallPrefix = "smsp__average_warps_issue_stalled_";
constexpr std::string_view kStallSuffix = "_per_issue_active.ratio";

struct Stored {
    struct Pair {
        MeasuredPair measured;
        std::string file;
        const CountedPair* counters = nullptr;
        std::string counter_file;
    };
    Provenance provenance;
    std::vector<Pair> pairs;
    std::vector<CounterFile> counters;
};

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

std::unique_ptr<Stored> load(const Request& request, int arch) {
    auto stored = std::make_unique<Stored>();
    std::map<std::string, std::string> counted;  // workload -> file
    for (const auto& [name, text] : files_of(request)) {
        if (kind_of(text, name) == "counters") {
            CounterFile file = read_counters(text, name);
            check_machine(file.provenance, request, name);
            if (file.cache != "cold") continue;
            for (const CountedPair& pair : file.pairs) counted[pair.workload] = name;
            stored->counters.push_back(std::move(file));
            continue;
        }
        MeasurementFile file = read_measurements(text, name);
        check_machine(file.provenance, request, name);
        stored->provenance = file.provenance;
        for (const auto& [workload, why] : file.failures)
            fmt::print(stderr, "{}: {} was not measured: {}\n", name, workload, why);
        for (MeasuredPair& pair : file.pairs) {
            check_cubins(pair, arch, name);
            for (const MeasuredCheck& check : pair.checks)
                if (!check.passed)
                    fmt::print(stderr, "{}: {}: the silicon's result is not the reference's: {}\n",
                               name, pair.workload, check.message);
            stored->pairs.push_back({std::move(pair), name, nullptr, ""});
        }
    }
    for (Stored::Pair& pair : stored->pairs)
        for (const CounterFile& file : stored->counters)
            for (const CountedPair& candidate : file.pairs)
                if (candidate.workload == pair.measured.workload)
                    pair.counters = &candidate, pair.counter_file = counted[candidate.workload];
    return stored;
}

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// Half of the kernels, for good: by FNV-1a of the workload's name.
Part part_of(const std::string& workload) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : workload.substr(0, workload.find(':')))
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return (hash >> 32) % 2 == 0 ? Part::kTrain : Part::kTest;
}

/// Sums and means over a pair's launches, from either side.
class Counters {
  public:
    explicit Counters(std::size_t launches) : launches_(launches) {}
    virtual ~Counters() = default;
    virtual double at(std::size_t launch, std::string_view metric) const = 0;
    double sum(std::string_view metric) const {
        double total = 0;
        for (std::size_t i = 0; i < launches_; ++i) total += at(i, metric);
        return total;
    }
    /// Weighted by another metric; nothing where that is 0.
    std::optional<double> mean(std::string_view metric, std::string_view weight) const {
        double total = 0, weights = 0;
        for (std::size_t i = 0; i < launches_; ++i) {
            const double w = at(i, weight);
            weights += w;
            if (w > 0) total += w * at(i, metric);
        }
        return weights > 0 ? std::optional(total / weights) : std::nullopt;
    }

  private:
    std::size_t launches_;
};

class MeasuredCounters : public Counters {
  public:
    explicit MeasuredCounters(const Stored::Pair& pair)
        : Counters(pair.counters->launches.size()), pair_(pair) {}
    double at(std::size_t launch, std::string_view metric) const override {
        const auto& metrics = pair_.counters->launches[launch].metrics;
        const auto found = metrics.find(std::string(metric));
        if (found == metrics.end())
            throw InputError(fmt::format("{}: {}: launches[{}].metrics.{}: is missing",
                                         pair_.counter_file, pair_.measured.workload, launch,
                                         metric));
        return found->second;
    }

  private:
    const Stored::Pair& pair_;
};

class SimulatedCounters : public Counters {
  public:
    explicit SimulatedCounters(const std::vector<RecordedLaunch>& launches)
        : Counters(launches.size()), launches_(launches) {}
    /// What a launch has no number of did not happen in it.
    double at(std::size_t launch, std::string_view metric) const override {
        for (const auto& [name, value] : launches_[launch].result.metrics)
            if (name == metric) return value.as_double();
        return 0;
    }

  private:
    const std::vector<RecordedLaunch>& launches_;
};

/// One pair, measured and on the model.
class Comparison {
  public:
    Comparison(const Stored::Pair& pair, const Stored& stored, const Request& request)
        : pair_(pair),
          measured_(pair.measured),
          machine_(config::Machine::load(request.machine)),
          emulator_(make_emulator(machine_, {})),
          simulator_(make_simulator(machine_, {.threads = request.threads})) {
        const Provenance& p = stored.provenance;
        source_ = fmt::format("{}, CUDA {}.{}, {}, commit {}", p.gpu, p.cuda_version / 1000,
                              p.cuda_version % 1000 / 10, p.date, p.commit);
        if (p.is_sample) source_ = "SAMPLE, not measured: " + source_;
        is_sample_ = p.is_sample;
        run_pair(measured_.workload, p.seed, false, emulator_);
        outcome_ = run_pair(measured_.workload, p.seed, false, simulator_);
        check_launches();
    }

    std::vector<Row> rows() {
        if (pair_.counters != nullptr)
            add_counters();
        else if (!measured_.launches.empty() && !measured_.launches[0].cold.empty())
            add_event_cycles();
        add_values();
        add_outputs();
        return std::move(rows_);
    }

  private:
    [[noreturn]] void fail(const std::string& file, const std::string& why) const {
        throw InputError(fmt::format("{}: {}: {}", file, measured_.workload, why));
    }

    void check_launches() const {
        const auto& ours = simulator_.launches();
        const auto check = [&](const auto& launches, const std::string& file) {
            if (launches.size() != ours.size())
                fail(file, fmt::format("launches: {} are stored, the workload has {}",
                                       launches.size(), ours.size()));
            for (std::size_t i = 0; i < ours.size(); ++i)
                if (launches[i].kernel != ours[i].kernel || !(launches[i].grid == ours[i].grid) ||
                    !(launches[i].block == ours[i].block))
                    fail(file, fmt::format("launches[{}]: is another kernel, grid or block than "
                                           "the workload's {}",
                                           i, ours[i].kernel));
        };
        check(measured_.launches, pair_.file);
        if (pair_.counters != nullptr) check(pair_.counters->launches, pair_.counter_file);
    }

    void add(std::string quantity, double reference, double simulated, std::string unit,
             bool is_percentage = false, std::string note = "", double allowed = 0) {
        if (is_sample_) note = note.empty() ? "SAMPLE" : "SAMPLE; " + note;
        rows_.push_back({.name = measured_.workload,
                         .quantity = std::move(quantity),
                         .reference = reference,
                         .simulated = simulated,
                         .unit = std::move(unit),
                         .source = source_,
                         .part = part_of(measured_.workload),
                         .note = std::move(note),
                         .allowed = allowed,
                         .group = measured_.group,
                         .is_percentage = is_percentage});
    }

    void add_counters() {
        const MeasuredCounters measured(pair_);
        const SimulatedCounters simulated(simulator_.launches());
        const auto sum = [&](const char* quantity, const char* metric, const char* unit) {
            add(quantity, measured.sum(metric), simulated.sum(metric), unit);
        };
        sum("cycles", "sm__cycles_elapsed.max", "cycles");
        sum("instructions", "smsp__inst_executed.sum", "instructions");
        sum("dram_read", "dram__bytes_read.sum", "bytes");
        sum("dram_write", "dram__bytes_write.sum", "bytes");
        const auto mean = [&](const char* quantity, const char* metric, const char* weight) {
            const auto a = measured.mean(metric, weight), b = simulated.mean(metric, weight);
            if (a && b) add(quantity, *a, *b, "%", true);
        };
        mean("l1_hit_rate", "l1tex__t_sector_hit_rate.pct", "l1tex__t_sectors.sum");
        mean("l2_hit_rate", "lts__t_sector_hit_rate.pct", "lts__t_sectors.sum");
        add_stalls(measured, simulated);
    }

    /// Each state's share of the time that warps waited.
    void add_stalls(const Counters& measured, const Counters& simulated) {
        std::vector<std::pair<std::string, std::array<double, 2>>> stalls;
        double totals[2] = {};
        for (const std::string_view metric : profiled_metrics()) {
            if (!metric.starts_with(kStallPrefix)) continue;
            std::string state(metric.substr(kStallPrefix.size()));
            state.resize(state.size() - kStallSuffix.size());
            const char* const weight = "smsp__inst_executed.sum";
            const std::array<double, 2> values = {measured.mean(metric, weight).value_or(0),
                                                  simulated.mean(metric, weight).value_or(0)};
            for (int side = 0; side < 2; ++side) totals[side] += values[side];
            stalls.emplace_back(std::move(state), values);
        }
        if (totals[0] <= 0 || totals[1] <= 0) return;
        for (const auto& [state, values] : stalls)
            add("stall_" + state, 100 * values[0] / totals[0], 100 * values[1] / totals[1], "%",
                true);
    }

    /// Without counters: the event's time less that of an empty launch, by the SM's clock.
    void add_event_cycles() {
        double cycles = 0, simulated = 0;
        for (const MeasuredLaunch& launch : measured_.launches) {
            if (launch.cold.empty() || launch.sm_mhz <= 0)
                fail(pair_.file,
                     "launches: event_us.cold or sm_mhz is empty, and there are no "
                     "counters (counters_cold.json)");
            cycles += std::max(0.0, median(launch.cold) - measured_.empty_launch) * launch.sm_mhz;
        }
        for (const RecordedLaunch& launch : simulator_.launches())
            simulated += static_cast<double>(launch.result.cycles);
        add("cycles", cycles, simulated, "cycles", false, "by events");
    }

    void add_values() {
        for (const MeasuredValue& value : measured_.values) {
            if (value.values.empty()) fail(pair_.file, "values." + value.name + ": is empty");
            const auto ours =
                std::find_if(outcome_.measurements.begin(), outcome_.measurements.end(),
                             [&](const auto& m) { return m.name == value.name; });
            if (ours == outcome_.measurements.end())
                fail(pair_.file, fmt::format("values: the workload measures no '{}'", value.name));
            const auto [least, most] =
                std::minmax_element(value.values.begin(), value.values.end());
            add("micro_" + value.name, median(value.values), ours->value, value.unit, false,
                *least == *most ? "" : fmt::format("measured {:.6g} to {:.6g}", *least, *most));
        }
    }

    /// How many outputs have the silicon's bits.
    void add_outputs() {
        int compared = 0, equal = 0;
        std::string note;
        for (std::size_t i = 0; i < measured_.launches.size(); ++i)
            for (const MeasuredOutput& measured : measured_.launches[i].outputs) {
                const auto find = [&](const RecordingDevice& device) -> const Output* {
                    for (const Output& output : device.launches()[i].outputs)
                        if (output.allocation == measured.output.allocation) return &output;
                    return nullptr;
                };
                const Output *a = find(emulator_), *b = find(simulator_);
                if (!measured.is_reproducible || (a != nullptr) != (b != nullptr) ||
                    (a != nullptr && a->sha256 != b->sha256))
                    continue;
                ++compared;
                if (a != nullptr && a->sha256 == measured.output.sha256)
                    ++equal;
                else if (note.empty())
                    note = fmt::format("launch {} ({}) leaves other bits in allocation {}", i,
                                       measured_.launches[i].kernel, measured.output.allocation);
            }
        if (compared > 0) add("outputs", compared, equal, "equal", false, note);
    }

    const Stored::Pair& pair_;
    const MeasuredPair& measured_;
    std::shared_ptr<const config::Machine> machine_;
    RecordingDevice emulator_, simulator_;
    cuda::Outcome outcome_;
    std::string source_;
    bool is_sample_ = false;
    std::vector<Row> rows_;
};

std::vector<Row> rows(const Request& request) {
    const auto machine = config::Machine::load(request.machine);
    if (machine->kind() != "gpu")
        throw InputError(
            fmt::format("suite h200 compares GPUs, {} is a {}", request.machine, machine->kind()));
    const auto stored = load(request, static_cast<int>(machine->integer("arch")));
    std::vector<Row> list;
    std::size_t done = 0;
    for (const Stored::Pair& pair : stored->pairs) {
        if (request.progress)
            fmt::print(stderr, "\r\033[K{} of {}: {}", ++done, stored->pairs.size(),
                       pair.measured.workload);
        for (Row& row : Comparison(pair, *stored, request).rows()) list.push_back(std::move(row));
    }
    if (request.progress) fmt::print(stderr, "\r\033[K");
    return list;
}

}  // namespace

Suite h200_suite() {
    return {.name = "h200",
            .summary = "kernels on the silicon: cycles, counters, microbenchmarks, output bits",
            .machine = "h200",
            .rows = rows};
}

}  // namespace lockstep::validation
