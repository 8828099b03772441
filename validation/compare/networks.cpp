// SPDX-License-Identifier: Apache-2.0
// Networks on cards against what was published. Inference of small batches on cards since Turing is
// simulated, with our kernels: what the vendor's libraries would take is another question. All else
// is the throughput that `lockstep choose` expects, from the card's roofline and what runs on other
// cards reached of theirs: an estimate, and called one.
#include "validation/compare/networks.h"

#include <algorithm>
#include <cstdio>
#include <map>
#include <optional>
#include <tuple>

#include "sim/error/error.h"
#include "sim/stats/statistics.h"
#include "validation/compare/network_runs.h"
#include "validation/compare/suites.h"
#include "validation/published/published.h"
#include "workloads/network/builtin/builtin.h"

namespace lockstep::validation {

namespace {

struct Published {
    choose::Reached reached;
    double bound = 0, measured = 0;  ///< samples a second
    std::string source;
};

network::Graph graph_of(const std::string& name, std::int64_t batch) {
    network::BuiltinRequest request = network::parse_builtin(name);
    request.options.parameters["batch"] = batch;
    request.options.with_values = false;
    return network::build_network(request.name, request.options);
}

/// Of one phase, or of both: each takes the estimate of a network.
std::vector<Published> published_runs(std::optional<choose::Phase> phase = std::nullopt) {
    const Table table = published_table("networks");
    std::map<std::tuple<std::string, std::int64_t>, network::Graph> graphs;
    std::vector<Published> runs;
    for (std::size_t i = 0; i < table.rows(); ++i) {
        Published run;
        choose::Reached& reached = run.reached;
        reached.machine = table.text(i, "machine");
        reached.network = table.text(i, "network");
        reached.phase = table.text(i, "phase") == "training" ? choose::Phase::kTraining
                                                             : choose::Phase::kInference;
        if (phase && reached.phase != *phase) continue;
        reached.precision = table.text(i, "precision");
        reached.batch = static_cast<std::int64_t>(table.number(i, "batch"));
        run.measured = table.number(i, "samples_per_second");
        run.source = table.text(i, "framework") + "; " + table.text(i, "source");
        auto [graph, is_new] = graphs.try_emplace({reached.network, reached.batch});
        if (is_new) graph->second = graph_of(reached.network, reached.batch);
        const DataSheet sheet = data_sheet(*config::Machine::load(reached.machine));
        if (sheet.peak(reached.precision) <= 0) reached.precision = "fp32";
        const double seconds =
            choose::estimate(graph->second, sheet, reached.precision, reached.phase).seconds;
        run.bound = static_cast<double>(reached.batch) / seconds;
        reached.share = run.measured / run.bound;
        runs.push_back(std::move(run));
    }
    return runs;
}

std::vector<choose::Reached> shares_of(const std::vector<Published>& runs) {
    std::vector<choose::Reached> shares;
    for (const Published& run : runs) shares.push_back(run.reached);
    return shares;
}

constexpr std::string_view kAll = "all";

std::string label_of(const choose::Reached& run) {
    return fmt::format("{} {} batch {} {} {}", run.machine, run.network, run.batch, run.precision,
                       name_of(run.phase));
}

Row row_of(const Published& run, std::string quantity, double samples, std::string note) {
    return {.name = label_of(run.reached),
            .quantity = std::move(quantity),
            .reference = run.measured,
            .simulated = samples,
            .unit = "1/s",
            .source = run.source,
            .note = std::move(note),
            .group = std::string(name_of(run.reached.phase))};
}

Row simulated_row(const Published& run, const NetworkRun& simulated) {
    return row_of(
        run, "simulated samples/s", simulated.samples_per_second,
        fmt::format("simulated with our kernels, not the vendor's; sampled, within {:.0f}%",
                    simulated.error));
}

/// What this card's own runs reached is not known to the estimate.
std::optional<Row> estimated_row(const Published& run, const std::vector<choose::Reached>& all) {
    const choose::Reached& own = run.reached;
    const auto share =
        choose::share_of(all, own.network, own.phase, own.precision, own.batch, own.machine);
    if (!share) return std::nullopt;
    return row_of(
        run, "estimated samples/s", run.bound * share->median,
        fmt::format("an estimate, not a simulation: {:.0f}% of the roofline, as other cards "
                    "reach; measured is {:.0f}%",
                    100 * share->median, 100 * own.share));
}

std::vector<Row> rows(const Request& request) {
    if (request.machine != kAll) config::Machine::load(request.machine);  // an unknown one is said
    const std::vector<Published> runs = published_runs();
    const std::vector<choose::Reached> all = shares_of(runs);
    std::vector<Row> list;
    std::string store(kNetworkRunsHeader);
    for (const Published& run : runs) {
        if (request.machine != kAll && run.reached.machine != request.machine) continue;
        std::optional<NetworkRun> simulated = stored_network(run.reached);
        if (!request.store.empty() && is_feasible(run.reached)) {
            if (request.progress) fmt::print(stderr, "\r\033[K{}\r", label_of(run.reached));
            simulated = simulate_network(run.reached, request.threads);
            store += table_line(run.reached, *simulated);
            // After each: a run that is ended keeps what it has.
            stats::write_whole(request.store, store);
        }
        if (simulated)
            list.push_back(simulated_row(run, *simulated));
        else if (std::optional<Row> row = estimated_row(run, all))
            list.push_back(std::move(*row));
    }
    if (list.empty())
        throw InputError(fmt::format("suite networks has no run on machine '{}'", request.machine));
    return list;
}

}  // namespace

std::vector<choose::Reached> reached_shares(choose::Phase phase) {
    return shares_of(published_runs(phase));
}

Suite networks_suite() {
    return {.name = "networks",
            .summary =
                "throughput of networks against what was published: small batches simulated "
                "with our kernels, not the vendor's, the rest estimated as by `choose`, "
                "each card left out of what it is expected by",
            .machine = "all",
            .rows = rows};
}

}  // namespace lockstep::validation
