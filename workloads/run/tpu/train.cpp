// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/tpu/train.h"

#include <fmt/format.h>

#include "workloads/network/tpu/compile.h"
#include "workloads/network/tpu/explain.h"
#include "workloads/network/tpu/prepare.h"
#include "workloads/run/tpu/emulate.h"
#include "workloads/run/tpu/program.h"
#include "workloads/run/tpu/simulate.h"
#include "workloads/run/tpu/target.h"
#include "workloads/run/train/job.h"
#include "workloads/run/train/train.h"

namespace lockstep::run {

namespace {

/// Kernels of a step that are shown where --top does not say how many.
constexpr std::uint64_t kShownKernels = 12;

class TpuRunner final : public network::Runner {
  public:
    TpuRunner(const Job& job, const tpu::Parameters& parameters, const network::Graph& graph,
              bool is_step, TrainingScreen& shown)
        : job_(job),
          parameters_(parameters),
          is_step_(is_step),
          shown_(shown),
          network_(network::prepare_for_tpu(graph, parameters.generation, std::nullopt, job.seed,
                                            false)),
          code_(network::compile_for_tpu(network_.graph, tpu_target(parameters))),
          storage_(code_.program, true) {
        network_.inputs.resize(network_.graph.inputs.size());
        if (!is_step) return;
        if (job.schedule) shown.screen.print_always(network::schedule_text(code_));
        write_tpu_program(job, code_.program);
    }

    void set(std::size_t input, const network::Tensor& tensor) override {
        const network::TpuPort& port = code_.inputs.at(input);
        network::write_port(port, tensor, storage_.contents(port.buffer));
    }
    network::Tensor held(std::size_t input) const override { return read(code_.inputs.at(input)); }
    network::Tensor get(std::size_t output) const override {
        return read(code_.outputs.at(output));
    }

    void run() override {
        const bool verifies = job_.verify && is_step_;
        if (verifies)
            for (std::size_t i = 0; i < network_.inputs.size(); ++i) network_.inputs[i] = held(i);
        if (is_step_ && job_.mode == Mode::kCycle && !shown_.time) {
            simulate();
        } else {
            execute_tpu_program(code_.program, parameters_, storage_, {}, {});
        }
        ++runs_;
        if (verifies) verify();
    }

  private:
    network::Tensor read(const network::TpuPort& port) const {
        return network::read_port(port, network_.graph.value(port.value).type,
                                  const_cast<tpu::Storage&>(storage_).contents(port.buffer));
    }

    void simulate() {
        Job timed = job_;
        if (timed.top == 0) timed.top = kShownKernels;
        const tpu::RunResult result = simulate_tpu_program(
            timed, code_.program, parameters_, storage_, shown_.outcome.statistics, shown_.screen);
        shown_.time = {result.cycles, result.seconds};
    }

    void verify() {
        std::vector<network::Tensor> results;
        for (std::size_t i = 0; i < code_.outputs.size(); ++i) results.push_back(get(i));
        report_checks(network::verify_tpu(network_, results), runs_, shown_);
    }

    const Job& job_;
    const tpu::Parameters& parameters_;
    const bool is_step_;
    TrainingScreen& shown_;
    network::TpuNetwork network_;
    const network::TpuCompiled code_;
    tpu::Storage storage_;
    std::uint64_t runs_ = 0;
};

}  // namespace

Outcome train_on_tpu(const Job& job, const Subject& subject, const MachinePtr& machine,
                     Screen& screen) {
    const tpu::Parameters parameters(*machine);
    if (parameters.generation < 2)
        throw InputError(fmt::format(
            "--train: {} is a TPU of the first generation, an integer machine for inference: it "
            "has no "
            "floating point, which the gradients of training need; later ones train (--on tpu_v3)",
            machine->name()));
    const network::StepOptions& step = job.training->options.step;
    if (step.compute == network::ElementType::kFp16)
        throw InputError("--mixed fp16: a TPU multiplies in bf16 (--mixed bf16)");
    // Its choice by a mask is a product, which a value that is not finite would pass through.
    if (step.scales_loss)
        throw InputError(
            "--loss-scale: a TPU needs none, for bf16 has the range of fp32 (it is for fp16)");
    return train_network(job, subject, machine, screen,
                         [&](const network::RunnerRequest& request,
                             TrainingScreen& shown) -> std::unique_ptr<network::Runner> {
                             const bool is_step = request.purpose == network::Purpose::kStep;
                             return std::make_unique<TpuRunner>(job, parameters, request.graph,
                                                                is_step, shown);
                         });
}

}  // namespace lockstep::run
