// SPDX-License-Identifier: Apache-2.0
// The same cubins, inputs and launches on both sides, L2 cleared before each launch; where warm
// figures were measured, also each launch a second time, memory restored, with L2 as the first one
// left it. Outputs are compared where they are a function of the inputs: two runs on the silicon at
// different addresses left the same bits, and so do emulator and cycle model.
#include "validation/compare/comparison.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "isa/cubin/cubin.h"
#include "models/device.h"
#include "sim/error/error.h"
#include "sim/stats/find.h"
#include "validation/compare/output_difference.h"
#include "validation/compare/recording_device.h"
#include "validation/measure/measure_pair.h"
#include "validation/measure/ncu_csv.h"
#include "validation/measure/probe_images.h"

namespace lockstep::validation {

namespace {

constexpr std::string_view kStallPrefix = "smsp__average_warps_issue_stalled_";
constexpr std::string_view kStallSuffix = "_per_issue_active.ratio";
/// A clock that is further from the machine file's makes other latencies in cycles.
constexpr double kClockShare = 0.02;

double median(std::vector<double> values) {
    std::sort(values.begin(), values.end());
    const std::size_t half = values.size() / 2;
    return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// Sums and means over a pair's launches, from either side.
class Counters {
  public:
    explicit Counters(std::size_t launches) : launches_(launches) {}
    virtual ~Counters() = default;
    virtual bool has(std::string_view metric) const = 0;
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
    MeasuredCounters(const StoredCounters& counters, const std::string& workload)
        : Counters(counters.pair->launches.size()), counters_(counters), workload_(workload) {}
    bool has(std::string_view metric) const override {
        const auto& all = counters_.file->metrics;
        return std::find(all.begin(), all.end(), metric) != all.end();
    }
    double at(std::size_t launch, std::string_view metric) const override {
        const auto& metrics = counters_.pair->launches[launch].metrics;
        const auto found = metrics.find(std::string(metric));
        if (found == metrics.end())
            throw InputError(fmt::format("{}: {}: launches[{}].metrics.{}: is missing",
                                         counters_.name, workload_, launch, metric));
        return found->second;
    }

  private:
    const StoredCounters& counters_;
    const std::string& workload_;
};

class SimulatedCounters : public Counters {
  public:
    explicit SimulatedCounters(const std::vector<RecordedLaunch>& launches)
        : Counters(launches.size()), launches_(launches) {}
    bool has(std::string_view) const override { return true; }
    /// What a launch has no number of did not happen in it.
    double at(std::size_t launch, std::string_view metric) const override {
        return stats::number(launches_[launch].result.metrics, metric);
    }

  private:
    const std::vector<RecordedLaunch>& launches_;
};

class Comparison {
  public:
    Comparison(const StoredPair& pair, const std::string& machine)
        : pair_(pair), measured_(pair.measured), machine_(config::Machine::load(machine)) {}

    std::vector<Row> rows() {
        RecordingDevice emulator(make_emulator(machine_, {}), {.keep_outputs = true});
        RecordingDevice simulator(make_simulator(machine_, {}), {});
        const std::uint64_t seed = pair_.provenance.seed;
        run_pair(measured_.workload, seed, false, emulator);
        const cuda::Outcome outcome = run_pair(measured_.workload, seed, false, simulator);
        check_launches(simulator);
        const bool has_events = !measured_.launches.empty() && !measured_.launches[0].cold.empty();
        if (pair_.cold.pair != nullptr)
            add_counters("", pair_.cold, simulator);
        else if (has_events)
            add_event_cycles("cycles", &MeasuredLaunch::cold, simulator);
        add_values(outcome);
        add_outputs(emulator, simulator);
        if (pair_.warm.pair != nullptr || has_events) {
            RecordingDevice warm(make_simulator(machine_, {.l2 = L2Start::kWarm}), {.twice = true});
            run_pair(measured_.workload, seed, false, warm);
            if (pair_.warm.pair != nullptr)
                add_counters("warm_", pair_.warm, warm);
            else
                add_event_cycles("warm_cycles", &MeasuredLaunch::warm, warm);
        }
        return std::move(rows_);
    }

  private:
    [[noreturn]] void fail(const std::string& file, const std::string& why) const {
        throw InputError(fmt::format("{}: {}: {}", file, measured_.workload, why));
    }

    void check_launches(const RecordingDevice& simulator) const {
        const auto& ours = simulator.launches();
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
        for (const StoredCounters* counters : {&pair_.cold, &pair_.warm})
            if (counters->pair != nullptr) check(counters->pair->launches, counters->name);
    }

    void add(std::string quantity, double reference, double simulated, std::string unit,
             bool is_percentage = false, std::string note = "", double allowed = 0) {
        if (std::isnan(reference)) {
            fmt::print(stderr, "{}: {} is left out: a launch has no value of it\n",
                       measured_.workload, quantity);
            return;
        }
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

    /// What the clock was, where that matters.
    std::string clock_note(double mhz) const {
        const double rated = machine_->number("clock.sm");
        return std::abs(mhz / rated - 1) > kClockShare
                   ? fmt::format("SM at {:.0f} MHz, the model's at {:.0f}", mhz, rated)
                   : "";
    }

    /// Counters that the profiler did not have are not compared.
    void add_counters(const std::string& prefix, const StoredCounters& counters,
                      const RecordingDevice& device) {
        source_ = source_of(counters.file->provenance,
                            counters.file->profiler + " with caches " + counters.file->cache);
        const MeasuredCounters measured(counters, measured_.workload);
        const SimulatedCounters simulated(device.launches());
        const auto sum = [&](const char* quantity, const char* metric, const char* unit,
                             const std::string& note = "") {
            if (measured.has(metric))
                add(prefix + quantity, measured.sum(metric), simulated.sum(metric), unit, false,
                    note);
        };
        std::string note;
        const char* const clock = "sm__cycles_elapsed.avg.per_second";
        if (measured.has(clock) && !counters.pair->launches.empty())
            note = clock_note(measured.mean(clock, "sm__cycles_elapsed.max").value_or(0) / 1e6);
        sum("cycles", "sm__cycles_elapsed.max", "cycles", note);
        if (prefix.empty()) sum("instructions", "smsp__inst_executed.sum", "instructions");
        sum("dram_read", "dram__bytes_read.sum", "bytes");
        sum("dram_write", "dram__bytes_write.sum", "bytes");
        const auto mean = [&](const char* quantity, const char* metric, const char* weight) {
            if (!measured.has(metric) || !measured.has(weight)) return;
            const auto a = measured.mean(metric, weight), b = simulated.mean(metric, weight);
            if (a && b) add(prefix + quantity, *a, *b, "%", true);
        };
        mean("l1_hit_rate", "l1tex__t_sector_hit_rate.pct", "l1tex__t_sectors.sum");
        mean("l2_hit_rate", "lts__t_sector_hit_rate.pct", "lts__t_sectors.sum");
        if (prefix.empty()) add_stalls(measured, simulated);
    }

    /// Each state's share of the time that warps waited.
    void add_stalls(const Counters& measured, const Counters& simulated) {
        std::vector<std::pair<std::string, std::array<double, 2>>> stalls;
        double totals[2] = {};
        for (const std::string_view metric : profiled_metrics()) {
            if (!metric.starts_with(kStallPrefix) || !measured.has(metric)) continue;
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

    /// What the model takes for a launch that does nothing, after another of it, as was measured.
    double empty_cycles() const {
        const auto device = make_simulator(machine_, {.l2 = L2Start::kWarm});
        const auto image = probe_image(static_cast<int>(machine_->integer("arch")));
        LaunchRequest request;
        request.module = device->load_module(cubin::parse(image, "probes.cubin (built in)"));
        request.kernel = "empty";
        device->launch(request);
        return static_cast<double>(device->launch(request).cycles);
    }

    /// Without counters: events' times by the SM's clock, less those of an empty launch on either
    /// side.
    void add_event_cycles(const char* quantity, std::vector<double> MeasuredLaunch::*times,
                          const RecordingDevice& device) {
        source_ = source_of(pair_.provenance, "CUDA events");
        double cycles = 0, simulated = 0, mhz = 0;
        for (const MeasuredLaunch& launch : measured_.launches) {
            if ((launch.*times).empty() || launch.sm_mhz <= 0) {
                if (times == &MeasuredLaunch::warm) return;  // was not asked for
                fail(pair_.file,
                     "launches: event_us.cold or sm_mhz is empty, and there are no counters "
                     "(counters_cold_*.json)");
            }
            mhz = launch.sm_mhz;
            cycles += std::max(0.0, median(launch.*times) - measured_.empty_launch) * mhz;
        }
        const double empty = empty_cycles();
        for (const RecordedLaunch& launch : device.launches())
            simulated += std::max(0.0, static_cast<double>(launch.result.cycles) - empty);
        const std::string note = clock_note(mhz);
        add(quantity, cycles, simulated, "cycles", false,
            note.empty() ? "by events, less an empty launch"
                         : "by events, less an empty launch; " + note);
    }

    void add_values(const cuda::Outcome& outcome) {
        source_ = source_of(pair_.provenance, "clocks in the kernel");
        for (const MeasuredValue& value : measured_.values) {
            if (value.values.empty()) fail(pair_.file, "values." + value.name + ": is empty");
            const auto ours = std::find_if(outcome.measurements.begin(), outcome.measurements.end(),
                                           [&](const auto& m) { return m.name == value.name; });
            if (ours == outcome.measurements.end())
                fail(pair_.file, fmt::format("values: the workload measures no '{}'", value.name));
            const auto [least, most] =
                std::minmax_element(value.values.begin(), value.values.end());
            add("micro_" + value.name, median(value.values), ours->value, value.unit, false,
                *least == *most ? "" : fmt::format("measured {:.6g} to {:.6g}", *least, *most));
        }
    }

    /// How many outputs have the silicon's bits; of the first that has not, where it differs.
    void add_outputs(const RecordingDevice& emulator, const RecordingDevice& simulator) {
        source_ = source_of(pair_.provenance, "results");
        int compared = 0, equal = 0;
        std::string note;
        for (std::size_t i = 0; i < measured_.launches.size(); ++i)
            for (const MeasuredOutput& measured : measured_.launches[i].outputs) {
                const auto find = [&](const RecordingDevice& device) -> const Output* {
                    for (const Output& output : device.launches()[i].outputs)
                        if (output.allocation == measured.output.allocation) return &output;
                    return nullptr;
                };
                const Output *a = find(emulator), *b = find(simulator);
                if (!measured.is_reproducible || (a != nullptr) != (b != nullptr) ||
                    (a != nullptr && a->sha256 != b->sha256))
                    continue;
                ++compared;
                if (a != nullptr && a->sha256 == measured.output.sha256)
                    ++equal;
                else if (note.empty())
                    note = fmt::format("launch {} ({}), allocation {}: {}", i,
                                       measured_.launches[i].kernel, measured.output.allocation,
                                       a == nullptr
                                           ? std::string("only the silicon changes it")
                                           : output_difference(measured.output, *a, pair_.outputs));
            }
        if (compared > 0) add("outputs", compared, equal, "equal", false, note);
    }

    const StoredPair& pair_;
    const MeasuredPair& measured_;
    std::shared_ptr<const config::Machine> machine_;
    std::string source_;  // of the rows that are added
    std::vector<Row> rows_;
};

}  // namespace

Part part_of(const std::string& workload) {
    std::uint64_t hash = 0xcbf29ce484222325;
    for (const char c : workload.substr(0, workload.find(':')))
        hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
    return (hash >> 32) % 2 == 0 ? Part::kTrain : Part::kTest;
}

std::string source_of(const Provenance& p, const std::string& how) {
    const auto card = [&](const char* name) { return p.card_value(name); };
    std::string source = fmt::format("{}, {}, driver {}, CUDA {}.{}", p.gpu, how,
                                     card("driver").empty() ? p.driver : card("driver"),
                                     p.cuda_version / 1000, p.cuda_version % 1000 / 10);
    if (p.sm_mhz_most > 0)
        source += fmt::format(", SM at {:.0f} to {:.0f} MHz (rated {:.0f})", p.sm_mhz_least,
                              p.sm_mhz_most, p.sm_mhz_rated);
    for (const char* name : {"ecc", "mig"})
        if (!card(name).empty()) source += fmt::format(", {} {}", name, card(name));
    source += fmt::format(", {}, commit {}", p.date, p.commit);
    return p.is_sample ? "SAMPLE, not measured: " + source : source;
}

std::vector<Row> compare_pair(const StoredPair& pair, const std::string& machine) {
    return Comparison(pair, machine).rows();
}

}  // namespace lockstep::validation
