// SPDX-License-Identifier: Apache-2.0
#include "sim/cli/run_train.h"

#include <algorithm>
#include <map>

#include "sim/cli/choice.h"
#include "sim/cli/screen.h"
#include "sim/cli/verbs.h"
#include "sim/error/error.h"
#include "workloads/run/job_for.h"
#include "workloads/run/train/job.h"

namespace lockstep::cli {

namespace {

using network::ElementType;
using network::Loss;
using network::Optimiser;
using network::Schedule;

constexpr const char* kGroup = "Training (--train)";

const std::map<std::string, Optimiser::Kind> kOptimisers = {{"sgd", Optimiser::Kind::kSgd},
                                                            {"adamw", Optimiser::Kind::kAdamW}};
const std::map<std::string, Loss> kLosses = {{"cross-entropy", Loss::kCrossEntropy},
                                             {"mse", Loss::kMeanSquare}};
const std::map<std::string, ElementType> kTypes = {
    {"none", ElementType::kFp32}, {"bf16", ElementType::kBf16}, {"fp16", ElementType::kFp16}};
const std::map<std::string, Schedule::Kind> kSchedules = {{"constant", Schedule::Kind::kConstant},
                                                          {"step", Schedule::Kind::kStep},
                                                          {"cosine", Schedule::Kind::kCosine}};

/// Exponents and signs are a number's; infinities and NaN none that an option takes.
const CLI::Range kPositive(1e-30, 1e30, "a number above 0");
const CLI::Range kNotNegative(0.0, 1e30, "a number from 0");
const CLI::Range kShare(0.0, 1.0, "a number from 0 to 1");
const CLI::Range kCount(std::int64_t{1}, std::int64_t{1} << 40, "a whole number from 1");

}  // namespace

void add_training(CLI::App& verb, const std::shared_ptr<run::Job>& job) {
    const auto train = std::make_shared<run::TrainJob>();
    network::TrainingOptions& o = train->options;
    Optimiser& optimiser = o.step.optimiser;
    const auto group = [](CLI::Option* option) { return option->group(kGroup); };
    group(verb.add_flag_callback(
        "--train", [job, train] { job->training = train; },
        "train the network in the model; a network that is built in begins with seeded weights, a "
        "file with its own"));
    group(verb.add_option("--epochs", o.epochs, "epochs at most")->check(kCount))
        ->capture_default_str();
    group(verb.add_option("--steps", o.steps, "stop after so many steps (0: no such limit)"))
        ->capture_default_str();
    group(
        verb.add_option("--accuracy", o.accuracy,
                        "stop when the test accuracy reaches this share, as 0.97 (0: never before "
                        "the last epoch)")
            ->check(kShare))
        ->capture_default_str();
    group(verb.add_option("--batch", train->batch,
                          "examples of a step (default: 50 of digits; else what X says)")
              ->check(kCount));
    group(verb.add_option("--data", o.data.name,
                          "digits (drawn), mnist:FOLDER, text, text:FILE or random (default: what "
                          "fits the network)")
              ->check(is_name));
    group(verb.add_option("--train-examples", o.data.train_examples,
                          "digits, random: examples to train on")
              ->check(kCount));
    group(verb.add_option("--test-examples", o.data.test_examples,
                          "digits, random: examples to test with")
              ->check(kCount));
    group(choose(verb.add_option("--loss", o.step.loss, "cross-entropy or mse"), kLosses)
              ->default_str("cross-entropy"));
    group(choose(verb.add_option("--optimiser", optimiser.kind, "sgd or adamw"), kOptimisers)
              ->default_str("sgd"));
    group(verb.add_option("--learning-rate", o.schedule.rate, "the highest of the schedule")
              ->check(kPositive))
        ->capture_default_str();
    group(choose(verb.add_option("--schedule-rate", o.schedule.kind,
                                 "constant; step: a tenth after each third of the steps; cosine: "
                                 "to 0"),
                 kSchedules)
              ->default_str("constant"));
    group(verb.add_option("--warm-up", o.schedule.warm_up,
                          "steps in which the learning rate rises in a line"))
        ->capture_default_str();
    group(verb.add_option("--momentum", optimiser.momentum, "SGD")->check(kShare))
        ->capture_default_str();
    group(verb.add_flag("--nesterov", optimiser.nesterov, "SGD: Nesterov's momentum"));
    group(verb.add_option("--weight-decay", optimiser.weight_decay,
                          "SGD: added to the gradient; AdamW: decoupled")
              ->check(kNotNegative))
        ->capture_default_str();
    group(verb.add_option("--clip-norm", optimiser.clip_norm,
                          "scale gradients down to this norm of all together (0: never)")
              ->check(kNotNegative))
        ->capture_default_str();
    group(choose(verb.add_option("--mixed", o.step.compute,
                                 "mixed precision: products in bf16 or fp16 (none: fp32 tensors)"),
                 kTypes)
              ->default_str("none"));
    group(
        verb.add_option_function<double>(
                "--loss-scale",
                [train](double scale) {
                    train->options.loss_scale = scale;
                    train->options.step.scales_loss = scale != 0;
                },
                "scale the loss, at first by this; it halves where gradients overflow and doubles "
                "after 2000 good steps")
            ->check(kPositive));
    group(verb.add_option("--recompute", o.step.segments,
                          "keep activations at the borders of so many segments, compute the others "
                          "again (0: keep all)")
              ->check(CLI::Range(0, 10000)))
        ->capture_default_str();
    group(verb.add_option("--checkpoint", o.checkpoint,
                          "write the state here: of a training after each epoch, of another run "
                          "after --checkpoint-every")
              ->check(is_name));
    group(verb.add_option("--checkpoint-every", o.checkpoint_every,
                          "training: and after so many steps; else: after so many seconds of CPU "
                          "time (default: 60)")
              ->check(kCount));
    group(verb.add_option("--resume", o.resume,
                          "go on from this checkpoint of the same command, to the same bits")
              ->check(is_name));
}

int train_on_each(const run::Job& job) {
    for (const char* option :
         {"--stats", "--html", "--trace", "--program", "--checkpoint", "--resume"})
        if (std::ranges::count(job.given, option) != 0)
            throw InputError(fmt::format("{} with --train: of one machine; --on {} names several",
                                         option, job.machine));
    const std::vector<std::string> machines = run::machines_of(job.machine);
    std::vector<std::string> taken;
    std::vector<run::Job> jobs;
    for (const std::string& machine : machines) jobs.push_back(run::job_for(job, machine, taken));
    for (const std::string& option : job.given)
        if (std::ranges::count(taken, option) == 0)
            throw InputError(
                fmt::format("{} means nothing to any of --on {}", option, job.machine));
    TerminalScreen screen(job.what, job.quiet, job.screen_file);
    int status = 0;
    for (std::size_t i = 0; i < jobs.size(); ++i) {
        screen.print(fmt::format("{}{}\n", i == 0 ? "" : "\n", machines[i]));
        const run::Outcome outcome = run::run(jobs[i], screen);
        if (status == 0) status = static_cast<int>(outcome.status());
    }
    screen.write_file();
    return status;
}

}  // namespace lockstep::cli
