// SPDX-License-Identifier: Apache-2.0
// The order of an epoch follows from seed and epoch alone, so that a checkpoint needs only the
// position in it. Dynamic loss scaling after Micikevicius et al., arXiv 1710.03740: halved where
// gradients overflow, doubled after a run of good steps.
#include "workloads/network/train/trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "sim/error/error.h"
#include "sim/numerics/random.h"
#include "workloads/network/graph/uses.h"
#include "workloads/network/train/checkpoint.h"

namespace lockstep::network {

namespace {

constexpr double kLeastScale = 0x1p-14, kMostScale = 0x1p24;

Tensor one_number(double value) {
    return from_doubles(ElementType::kFp32, {1}, std::span(&value, 1));
}

std::vector<std::int64_t> shuffled(std::int64_t count, std::uint64_t seed, std::uint64_t epoch) {
    std::vector<std::int64_t> order(static_cast<std::size_t>(count));
    std::iota(order.begin(), order.end(), 0);
    numerics::Random random(numerics::mix(numerics::mix(seed) + epoch));
    for (std::size_t i = order.size(); i-- > 1;)
        std::swap(order[i], order[random.bits() % (i + 1)]);
    return order;
}

bool is_finite(std::span<const float> values) {
    return std::all_of(values.begin(), values.end(), [](float v) { return std::isfinite(v); });
}

class Trainer {
  public:
    Trainer(Graph network, const TrainingOptions& options, const MakeRunner& make_runner,
            const TrainingEvents& events)
        : options_(options), events_(events) {
        if (options.initialise) initialise_weights(network, options.seed);
        trainable_ = make_trainable(network, Phase::kTraining);
        inference_ = make_trainable(network, Phase::kInference);
        step_ = training_step(trainable_, options.step);
        DatasetOptions data = options.data;
        data.seed = options.seed;
        data_ = make_dataset(trainable_, data);
        batch_ = batch_of(trainable_);
        per_epoch_ = static_cast<std::uint64_t>(data_->train_count() / batch_);
        if (per_epoch_ == 0)
            throw InputError(
                fmt::format("{} examples do not fill a batch of {}", data_->train_count(), batch_));
        state_.network = fmt::format("{}, batch {}", trainable_.graph.name, batch_);
        state_.seed = options.seed;
        state_.loss_scale = options.step.scales_loss ? options.loss_scale : 1;
        for (const StepVariable& variable : step_.variables) {
            if (variable.initial.bytes.empty())
                throw InputError(
                    fmt::format("{} has no values: training needs them", variable.name));
            state_.variables.emplace_back(variable.name, variable.initial);
        }
        if (!options.resume.empty()) resume();
        schedule_ = options.schedule;
        schedule_.length = per_epoch_ * options.epochs;
        if (options.steps != 0) schedule_.length = std::min(schedule_.length, options.steps);
        schedule_.every = std::max<std::uint64_t>(1, schedule_.length / 3);
        RunnerRequest request{step_.graph, Purpose::kStep};
        for (const StepVariable& variable : step_.variables)
            request.carried.push_back({variable.output, variable.input});
        runner_ = make_runner(request);
        evaluator_ = make_runner({inference_.graph, Purpose::kEvaluation});
        for (std::size_t i = 0; i < step_.variables.size(); ++i)
            runner_->set(step_.variables[i].input, state_.variables[i].second);
    }

    TrainingResult run() {
        if (events_.on_start) events_.on_start(data_->description(), per_epoch_);
        TrainingResult result;
        while (state_.epoch <= options_.epochs && !result.reached && !is_over()) {
            const std::vector<std::int64_t> order =
                shuffled(data_->train_count(), options_.seed, state_.epoch);
            while (state_.position < per_epoch_ && !is_over()) {
                const auto first = static_cast<std::ptrdiff_t>(state_.position) * batch_;
                do_step(data_->train(std::span(order).subspan(static_cast<std::size_t>(first),
                                                              static_cast<std::size_t>(batch_))));
                const bool is_last = state_.position == per_epoch_;
                if (options_.checkpoint_every != 0 && !is_last &&
                    state_.step % options_.checkpoint_every == 0)
                    save();
            }
            EpochReport report{state_.epoch, state_.position};
            report.loss =
                state_.loss_sum / static_cast<double>(std::max<std::uint64_t>(1, state_.position));
            test(report);
            result.epochs.push_back(report);
            result.reached = options_.accuracy > 0 && report.accuracy >= options_.accuracy;
            if (state_.position == per_epoch_) {
                ++state_.epoch;
                state_.position = 0;
                state_.loss_sum = 0;
            }
            save();
            if (events_.on_epoch) events_.on_epoch(report);
        }
        result.steps = state_.step;
        for (const StepVariable& variable : step_.variables)
            result.variables.emplace_back(variable.name, runner_->held(variable.input));
        return result;
    }

