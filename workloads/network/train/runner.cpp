// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/train/runner.h"

#include "sim/error/error.h"

namespace lockstep::network {

namespace {

class ReferenceRunner : public Runner {
  public:
    ReferenceRunner(const Graph& graph, Precision precision)
        : graph_(graph), precision_(precision), inputs_(graph.inputs.size()) {}

    void set(std::size_t input, const Tensor& tensor) override { inputs_.at(input) = tensor; }
    Tensor held(std::size_t input) const override { return inputs_.at(input); }
    void run() override { outputs_ = execute(graph_, inputs_, precision_); }
    Tensor get(std::size_t output) const override { return outputs_.at(output); }

  private:
    const Graph graph_;
    const Precision precision_;
    std::vector<Tensor> inputs_, outputs_;
};

}  // namespace

std::unique_ptr<Runner> make_reference_runner(const Graph& graph, Precision precision) {
    return std::make_unique<ReferenceRunner>(graph, precision);
}

}  // namespace lockstep::network
