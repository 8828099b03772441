// SPDX-License-Identifier: Apache-2.0
// Networks on cards: the throughput that `lockstep choose` expects, from the card's roofline and
// what runs on other cards reached of theirs, against what was published for this one.
#include "validation/compare/networks.h"

#include <map>
#include <optional>
#include <tuple>

#include "sim/error/error.h"
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

std::vector<Row> rows(const Request&) {
    const std::vector<Published> runs = published_runs();
    const std::vector<choose::Reached> all = shares_of(runs);
    std::vector<Row> list;
    for (const Published& run : runs) {
        const choose::Reached& own = run.reached;
        // What this card's own runs reached is not known to the estimate.
        const auto share =
            choose::share_of(all, own.network, own.phase, own.precision, own.batch, own.machine);
        if (!share) continue;
        list.push_back({.name = fmt::format("{} {} batch {} {} {}", own.machine, own.network,
                                            own.batch, own.precision, name_of(own.phase)),
                        .quantity = "samples/s",
                        .reference = run.measured,
                        .simulated = run.bound * share->median,
                        .unit = "1/s",
                        .source = run.source,
                        .note = fmt::format("{:.0f}% of the roofline", 100 * own.share),
                        .group = std::string(name_of(own.phase))});
    }
    return list;
}

}  // namespace

std::vector<choose::Reached> reached_shares(choose::Phase phase) {
    return shares_of(published_runs(phase));
}

Suite networks_suite() {
    return {.name = "networks",
            .summary =
                "throughput of networks as `choose` expects it, each card left out of what "
                "it expects by, against what was published",
            .machine = "h100",
            .rows = rows};
}

}  // namespace lockstep::validation
