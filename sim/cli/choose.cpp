// SPDX-License-Identifier: Apache-2.0
// `lockstep choose NET`: which card fits, how long, what it costs, what limits it.
#include "workloads/choose/choose.h"

#include <fmt/format.h>

#include <charconv>

#include "sim/cli/verbs.h"
#include "sim/error/error.h"
#include "sim/stats/statistics.h"
#include "validation/compare/networks.h"
#include "workloads/run/job_for.h"
#include "workloads/run/network_source.h"

namespace lockstep::cli {

namespace {

struct Options {
    std::string network, dataset, precision, machines, prices_file;
    std::int64_t batch = 1;
    double epochs = 1;
    bool trains = false;
};

/// "1.2M": a number with k, M or G behind it.
double amount(const std::string& text) {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, value);
    double factor = 0;
    if (error == std::errc{}) {
        const std::string_view unit(at, end);
        factor = unit.empty() ? 1 : unit == "k" ? 1e3 : unit == "M" ? 1e6 : unit == "G" ? 1e9 : 0;
    }
    if (!(value * factor > 0))
        throw InputError(fmt::format(
            "--dataset {}: wanted a number of samples above 0, as 50000, 50k or 1.2M", text));
    return value * factor;
}

network::Graph graph_of(const Options& options) {
    if (options.network.find("batch=") != std::string::npos)
        throw InputError(
            fmt::format("{}: the batch is an option here: --batch N", options.network));
    run::Job job;
    job.what =
        fmt::format("{}{}batch={}", options.network,
                    options.network.find(':') == std::string::npos ? ":" : ",", options.batch);
    const run::Subject subject = run::identify(job.what);
    if (!subject.is(run::SubjectKind::kNetwork))
        throw InputError(fmt::format("{} is {}, and cards are chosen for networks", options.network,
                                     run::phrase_of(subject.kinds.front())));
    return run::read_network(job, subject, false).graph;
}

std::vector<std::shared_ptr<const config::Machine>> machines_of(const Options& options) {
    std::vector<std::shared_ptr<const config::Machine>> machines;
    if (!options.machines.empty()) {
        for (const std::string& name : run::machines_of(options.machines))
            machines.push_back(config::Machine::load(name));
        return machines;
    }
    for (const std::string& name : config::Machine::names()) {
        auto machine = config::Machine::load(name);
        const DataSheet sheet = data_sheet(*machine);
        if (sheet.memory > 0 &&
            !choose::usual_precision(
                 sheet, options.trains ? choose::Phase::kTraining : choose::Phase::kInference)
                 .empty())
            machines.push_back(std::move(machine));
    }
    return machines;
}

std::string basis_of(const choose::Question& question, const std::vector<choose::Answer>& answers) {
    for (const choose::Answer& answer : answers)
        if (answer.share)
            return fmt::format(
                "samples/s: the roofline (at most) times what {} published runs of {} reached of "
                "theirs, {:.0f}% ({:.0f} to {:.0f}%), as told for {}.\n",
                answer.share->count,
                answer.share->is_same_network ? question.network : "other networks",
                100 * answer.share->median, 100 * answer.share->least, 100 * answer.share->most,
                answer.machine);
    return "samples/s: the roofline; no published run is like these.\n";
}

void print_answer(const Options& options, const choose::Question& question,
                  const std::vector<choose::Answer>& answers) {
    const bool has_time = question.samples > 0;
    fmt::print("{} of {}, batch {}{}\n", choose::name_of(question.phase), question.network,
               question.batch,
               has_time ? fmt::format(", {:.4g} samples in all", question.samples) : "");
    fmt::print("{}{}", choose::table_of(question, answers), basis_of(question, answers));
    fmt::print("Memory: weights, {}; no framework's own.\n",
               options.trains ? "AdamW's state in fp32, all activations of a batch"
                              : "activations that live at once");
    const choose::Answer& best = answers.front();
    if (!best.reason.empty() || !best.fits) {
        fmt::print("None of them has the memory.\n");
        return;
    }
    if (!has_time || best.usd <= 0) return;
    fmt::print("{}: {:.2f} USD at {} USD an hour ({}, {}).\n", best.machine, best.usd,
               best.hour->usd, best.hour->offer, best.hour->date);
}

void choose_card(const Options& options) {
    choose::Question question{
        .network = options.network,
        .batch = options.batch,
        .phase = options.trains ? choose::Phase::kTraining : choose::Phase::kInference,
        .precision = options.precision};
    if (!options.dataset.empty()) question.samples = amount(options.dataset) * options.epochs;
    const auto prices = options.prices_file.empty() ? choose::Prices::built_in()
                                                    : choose::Prices::read(options.prices_file);
    const network::Graph graph = graph_of(options);
    print_answer(options, question,
                 choose::choose(question, graph, machines_of(options),
                                validation::reached_shares(question.phase), prices));
}

}  // namespace

void add_choose(CLI::App& app, int&) {
    auto options = std::make_shared<Options>();
    CLI::App* verb = app.add_subcommand(
        "choose", "Rank cards for a network: does it fit, time, cost, limiting resource");
    verb->add_option("network", options->network,
                     "a built-in network, name[:key=value,...], or an .onnx, .tflite or .mlir file")
        ->required();
    verb->add_flag("--train", options->trains, "training with AdamW (otherwise inference)");
    verb->add_option("--batch", options->batch, "samples in a batch")
        ->check(CLI::Range(std::int64_t{1}, std::int64_t{65536}))
        ->capture_default_str();
    CLI::Option* const dataset = verb->add_option("--dataset", options->dataset,
                                                  "samples, as 50000, 50k or 1.2M: for time "
                                                  "and cost")
                                     ->check(is_name);
    verb->add_option("--epochs", options->epochs, "times that the data set is gone through")
        ->check(CLI::Range(1e-6, 1e9))
        ->needs(dataset)
        ->capture_default_str();
    verb->add_option("--precision", options->precision,
                     "of products (default: 16 bits where they are faster than fp32)")
        ->check(CLI::IsMember({"fp64", "fp32", "tf32", "bf16", "fp16", "fp8", "int8", "int4"}));
    verb->add_option("--on", options->machines, "only these machines: a,b,c")->check(is_name);
    verb->add_option("--prices", options->prices_file,
                     "a table like workloads/choose/prices.csv, in its place")
        ->check(is_name);
    verb->callback([options] { choose_card(*options); });
}

}  // namespace lockstep::cli
