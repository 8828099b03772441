// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/train/train.h"

#include <fmt/format.h>

#include <cmath>

#include "workloads/network/builtin/builtin.h"
#include "workloads/run/network_source.h"
#include "workloads/run/train/job.h"

namespace lockstep::run {

namespace {

/// A batch that is not said, where the network is built in: of one example nothing is learnt.
constexpr std::int64_t kBatch = 50;

/// The job with the batch in the network's parameters.
Job with_batch(const Job& job, const Subject& subject, std::int64_t batch) {
    const std::size_t colon = job.what.find(':', subject.file.size());
    const std::string parameters = colon == std::string::npos ? "" : job.what.substr(colon + 1);
    const bool says = ("," + parameters).find(",batch=") != std::string::npos;
    if (says && batch != 0)
        throw InputError(
            fmt::format("{}: the batch is given twice, here and by --batch", job.what));
    if (says || (batch == 0 && (!subject.file.empty() || !job.what.starts_with("digits_"))))
        return job;
    Job result = job;
    result.what += fmt::format("{}batch={}", colon == std::string::npos ? ":" : ",",
                               batch == 0 ? kBatch : batch);
    return result;
}

std::string optimiser_text(const network::TrainingOptions& options) {
    const network::Optimiser& o = options.step.optimiser;
    std::string text = o.kind == network::Optimiser::Kind::kAdamW ? "AdamW" : "SGD";
    if (o.kind == network::Optimiser::Kind::kSgd && o.momentum != 0)
        text += fmt::format(", {}momentum {}", o.nesterov ? "Nesterov " : "", o.momentum);
    if (o.weight_decay != 0) text += fmt::format(", weight decay {}", o.weight_decay);
    if (o.clip_norm != 0) text += fmt::format(", gradients clipped to a norm of {}", o.clip_norm);
    return text + fmt::format(", learning rate {}", options.schedule.rate);
}

stats::Step step_of(const network::EpochReport& report) {
    stats::Step step;
    step.name = fmt::format("epoch {}", report.epoch);
    step.metrics = {{"lockstep__training_steps", report.steps},
                    {"lockstep__training_loss", report.loss}};
    if (!std::isnan(report.accuracy)) {
        step.metrics.push_back({"lockstep__test_loss", report.test_loss});
        step.metrics.push_back({"lockstep__test_accuracy.pct", 100 * report.accuracy});
    }
    return step;
}

std::string text_of(const StepTime& time, std::uint64_t per_epoch) {
    const double epoch = time.seconds * static_cast<double>(per_epoch);
    if (time.source == TimeSource::kMeasured)
        return fmt::format(
            "a step takes {:.3f} ms, an epoch {:.3f} s (measured on this computer)\n",
            1e3 * time.seconds, epoch);
    return fmt::format(
        "a step takes {} cycles, {:.3f} ms; an epoch {:.3f} s (the first step was simulated, the "
        "others are emulated: the same instructions)\n",
        time.cycles, 1e3 * time.seconds, epoch);
}

std::string line_of(const network::EpochReport& report) {
    std::string line =
        fmt::format("{:>5} {:>7} {:>10.4f}", report.epoch, report.steps, report.loss);
    if (!std::isnan(report.accuracy))
        line += fmt::format(" {:>10.4f} {:>13.1f}%", report.test_loss, 100 * report.accuracy);
    return line + "\n";
}

}  // namespace

void report_checks(const std::vector<network::compile::Check>& checks, std::uint64_t step,
                   TrainingScreen& shown) {
    bool passed = true;
    for (const network::compile::Check& check : checks) {
        passed &= check.passed;
        if (!check.passed)
            shown.screen.print_always(
                fmt::format("MISMATCH step {}: {}: {}\n", step, check.output, check.message));
    }
    if (passed)
        shown.screen.print(fmt::format("verified step {}: {} outputs\n", step, checks.size()));
    shown.outcome.passed &= passed;
}

Outcome train_network(const Job& job, const Subject& subject, const MachinePtr& machine,
                      Screen& screen,
                      const std::function<std::unique_ptr<network::Runner>(
                          const network::RunnerRequest&, TrainingScreen&)>& make) {
    const TrainJob& wanted = *job.training;
    Outcome outcome{{machine->name(), std::string(name_of(job.mode)), job.what}};
    TrainingScreen shown{screen, outcome};
    screen.progress("preparing");
    const NetworkSource source =
        read_network(with_batch(job, subject, wanted.batch), subject, true);
    network::TrainingOptions options = wanted.options;
    if (source.dtype && *source.dtype != network::ElementType::kFp32) {
        if (options.step.compute != network::ElementType::kFp32)
            throw InputError(fmt::format("{}: dtype= and --mixed both say the type", job.what));
        options.step.compute = *source.dtype;
    }
    options.seed = job.seed;
    options.initialise = subject.file.empty();
    if (!options.checkpoint.empty()) stats::check_writable(options.checkpoint);

    network::TrainingEvents events;
    std::uint64_t per_epoch = 0;
    events.on_start = [&](const std::string& data, std::uint64_t steps) {
        per_epoch = steps;
        screen.print(fmt::format("{}: {}\n{}; {} steps an epoch\n", job.what, data,
                                 optimiser_text(options), steps));
    };
    bool has_heading = false;
    events.on_step = [&](const network::StepReport& step) {
        if (!has_heading) {
            has_heading = true;
            if (shown.time) screen.print(text_of(*shown.time, per_epoch));
            screen.print("epoch   steps       loss  test loss  test accuracy\n");
        }
        if (step.skipped)
            screen.print(
                fmt::format("step {}: gradients overflow; nothing is updated, the loss "
                            "scale falls to {}\n",
                            step.step, step.loss_scale / 2));
        screen.progress("steps", step.step, per_epoch * options.epochs);
    };
    events.on_epoch = [&](const network::EpochReport& report) {
        screen.print(line_of(report));
        outcome.statistics.add(step_of(report));
    };
    const auto make_runner = [&](const network::RunnerRequest& request) {
        return make(request, shown);
    };
    const network::TrainingResult result =
        network::train(source.graph, options, make_runner, events);
    if (options.accuracy > 0)
        screen.print(fmt::format("the test accuracy of {}% is {}reached after {} steps\n",
                                 100 * options.accuracy, result.reached ? "" : "not ",
                                 result.steps));
    outcome.statistics.stop_clock();
    return outcome;
}

}  // namespace lockstep::run
