// SPDX-License-Identifier: Apache-2.0
#include "workloads/run/host/train.h"

#include <chrono>

#include "workloads/run/train/train.h"

namespace lockstep::run {

namespace {

class HostRunner final : public network::Runner {
  public:
    HostRunner(const network::Graph& graph, bool is_step, TrainingScreen& shown)
        : runner_(network::make_reference_runner(graph)), is_step_(is_step), shown_(shown) {}

    void set(std::size_t input, const network::Tensor& tensor) override {
        runner_->set(input, tensor);
    }
    network::Tensor held(std::size_t input) const override { return runner_->held(input); }
    network::Tensor get(std::size_t output) const override { return runner_->get(output); }
    void run() override {
        const auto start = std::chrono::steady_clock::now();
        runner_->run();
        const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
        if (!is_step_ || shown_.time) return;
        shown_.time = {0, took.count(), TimeSource::kMeasured};
        shown_.outcome.statistics.add_time(0, took.count(), 1);
    }

  private:
    std::unique_ptr<network::Runner> runner_;
    const bool is_step_;
    TrainingScreen& shown_;
};

}  // namespace

Outcome train_on_host(const Job& job, const Subject& subject, const MachinePtr& machine,
                      Screen& screen) {
    if (job.verify) throw InputError("--verify: this computer trains with the reference itself");
    return train_network(job, subject, machine, screen,
                         [](const network::RunnerRequest& request,
                            TrainingScreen& shown) -> std::unique_ptr<network::Runner> {
                             return std::make_unique<HostRunner>(
                                 request.graph, request.purpose == network::Purpose::kStep, shown);
                         });
}

}  // namespace lockstep::run