  private:
    bool is_over() const { return options_.steps != 0 && state_.step >= options_.steps; }

    void resume() {
        const Checkpoint saved = read_checkpoint(options_.resume);
        const auto refuse = [&](const std::string& reason) {
            throw InputError(fmt::format("--resume {}: {}", options_.resume, reason));
        };
        if (saved.network != state_.network)
            refuse(fmt::format("it is of {}, not of {}", saved.network, state_.network));
        if (saved.seed != state_.seed)
            refuse(fmt::format("it was trained with --seed {}, not {}", saved.seed, state_.seed));
        if (saved.variables.size() != state_.variables.size())
            refuse(fmt::format("it holds {} variables, the training has {} (another optimiser?)",
                               saved.variables.size(), state_.variables.size()));
        for (std::size_t i = 0; i < saved.variables.size(); ++i) {
            const auto& [name, tensor] = saved.variables[i];
            const auto& [own_name, own] = state_.variables[i];
            if (name != own_name || tensor.shape != own.shape || tensor.type != own.type)
                refuse(fmt::format("variable {} is {} {}{}, not {} {}{}", i, name,
                                   name_of(tensor.type), to_string(tensor.shape), own_name,
                                   name_of(own.type), to_string(own.shape)));
        }
        if (saved.position >= per_epoch_ || saved.epoch == 0)
            refuse(fmt::format("it is at batch {} of epoch {}; an epoch has {}", saved.position,
                               saved.epoch, per_epoch_));
        if (saved.epoch > options_.epochs)
            refuse(fmt::format("it has trained {} epochs already; --epochs {} asks for no more",
                               saved.epoch - 1, options_.epochs));
        const double scale = state_.loss_scale;
        state_ = saved;
        if (!options_.step.scales_loss) state_.loss_scale = scale;
    }

    void save() {
        if (options_.checkpoint.empty()) return;
        for (std::size_t i = 0; i < step_.variables.size(); ++i)
            state_.variables[i].second = runner_->held(step_.variables[i].input);
        write_checkpoint(state_, options_.checkpoint);
    }

    void do_step(const Batch& batch) {
        StepReport report{state_.step + 1};
        report.rate = schedule_.at(report.step);
        report.loss_scale = state_.loss_scale;
        for (std::size_t i = 0; i < batch.inputs.size(); ++i) runner_->set(i, batch.inputs[i]);
        runner_->set(step_.target, batch.target);
        for (const auto& [scalar, input] : step_.scalars) {
            double value = value_of(scalar, options_.step.optimiser, report.rate, report.step);
            if (scalar == Scalar::kLossScale) value = state_.loss_scale;
            if (scalar == Scalar::kInverseLossScale) value = 1 / state_.loss_scale;
            runner_->set(input, one_number(value));
        }
        for (const auto& [mask, input] : step_.masks)
            runner_->set(input, mask_of(mask, report.step));
        runner_->run();
        report.loss = to_doubles(runner_->get(0)).at(0);
        if (!std::isfinite(report.loss)) stop(report, batch);
        report.skipped = step_.finite && to_doubles(runner_->get(*step_.finite)).at(0) == 0;
        if (!runner_->carries_itself())
            for (const StepVariable& variable : step_.variables)
                runner_->set(variable.input, runner_->get(variable.output));
        if (step_.finite) adapt_scale(report);
        state_.loss_sum += report.loss;
        ++state_.step;
        ++state_.position;
        if (events_.on_step) events_.on_step(report);
    }

    Tensor mask_of(const DropoutMask& mask, std::uint64_t step) const {
        return draw_mask(mask, trainable_.graph.shape(mask.value), options_.seed, step);
    }

    void adapt_scale(const StepReport& report) {
        if (!report.skipped) {
            if (++state_.good_steps < options_.growth) return;
            state_.loss_scale = std::min(kMostScale, 2 * state_.loss_scale);
        } else {
            state_.loss_scale /= 2;
            if (state_.loss_scale < kLeastScale)
                throw ProgramFault(
                    fmt::format("step {}: gradients overflow even with a loss scale of {}",
                                report.step, report.loss_scale));
        }
        state_.good_steps = 0;
    }

