// SPDX-License-Identifier: Apache-2.0
// `--sample` beside the whole simulation of the same launches: kernels by themselves, whose waves
// are sampled, and networks, whose launches run on parts of the chip. The workloads are the rows of
// published/sampling.csv; --store FILE runs those of a machine both ways and renews their figures.
#include <fmt/format.h>

#include <algorithm>
#include <ctime>

#include "models/gpu/sampling/samples.h"
#include "sim/config/machine.h"
#include "sim/error/error.h"
#include "sim/stats/find.h"
#include "sim/stats/statistics.h"
#include "validation/compare/suites.h"
#include "validation/published/published.h"
#include "workloads/run/job.h"

namespace lockstep::validation {

namespace {

constexpr std::string_view kAll = "all", kNone = "-";
constexpr std::string_view kHeader =
    "machine,workload,precision,exact,sampled,stated,exact_seconds,sampled_seconds\n";

/// Cycles of all launches, how far sampling says they may be off (percent), CPU seconds it took.
struct Timed {
    double cycles = 0, stated = 0, seconds = 0;
};

struct Workload {
    std::string machine, what, precision;
    Timed exact, sampled;
    bool is_network() const { return precision != kNone; }
};

Workload workload_of(const Table& table, std::size_t i) {
    return {
        .machine = table.text(i, "machine"),
        .what = table.text(i, "workload"),
        .precision = table.text(i, "precision"),
        .exact = {.cycles = table.number(i, "exact"), .seconds = table.number(i, "exact_seconds")},
        .sampled = {.cycles = table.number(i, "sampled"),
                    .stated = table.number(i, "stated"),
                    .seconds = table.number(i, "sampled_seconds")}};
}

Timed timed(const Workload& workload, bool samples, unsigned threads) {
    run::Job job;
    job.machine = workload.machine;
    // In the table, spaces stand for commas.
    job.what = workload.what;
    std::ranges::replace(job.what, ' ', ',');
    if (workload.is_network()) job.precision = workload.precision;
    job.sample = samples;
    job.threads = threads;
    job.quiet = true;
    run::Screen screen;
    const std::clock_t begin = std::clock();
    const run::Outcome outcome = run::run(job, screen);
    Timed found{.seconds = static_cast<double>(std::clock() - begin) / CLOCKS_PER_SEC};
    double unknown = 0;
    for (const stats::Step& step : outcome.statistics.steps()) {
        const double cycles = stats::number(step.metrics, "sm__cycles_elapsed.max");
        found.cycles += cycles;
        unknown += cycles * stats::number(step.metrics, gpu::kSampleError);
    }
    found.stated = unknown / found.cycles;
    return found;
}

std::string table_line(const Workload& w) {
    return fmt::format("{},{},{},{:.0f},{:.0f},{:.1f},{:.3g},{:.3g}\n", w.machine, w.what,
                       w.precision, w.exact.cycles, w.sampled.cycles, w.sampled.stated,
                       w.exact.seconds, w.sampled.seconds);
}

Row row_of(const Workload& w) {
    return {
        .name = fmt::format("{} {}{}", w.machine, w.what,
                            w.is_network() ? " " + w.precision : std::string()),
        .quantity = "cycles",
        .reference = w.exact.cycles,
        .simulated = w.sampled.cycles,
        .unit = "cycles",
        .source = "the same simulated whole",
        .note = fmt::format("{:.1f} CPU s instead of {:.1f}", w.sampled.seconds, w.exact.seconds),
        .allowed = w.sampled.stated / 100 * w.sampled.cycles,
        .group = w.is_network() ? "networks, on parts of the chip" : "kernels, by waves"};
}

std::vector<Row> rows(const Request& request) {
    if (request.machine != kAll) config::Machine::load(request.machine);  // an unknown one is said
    const Table table = published_table("sampling");
    std::vector<Workload> all;
    for (std::size_t i = 0; i < table.rows(); ++i) all.push_back(workload_of(table, i));
    std::vector<Row> list;
    for (Workload& workload : all) {
        if (request.machine != kAll && workload.machine != request.machine) continue;
        if (!request.store.empty()) {
            if (request.progress) fmt::print(stderr, "\r\033[K{}\r", workload.what);
            workload.exact = timed(workload, false, request.threads);
            workload.sampled = timed(workload, true, request.threads);
            // After each: a run that is ended keeps what it has.
            std::string store(kHeader);
            for (const Workload& w : all) store += table_line(w);
            stats::write_whole(request.store, store);
        }
        if (workload.exact.cycles == 0) continue;  // never run
        list.push_back(row_of(workload));
        if (!request.store.empty() && request.on_rows) request.on_rows({&list.back(), 1});
    }
    if (list.empty())
        throw InputError(fmt::format("suite sampling has no row of machine '{}'", request.machine));
    return list;
}

}  // namespace

Suite sampling_suite() {
    return {.name = "sampling",
            .summary = "--sample against the whole simulation of the same workloads",
            .machine = kAll,
            .goal = Goal{.quantity = "cycles", .mean_absolute = 2, .maximum_absolute = 5},
            .rows = rows};
}

}  // namespace lockstep::validation
