// SPDX-License-Identifier: Apache-2.0
// A machine that computes a graph again and again.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include "workloads/network/graph/graph.h"
#include "workloads/network/reference/execute.h"

namespace lockstep::network {

/// Inputs keep their values from run to run; positions are those of graph.inputs and graph.outputs.
class Runner {
  public:
    virtual ~Runner() = default;
    virtual void set(std::size_t input, const Tensor& tensor) = 0;
    /// What the input holds.
    virtual Tensor held(std::size_t input) const = 0;
    virtual void run() = 0;
    /// Of the last run.
    virtual Tensor get(std::size_t output) const = 0;
    /// Whether a run itself puts outputs where RunnerRequest::carried says; else the caller does.
    virtual bool carries_itself() const { return false; }
};

/// What a graph is for: the steps of training are timed, the rest is not.
enum class Purpose { kStep, kEvaluation };

/// An output that is an input of the next run.
struct Carried {
    std::size_t output = 0, input = 0;
};

struct RunnerRequest {
    const Graph& graph;
    Purpose purpose = Purpose::kStep;
    std::vector<Carried> carried = {};
};
using MakeRunner = std::function<std::unique_ptr<Runner>(const RunnerRequest&)>;

/// The reference executor.
std::unique_ptr<Runner> make_reference_runner(const Graph& graph,
                                              Precision precision = Precision::kFp32);

}  // namespace lockstep::network
