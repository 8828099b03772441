// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/gpu/train.h"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/network/gpu/explain.h"
#include "workloads/network/gpu/prepare.h"
#include "workloads/run/gpu/gpu.h"
#include "workloads/run/gpu/launches.h"
#include "workloads/run/gpu/sampled.h"
#include "workloads/run/train/train.h"
#include "workloads/run/verdict.h"

namespace lockstep::run {

namespace {

namespace gpu = network::gpu;

/// Launches of a step that are shown where --top does not say how many.
constexpr std::size_t kShownLaunches = 12;

gpu::Executable compile(const Job& job, const MachinePtr& machine, const network::Graph& graph,
                        std::span<const network::Carried> carried,
                        network::compile::Prepared& prepared) {
    const gpu::Target target = gpu::target_of(*machine);
    const gpu::Precision precision =
        job.precision.empty() ? gpu::Precision::kFp32 : gpu::precision_named(job.precision);
    if (precision == gpu::Precision::kFp8)
        throw InputError("--precision fp8 is of networks that infer; --train has fp16 and bf16");
    prepared = gpu::prepare(graph, target, precision, job.seed);
    gpu::Options options{.precision = precision};
    for (const network::Carried& c : carried) options.updates.push_back({c.output, c.input});
    return gpu::compile(prepared.graph, target, options);
}

class GpuRunner final : public network::Runner {
  public:
    GpuRunner(const Job& job, const MachinePtr& machine, const network::RunnerRequest& request,
              TrainingScreen& shown)
        : job_(job),
          machine_(machine),
          is_step_(request.purpose == network::Purpose::kStep),
          shown_(shown),
          code_(compile(job, machine, request.graph, request.carried, prepared_)) {
        if (is_step_ && job.schedule) shown.screen.print_always(gpu::schedule_text(code_));
        open(is_step_ ? job.mode : Mode::kEmulate);
    }

    void set(std::size_t input, const network::Tensor& tensor) override {
        session_->set_input(input, tensor);
    }
    network::Tensor held(std::size_t input) const override { return session_->input(input); }
    network::Tensor get(std::size_t output) const override { return session_->output(output); }
    bool carries_itself() const override { return true; }

    void run() override {
        if (++runs_ == 2 && mode_ == Mode::kCycle) emulate_from_here();
        const bool verifies = job_.verify && is_step_;
        if (verifies)
            for (std::size_t i = 0; i < prepared_.inputs.size(); ++i) prepared_.inputs[i] = held(i);
        if (is_step_ && runs_ == 1)
            run_first();
        else
            session_->run();
        shown_.outcome.clean &= device_->findings() == 0;
        if (verifies) verify();
    }

  private:
    void open(Mode mode) {
        Job own = job_;
        own.mode = mode_ = mode;
        if (mode != job_.mode) {  // what only a simulation has
            own.sample = own.energy = own.source = false;
            own.l2 = "cold";
            own.trace_file.clear();
            own.kernel.clear();
            own.launch_skip = 0;
            own.launch_count = Job().launch_count;
        }
        device_ = make_gpu(own, machine_);
        session_ = std::make_unique<gpu::Session>(code_, *device_);
    }

    void emulate_from_here() {
        const std::unique_ptr<Device> simulator = std::move(device_);
        const std::unique_ptr<gpu::Session> simulated = std::move(session_);
        open(Mode::kEmulate);
        for (std::size_t i = 0; i < code_.inputs.size(); ++i)
            session_->set_input(i, simulated->input(i));
    }

    void run_first() {
        struct Row {
            std::string name;
            std::uint64_t cycles = 0;
            double seconds = 0;
        };
        std::vector<Row> rows;
        StepTime time;
        SampledTime sampled;
        session_->run([&](std::size_t i, const LaunchResult& result) {
            const gpu::Launch& launch = code_.launches[i];
            stats::Step step =
                step_of(gpu::name_of(launch), launch.grid, launch.block, result, mode_);
            if (launch.macs != 0) step.metrics.push_back({"macs", launch.macs});
            rows.push_back({step.name, result.cycles, result.seconds});
            time.cycles += result.cycles;
            sampled.add(result);
            time.seconds += result.seconds;
            shown_.outcome.statistics.add(std::move(step));
            shown_.outcome.statistics.add_time(result.cycles, result.seconds,
                                               result.warp_instructions);
            shown_.screen.progress("launches", i + 1, code_.launches.size());
        });
        if (mode_ != Mode::kCycle) return;
        shown_.time = time;
        std::ranges::stable_sort(rows, std::greater<>(), &Row::cycles);
        const std::size_t count =
            std::min<std::size_t>(rows.size(), job_.top == 0 ? kShownLaunches : job_.top);
        shown_.screen.print(fmt::format("{:<60} {:>10} {:>10}\n", "launch", "cycles", "us"));
        for (std::size_t i = 0; i < count; ++i)
            shown_.screen.print(fmt::format("{:<60} {:>10} {:>10.2f}\n", rows[i].name.substr(0, 60),
                                            rows[i].cycles, 1e6 * rows[i].seconds));
        if (count < rows.size())
            shown_.screen.print(
                fmt::format("and {} launches more; --stats FILE has all\n", rows.size() - count));
        shown_.screen.print(sampled.text());
    }

    void verify() {
        std::vector<network::Tensor> results;
        for (std::size_t i = 0; i < code_.outputs.size(); ++i) results.push_back(get(i));
        report_checks(gpu::verify(prepared_, code_.options.precision, results), runs_, shown_);
    }

    const Job& job_;
    const MachinePtr& machine_;
    const bool is_step_;
    TrainingScreen& shown_;
    network::compile::Prepared prepared_;
    const gpu::Executable code_;
    Mode mode_ = Mode::kEmulate;
    std::unique_ptr<Device> device_;
    std::unique_ptr<gpu::Session> session_;
    std::uint64_t runs_ = 0;
};

}  // namespace

Outcome train_on_gpu(const Job& job, const Subject& subject, const MachinePtr& machine,
                     Screen& screen) {
    return train_network(job, subject, machine, screen,
                         [&](const network::RunnerRequest& request,
                             TrainingScreen& shown) -> std::unique_ptr<network::Runner> {
                             return std::make_unique<GpuRunner>(job, machine, request, shown);
                         });
}

}  // namespace lockstep::run
