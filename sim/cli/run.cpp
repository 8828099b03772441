// SPDX-License-Identifier: Apache-2.0
// `lockstep run X`: the options.
#include "sim/cli/run.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>

#include "sim/cli/choice.h"
#include "sim/cli/run_checkpoint.h"
#include "sim/cli/run_on_each.h"
#include "sim/cli/run_page.h"
#include "sim/cli/run_train.h"
#include "sim/cli/screen.h"
#include "sim/cli/verbs.h"
#include "validation/accuracy/accuracy.h"

namespace lockstep::cli {

namespace {

/// Two files of one name: the second would take the first one's place.
void check_files(const run::Job& job, const std::string& html_file) {
    std::map<std::filesystem::path, std::string_view> options;
    for (const auto& [file, option] : {std::pair{&job.stats_file, "--stats"},
                                       {&job.trace_file, "--trace"},
                                       {&job.program_file, "--program"},
                                       {&job.screen_file, "--screen"},
                                       {&html_file, "--html"}}) {
        std::error_code error;
        const auto path = std::filesystem::weakly_canonical(*file, error);
        if (file->empty() || error || path.string().starts_with("/dev/")) continue;
        const auto [other, is_new] = options.emplace(path, option);
        if (!is_new)
            throw InputError(
                fmt::format("{}: {} and {} name the same file", *file, other->second, option));
    }
}

}  // namespace

int run_job(const run::Job& job, const std::string& html_file) {
    if (job.machine.find(',') != std::string::npos)
        return job.training != nullptr ? train_on_each(job) : run_on_each(job, html_file);
    check_files(job, html_file);
    if (!job.stats_file.empty()) stats::Statistics::check_path(job.stats_file);
    if (!job.screen_file.empty()) stats::check_writable(job.screen_file);
    if (!html_file.empty()) {
        stats::check_writable(html_file);
        if (is_executable(job))
            return run_apart_for_page(job, html_file,
                                      [](const run::Job& own) { return run_job(own); });
    }
    TerminalScreen screen(job.what, job.quiet, job.screen_file);
    const run::Outcome outcome = run::run(job, screen);
    if (job.overrides.empty()) screen.print(validation::expectation_text(outcome.statistics));
    screen.write_file();
    if (!job.stats_file.empty()) outcome.statistics.write(job.stats_file);
    if (!html_file.empty()) write_page(job, html_file, outcome.statistics.json());
    return static_cast<int>(outcome.status());
}

namespace {

const std::map<std::string, run::Mode> kModes = {{"cycle", run::Mode::kCycle},
                                                 {"emulate", run::Mode::kEmulate}};

/// The option as the statistics say it: "" where no result depends on it, or where they say it
/// elsewhere.
std::string origin_text(const CLI::Option& option) {
    constexpr std::string_view kElsewhere[] = {"--on", "--set", "--mode", "--seed"};
    constexpr std::string_view kOfTheHost[] = {
        "--color",     "--threads", "--exact",    "--quiet", "--stats",
        "--screen",    "--top",     "--source",   "--trace", "--trace-window",
        "--trace-sms", "--program", "--schedule", "--html"};
    const std::string name = option.get_name();
    if (std::ranges::count(kElsewhere, name) + std::ranges::count(kOfTheHost, name) != 0) return "";
    std::string text = name;
    if (option.get_expected_max() != 0)
        for (const std::string& value : option.results()) text += " " + value;
    return text;
}

/// An option whose value is the default says nothing.
bool is_given(const CLI::Option& option) {
    return option.count() != 0 && !option.get_positional() &&
           (option.get_default_str().empty() ||
            option.results() != std::vector{option.get_default_str()});
}

/// CLI11 would take the digits of -1 for 2^64 - 1.
std::string is_whole_number(const std::string& text) {
    std::uint64_t number = 0;
    const char* const end = text.data() + text.size();
    const auto [at, error] = std::from_chars(text.data(), end, number);
    if (error == std::errc{} && at == end) return "";
    return fmt::format("{} is not a whole number from 0 to 2^64 - 1", text);
}

}  // namespace

void add_run(CLI::App& app, const Words& after_dashes, int& status) {
    auto job = std::make_shared<run::Job>();
    auto html_file = std::make_shared<std::string>();
    CLI::App* verb = app.add_subcommand(
        "run", "Run a CUDA executable, a kernel, a network, a TPU or NPU program on a machine");
    verb->add_option("X", job->what,
                     "executable, .cubin, .onnx, .tflite, .mlir (StableHLO), .tpu, .npu, or a "
                     "built-in workload or network, "
                     "name[:key=value,...] (lockstep workloads lists them)")
        ->required();
    verb->add_option("arguments", job->arguments, "arguments of the executable, after --");
    verb->add_option(
            "--on", job->machine,
            "machine: a name or a .yaml file; several, as h200,tpu_v3,host, are compared in a "
            "table (--energy, --verify: with joules and errors)")
        ->capture_default_str();
    choose(verb->add_option("--mode", job->mode, "cycle or emulate"), kModes)->default_str("cycle");
    verb->add_option("--set", job->overrides, "override a machine's parameter: path=value")
        ->take_all()
        ->expected(1)
        ->allow_extra_args(false);
    verb->add_option("--stats", job->stats_file, "write statistics (.json or .csv)")
        ->check(is_name);
    verb->add_option(
            "--html", *html_file,
            "write a page about the run: Speed of Light, advice, roofline, stalls, memory; "
            "with --source by instruction; of networks the time by layer")
        ->check(is_name);
    verb->add_option("--trace", job->trace_file,
                     "write a trace: .json (Perfetto), .vcd (waveforms) or .kanata (Konata)")
        ->check(is_name);
    verb->add_option("--trace-window", job->trace_window,
                     "cycles that the trace shows: FROM:TO (default: all)");
    verb->add_option("--trace-sms", job->trace_sms,
                     "SMs whose warps and pipes the trace shows: N or FIRST-LAST (default: 0)");
    verb->add_flag(
        "--source", job->source,
        "GPU: profile by instruction and source line (nvcc -lineinfo), on the screen and "
        "in --stats");
    CLI::Option* const sample = verb->add_flag(
        "--sample", job->sample,
        "GPU: estimate the time: simulate enough CTAs of each launch, reuse the time of launches "
        "like an earlier one, emulate the rest");
    verb->add_flag_callback(
            "--exact", [] {}, "GPU: simulate every launch in full (the default)")
        ->excludes(sample);
    verb->add_option("--l2", job->l2,
                     "L2 at the start of a kernel: cold (empty) or warm (a network's default)")
        ->check(CLI::IsMember({"cold", "warm"}))
        ->capture_default_str();
    verb->add_option(
            "--bounds", job->bounds,
            "GPU: out-of-bounds accesses are those outside an allocation (exact) or, as on "
            "hardware, outside the 2 MiB pages of all allocations (page)")
        ->check(CLI::IsMember({"exact", "page"}))
        ->capture_default_str();
    verb->add_option("--check", job->checks,
                     "GPU, emulated: look for race (accesses that nothing orders), init (reads of "
                     "memory never written), sync (barrier misuse), hazards: a list, as race,init; "
                     "status 3 where anything is found")
        ->check(is_name);
    // Behind --check, which sets the list first.
    verb->add_flag_callback(
        "--hazards", [job] { job->checks += job->checks.empty() ? "hazards" : ",hazards"; },
        "GPU, emulated: look for accesses of shared memory that nothing orders with asynchronous "
        "copies (TMA): tiles read too early, missing proxy fences, buffers reused too early");
    verb->add_option("--threads", job->threads, "host threads; results never depend on it")
        ->check(CLI::Range(1u, 1024u))
        ->capture_default_str();
    verb->add_option("--seed", job->seed, "seed of generated inputs")
        ->check(is_whole_number)
        ->capture_default_str();
    verb->add_option("--max-instructions", job->max_instructions,
                     "GPU: warp-instructions after which a launch is stopped (0: never)")
        ->check(is_whole_number);
    verb->add_flag("--energy", job->energy,
                   "count energy by component and step, and area (cycle mode)");
    verb->add_option("--power-cap", job->power_cap,
                     "with --energy: also the time and energy at a power limit: watts, or limit "
                     "(the machine's own)")
        ->check(is_name);
    verb->add_flag("--verify", job->verify, "check results against the reference");
    verb->add_flag("--no-values", job->no_values, "TPU, NPU, systolic: timing only, no values");
    verb->add_flag("--schedule", job->schedule,
                   "print how a network was compiled; TPU, NPU: and the program");
    verb->add_option(
        "--program", job->program_file,
        "TPU, NPU: write the program that runs (.tpu, .npu), to disassemble it or run it "
        "again");
    verb->add_option(
        "--precision", job->precision,
        "of a network; GPU: fp32 (default), tf32, fp16, bf16, int8, fp8; NPU: bits of weights, 8 "
        "(default), 4, 2 "
        "(4a8: and of activations) or mixed (by layer, chosen by what they cost); a "
        "list, as 8,4,mixed, is compared in a table");
    verb->add_option(
            "--launches", job->launches,
            "how a network's launches come to a GPU: alone (each by itself, its time that "
            "of the GPU), or with what the host, gaps and a wait at the end cost: stream "
            "(one after the other), streams (branches beside each other), graph (likewise, "
            "by one call)")
        ->check(CLI::IsMember({"alone", "stream", "streams", "graph"}))
        ->capture_default_str();
    verb->add_flag("--host", job->host, "NPU: run operators that it lacks on the host");
    verb->add_flag("--quiet", job->quiet, "print nothing but the program's own output");
    verb->add_option("--screen", job->screen_file,
                     "write the report to this file (default: standard output; an executable's "
                     "goes to standard error, its own output to standard output)")
        ->check(is_name);
    verb->add_option(
            "--top", job->top,
            "of a network: show only the N steps with most cycles (0: all); --stats has all")
        ->check(is_whole_number);
    verb->add_option("--kernel", job->kernel,
                     "simulate only launches whose kernel's name matches this regular expression, "
                     "emulate the others; of a cubin: the kernel's name")
        ->check(is_name);
    verb->add_option("--launch-skip", job->launch_skip,
                     "emulate the first N launches (that match --kernel)")
        ->check(is_whole_number);
    verb->add_option("--launch-count", job->launch_count,
                     "simulate N launches (that match --kernel) after those skipped")
        ->check(is_whole_number);
    verb->add_option("--grid", job->grid, "CTAs of a cubin's launch: x[,y[,z]]")
        ->capture_default_str();
    verb->add_option("--block", job->block, "threads of a CTA: x[,y[,z]]")->capture_default_str();
    verb->add_option("--shared", job->dynamic_shared_bytes, "dynamic shared memory, bytes");
    verb->add_option("--arg", job->kernel_arguments,
                     "argument of a cubin's kernel, in order: 42, 1.5, zeros:BYTES, iota:BYTES, "
                     "random:BYTES, in:FILE, out:BYTES:FILE, inout:FILE:FILE")
        ->take_all()
        ->expected(1)
        ->allow_extra_args(false);
    add_training(*verb, job);
    verb->callback([job, html_file, verb, &after_dashes, &status] {
        job->arguments.insert(job->arguments.end(), after_dashes.begin(), after_dashes.end());
        const Checkpoints checkpoints =
            job->training == nullptr ? checkpoints_of(*verb) : Checkpoints{};
        for (const CLI::Option* option : verb->get_options()) {
            if (!is_given(*option) || checkpoints.has(option->get_name())) continue;
            job->given.push_back(option->get_name());
            if (const std::string text = origin_text(*option); !text.empty())
                job->options.push_back(text);
        }
        if (checkpoints.are_wanted()) begin_checkpoints(checkpoints, *job, *html_file);
        status = run_job(*job, *html_file);
    });
}

}  // namespace lockstep::cli
