// SPDX-License-Identifier: Apache-2.0
// Runs as the program has them: a job of workloads/run, its screen kept as text. An executable
// takes its process's place, and so has one of its own here.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "workloads/api/impl.h"
#include "workloads/network/graph/graph.h"
#include "workloads/run/network_source.h"
#include "workloads/run/network_values.h"
#include "workloads/run/run_check.h"
#include "workloads/run/subject.h"

namespace lockstep::api {

namespace {

class TextScreen : public run::Screen {
  public:
    void print(std::string_view part) override { text += part; }
    void print_always(std::string_view part) override { text += part; }
    std::string text;
};

Metrics metrics_of(const nlohmann::json& object) {
    Metrics made;
    for (const auto& [name, value] : object.items())
        if (value.is_number()) made[name] = value.get<double>();
    return made;
}

Statistics statistics_of(std::string json) {
    Statistics made;
    if (json.empty()) return made;
    const nlohmann::json all = nlohmann::json::parse(json);
    made.machine = all.at("machine");
    made.mode = all.at("mode");
    made.workload = all.at("workload");
    for (const nlohmann::json& item : all.at("steps")) {
        Step step;
        step.name = item.at("name");
        if (item.contains("grid")) step.grid = item["grid"];
        if (item.contains("block")) step.block = item["block"];
        step.mode = item.value("mode", "");
        step.metrics = metrics_of(item.at("metrics"));
        made.steps.push_back(std::move(step));
    }
    made.totals = metrics_of(all.at("totals"));
    made.json = std::move(json);
    return made;
}

run::Job job_of(const std::string& what, const Machine& machine, const RunOptions& options) {
    run::Job job;
    job.what = what;
    job.machine = machine.impl().file;
    job.overrides = machine.impl().overrides;
    job.mode = options.mode == Mode::kEmulate ? run::Mode::kEmulate : run::Mode::kCycle;
    job.threads = options.threads;
    job.seed = options.seed;
    job.precision = options.precision;
    job.arguments = options.arguments;
    job.kernel = options.kernel;
    job.grid = options.grid;
    job.block = options.block;
    job.kernel_arguments = options.kernel_arguments;
    job.dynamic_shared_bytes = options.dynamic_shared_bytes;
    // What is given is refused where it means nothing, and stands in the statistics.
    const auto give = [&job](const std::string& name, const std::string& value = "") {
        job.given.push_back(name);
        job.options.push_back(value.empty() ? name : name + " " + value);
    };
    const auto flag = [&](bool RunOptions::*member, bool run::Job::*into, const char* name) {
        if (!(options.*member)) return;
        job.*into = true;
        give(name);
    };
    flag(&RunOptions::verify, &run::Job::verify, "--verify");
    flag(&RunOptions::energy, &run::Job::energy, "--energy");
    flag(&RunOptions::no_values, &run::Job::no_values, "--no-values");
    flag(&RunOptions::sample, &run::Job::sample, "--sample");
    flag(&RunOptions::host, &run::Job::host, "--host");
    if (!options.l2.empty()) {
        if (options.l2 != "cold" && options.l2 != "warm")
            throw InputError(fmt::format("l2 {}: there are cold and warm", options.l2));
        job.l2 = options.l2;
        give("--l2", options.l2);
    }
    if (!options.precision.empty()) give("--precision", options.precision);
    if (!options.kernel.empty()) give("--kernel", options.kernel);
    if (options.grid != "1") give("--grid", options.grid);
    if (options.block != "1") give("--block", options.block);
    for (const std::string& argument : options.kernel_arguments) give("--arg", argument);
    if (options.dynamic_shared_bytes != 0)
        give("--shared", std::to_string(options.dynamic_shared_bytes));
    return job;
}

std::string take_file(const std::string& path) {
    std::ostringstream text;
    if (std::ifstream file(path, std::ios::binary); file) text << file.rdbuf();
    std::remove(path.c_str());
    return text.str();
}

/// In a child: the program takes its place.
RunResult run_apart(run::Job job) {
    run::check(job);
    const std::string base =
        std::filesystem::temp_directory_path() / fmt::format("lockstep.{}.XXXXXX.json", getpid());
    std::string file = base;
    const int made = mkstemps(file.data(), 5);
    if (made < 0) throw InputError(fmt::format("{}: cannot be written", base));
    close(made);
    job.stats_file = file;
    job.quiet = true;
    std::fflush(nullptr);
    const pid_t child = fork();
    LOCKSTEP_CHECK(child >= 0, "no process: error {}", errno);
    if (child == 0) {
        int status = static_cast<int>(ExitStatus::kInternalError);
        try {
            run::Screen silent;
            run::run(job, silent);  // does not return
        } catch (const lockstep::Error& error) {
            std::fputs((std::string("lockstep: ") + error.what() + "\n").c_str(), stderr);
            status = static_cast<int>(error.status());
        } catch (...) {
        }
        _exit(status);
    }
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
    RunResult result;
    result.statistics = statistics_of(take_file(file));
    constexpr int kSignal = 128;  // as shells say it
    result.status = WIFSIGNALED(status) ? kSignal + WTERMSIG(status) : WEXITSTATUS(status);
    return result;
}

RunResult run_here(const run::Job& job, const Machine& machine) {
    const std::string kind = machine.kind();
    const ChipTurn turn(job.mode == run::Mode::kCycle && kind != "host" && kind != "roofline");
    TextScreen screen;
    const run::Outcome outcome = run::run(job, screen);
    RunResult result;
    result.status = static_cast<int>(outcome.status());
    result.report = std::move(screen.text);
    result.statistics = statistics_of(outcome.statistics.json());
    return result;
}

Tensor tensor_of(const std::string& name, const network::Tensor& tensor) {
    return {name, std::string(network::name_of(tensor.type)), tensor.shape, tensor.bytes};
}

network::Tensor network_tensor(const Tensor& given) {
    const auto type = network::element_type_named(given.type);
    if (!type)
        throw InputError(fmt::format("tensor {}: there is no type '{}'", given.name, given.type));
    network::Tensor made(*type, given.shape);
    if (made.bytes.size() != given.bytes.size())
        throw InputError(fmt::format("tensor {}: {} of {} have {} bytes, {} are given", given.name,
                                     network::to_string(given.shape), given.type, made.bytes.size(),
                                     given.bytes.size()));
    made.bytes = given.bytes;
    return made;
}

}  // namespace

RunResult run(const std::string& what, const Machine& machine, const RunOptions& options) {
    return guarded([&] {
        const run::Job job = job_of(what, machine, options);
        const bool is_executable = run::identify(what).is(run::SubjectKind::kExecutable);
        return is_executable ? run_apart(job) : run_here(job, machine);
    });
}

RunResult run_network(const std::string& what, const Machine& machine,
                      const std::vector<Tensor>& inputs, const RunOptions& options) {
    return guarded([&] {
        run::Job job = job_of(what, machine, options);
        if (!run::identify(what).is(run::SubjectKind::kNetwork))
            throw InputError(fmt::format("{} is no network", what));
        const std::string kind = machine.kind();
        if (kind == "systolic" || kind == "roofline" || options.no_values)
            throw InputError(fmt::format("{}: such a run has no outputs; run() gives its time",
                                         options.no_values ? "no_values" : machine.name()));
        job.values = std::make_shared<run::NetworkValues>();
        for (const Tensor& input : inputs) job.values->inputs.push_back(network_tensor(input));
        RunResult result = run_here(job, machine);
        for (std::size_t i = 0; i < job.values->outputs.size(); ++i)
            result.outputs.push_back(tensor_of(job.values->names[i], job.values->outputs[i]));
        return result;
    });
}

std::vector<Tensor> network_inputs(const std::string& what) {
    return guarded([&] {
        const run::Subject subject = run::identify(what);
        if (!subject.is(run::SubjectKind::kNetwork))
            throw InputError(fmt::format("{} is no network", what));
        run::Job job;
        job.what = what;
        const network::Graph graph = run::read_network(job, subject, false).graph;
        std::vector<Tensor> list;
        for (const network::ValueId id : graph.inputs) {
            const network::Value& value = graph.value(id);
            list.push_back(
                {value.name, std::string(network::name_of(value.type)), graph.shape(id), {}});
        }
        return list;
    });
}

}  // namespace lockstep::api
