// SPDX-License-Identifier: Apache-2.0
// Results are the NPU's own: the test images go through the compiled network, emulated; time is
// that of the job's network, cycle by cycle.
#include "workloads/run/npu/table.h"

#include <fmt/format.h>

#include "models/energy/account.h"
#include "sim/stats/find.h"
#include "workloads/network/builtin/builtin.h"
#include "workloads/network/builtin/digits.h"
#include "workloads/network/graph/quantisation.h"
#include "workloads/run/npu/network.h"
#include "workloads/run/npu/precision.h"
#include "workloads/run/npu/simulate.h"

namespace lockstep::run {

namespace {

constexpr int kTestImages = 500;

/// A screen that shows only what goes wrong.
class Silent : public Screen {
  public:
    explicit Silent(Screen& screen) : screen_(screen) {}
    void print_always(std::string_view text) override { screen_.print_always(text); }
    using Screen::progress;
    void progress(std::string_view text) override { screen_.progress(text); }

  private:
    Screen& screen_;
};

struct Row {
    std::string precision;
    double percent = -1, decibels = -1;
    std::uint64_t bytes = 0, cycles = 0;
    double seconds = 0, energy = -1;
};

bool is_right(const NpuRun& run, command::Storage& storage, Screen& screen) {
    Outcome outcome{{"", "", ""}};
    verify_npu_network(run, storage, outcome, screen);
    return outcome.passed;
}

/// Percent of the test images that the NPU gets right.
double percent_of_digits(const network::Graph& legal, const network::NpuPrecision& precision,
                         const npu::Parameters& parameters, const Job& job, Screen& screen,
                         bool& passed) {
    network::BuiltinOptions options;
    options.parameters = {{"batch", kTestImages}};
    const network::Graph graph =
        network::legalise_for_npu(network::build_network(legal.name, options));
    const network::LabelledImages digits = network::digits_to_test(kTestImages, job.seed);
    NpuRun run{{}, {}, npu_target(parameters)};
    run.network = network::prepare_for_npu(graph, precision, job.seed, true);
    run.code = network::compile_for_npu(run.network.graph, run.target, false);
    command::Storage storage(run.code.program, true);
    put_npu_inputs(run, storage);
    stats::Statistics unused("", "", "");
    Silent silent(screen);
    emulate_npu_program(run.code.program, parameters, storage, unused, silent);
    if (job.verify) passed = is_right(run, storage, silent) && passed;
    return percent_right(npu_results(run, storage).at(0), digits.labels);
}

double sum_of(const stats::Statistics& statistics, std::string_view name, double default_value) {
    double sum = 0;
    bool has = false;
    for (const stats::Step& step : statistics.steps())
        if (const stats::Value* const value = stats::find(step.metrics, name)) {
            sum += value->number;
            has = true;
        }
    return has ? sum : default_value;
}

std::string cell(double value, const char* unit, int digits) {
    return value < 0 ? "-" : fmt::format("{:.{}f}{}", value, digits, unit);
}

}  // namespace

Outcome compare_npu_precisions(const Job& job, const network::Graph& legal,
                               const MachinePtr& machine, Outcome& outcome, Screen& screen) {
    if (job.energy)
        throw InputError("--energy: a table of several --precision has it without asking");
    const npu::Parameters parameters(*machine);
    const energy::Account account(machine);
    const bool narrow = parameters.array.split == npu::Split::kBoth;
    const bool digits = network::is_digits_network(legal);
    std::vector<Row> rows;
    for (const std::string& word : precisions_of(job)) {
        const network::NpuPrecision precision =
            precision_named(word, legal, narrow, job.seed, screen);
        Row row;
        row.precision = word;
        if (digits)
            row.percent =
                percent_of_digits(legal, precision, parameters, job, screen, outcome.passed);
        else if (!job.no_values)
            row.decibels = Judge(legal, job.seed).quality(precision);
        const NpuRun compiled = compile_npu_network(legal, precision, parameters, job);
        row.bytes = compiled.code.weight_bytes;
        command::Storage storage(compiled.code.program, !job.no_values);
        put_npu_inputs(compiled, storage);
        stats::Statistics statistics("", "", "");
        Silent silent(screen);
        const std::function<void(std::uint32_t)> host =
            job.no_values ? std::function<void(std::uint32_t)>() : npu_host(compiled, storage);
        const npu::RunResult result = simulate_npu_program(job, compiled.code.program, parameters,
                                                           storage, statistics, silent, host);
        if (job.verify) outcome.passed = is_right(compiled, storage, silent) && outcome.passed;
        row.cycles = result.cycles;
        row.seconds = result.seconds;
        account.add_to(statistics);
        row.energy = sum_of(statistics, "energy.total", -1);
        stats::Step step;
        step.name = word;
        step.metrics = {{"cycles", row.cycles},
                        {"seconds", row.seconds},
                        {"lockstep__weight_bytes", row.bytes}};
        if (row.percent >= 0) step.metrics.push_back({"lockstep__accuracy.pct", row.percent});
        if (row.decibels >= 0)
            step.metrics.push_back({"lockstep__signal_to_noise.db", row.decibels});
        if (row.energy >= 0) step.metrics.push_back({"energy.total", row.energy});
        outcome.statistics.add(std::move(step));
        outcome.statistics.add_time(result.cycles, result.seconds, result.instructions);
        rows.push_back(std::move(row));
    }
    screen.print(fmt::format("{:<10} {:>14} {:>14} {:>12} {:>12} {:>12}\n", "precision",
                             digits ? "test accuracy" : "against FP32", "weights bytes", "cycles",
                             "latency", "energy"));
    for (const Row& row : rows)
        screen.print(
            fmt::format("{:<10} {:>14} {:>14} {:>12} {:>12} {:>12}\n", row.precision,
                        digits ? cell(row.percent, "%", 1) : cell(row.decibels, " dB", 1),
                        row.bytes, row.cycles, fmt::format("{:.2f} us", row.seconds * 1e6),
                        row.energy < 0 ? "-" : fmt::format("{:.3g} uJ", row.energy * 1e6)));
    if (job.verify)
        screen.print(outcome.passed ? "all results are the reference's, to the bit\n"
                                    : "some results are not the reference's\n");
    outcome.statistics.stop_clock();
    return std::move(outcome);
}

}  // namespace lockstep::run