    /// The loss is not finite: where that began.
    [[noreturn]] void stop(const StepReport& report, const Batch& batch) const {
        std::string where;
        std::vector<Tensor> inputs = batch.inputs;
        const Graph& graph = trainable_.graph;
        const std::size_t variables = trainable_.weights.size() + trainable_.statistics.size();
        for (std::size_t i = 0; i < variables; ++i) {
            inputs.push_back(runner_->held(step_.variables.at(i).input));
            if (where.empty() && !is_finite(to_floats(inputs.back())))
                where = fmt::format("{} is not finite after step {}", step_.variables[i].name,
                                    report.step - (runner_->carries_itself() ? 0 : 1));
        }
        for (const DropoutMask& mask : trainable_.masks)
            inputs.push_back(mask_of(mask, report.step));
        const Uses uses(graph);
        if (where.empty())
            execute_visiting(graph, inputs, [&](ValueId id, std::span<const float> values) {
                if (!where.empty() || is_finite(values)) return;
                if (uses.writer(id) == Uses::kNobody) {
                    where = fmt::format("input {} is not finite", graph.value(id).name);
                } else {
                    const Node& node = graph.nodes[uses.writer(id)];
                    where = fmt::format("the first result that is not finite is that of {} ({})",
                                        node.name, name_of(node.op));
                }
            });
        if (where.empty()) where = "only the loss is not finite";
        throw ProgramFault(
            fmt::format("step {} (epoch {}): the loss is {}; {}. A smaller --learning-rate or "
                        "--clip-norm may help",
                        report.step, state_.epoch,
                        std::isnan(report.loss) ? "nan" : fmt::to_string(report.loss), where));
    }

    /// All test examples; the last batch is filled with those of the first.
    void test(EpochReport& report) {
        const std::size_t first = trainable_.network_inputs;
        const std::size_t count = trainable_.weights.size() + trainable_.statistics.size();
        for (std::size_t i = 0; i < count; ++i)
            evaluator_->set(first + i, runner_->held(step_.variables[i].input));
        const std::int64_t all = data_->test_count();
        std::uint64_t rows = 0, correct = 0;
        double loss = 0;
        for (std::int64_t at = 0; at < all; at += batch_) {
            std::vector<std::int64_t> indices;
            for (std::int64_t i = at; i < at + batch_; ++i) indices.push_back(i % all);
            const Batch batch = data_->test(indices);
            for (std::size_t i = 0; i < batch.inputs.size(); ++i)
                evaluator_->set(i, batch.inputs[i]);
            evaluator_->run();
            const Tensor output = evaluator_->get(0);
            const std::size_t used = batch.labels.size() / static_cast<std::size_t>(batch_) *
                                     static_cast<std::size_t>(std::min(batch_, all - at));
            const std::vector<int> classes = classes_of(output);
            const std::vector<float> values = to_floats(output);
            const auto width = static_cast<std::size_t>(output.shape.back());
            for (std::size_t row = 0; row < used; ++row) {
                correct += classes[row] == batch.labels[row];
                const std::span<const float> logits = std::span(values).subspan(row * width, width);
                const double most = *std::max_element(logits.begin(), logits.end());
                double sum = 0;
                for (const float v : logits) sum += std::exp(v - most);
                loss += std::log(sum) + most -
                        double{logits[static_cast<std::size_t>(batch.labels[row])]};
            }
            rows += used;
        }
        const auto total = static_cast<double>(std::max<std::uint64_t>(1, rows));
        report.accuracy = static_cast<double>(correct) / total;
        report.test_loss = loss / total;
        if (options_.step.loss != Loss::kCrossEntropy)
            report.accuracy = report.test_loss = std::numeric_limits<double>::quiet_NaN();
    }

    const TrainingOptions& options_;
    const TrainingEvents& events_;
    Trainable trainable_, inference_;
    TrainingStep step_;
    std::unique_ptr<Dataset> data_;
    std::int64_t batch_ = 1;
    std::uint64_t per_epoch_ = 0;
    Checkpoint state_;
    Schedule schedule_;
    std::unique_ptr<Runner> runner_, evaluator_;
};

}  // namespace

TrainingResult train(Graph network, const TrainingOptions& options, const MakeRunner& make_runner,
                     const TrainingEvents& events) {
    return Trainer(std::move(network), options, make_runner, events).run();
}

}  // namespace lockstep::network
