// SPDX-License-Identifier: Apache-2.0
// What a network is trained on and tested with.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "workloads/network/graph/graph.h"
#include "workloads/network/train/trainable.h"

namespace lockstep::network {

/// As many examples as the network's batch holds.
struct Batch {
    std::vector<Tensor> inputs;  ///< as the network's
    Tensor target;               ///< fp32, of the network's output's shape: one-hot
    std::vector<int> labels;     ///< the class of each row of the target
};

class Dataset {
  public:
    virtual ~Dataset() = default;
    virtual std::string description() const = 0;
    virtual std::int64_t train_count() const = 0;
    virtual std::int64_t test_count() const = 0;
    /// As many indices as the batch has examples.
    virtual Batch train(std::span<const std::int64_t> indices) const = 0;
    virtual Batch test(std::span<const std::int64_t> indices) const = 0;
};

struct DatasetOptions {
    /// "digits" (drawn), "mnist:FOLDER", "text" (the built-in one), "text:FILE", "random"; empty:
    /// what fits the network's input and output.
    std::string name;
    std::int64_t train_examples = 0, test_examples = 0;  ///< 0: the data set's own number
    std::uint64_t seed = 0;
};

/// InputError where there is none of that name, or it does not fit the network.
std::unique_ptr<Dataset> make_dataset(const Trainable& network, const DatasetOptions& options);

/// How many examples a batch of the network holds: the first extent of its first input.
std::int64_t batch_of(const Trainable& network);

/// The rows of a target or output: all its dimensions but the last, which are the classes.
std::vector<int> classes_of(const Tensor& output);

}  // namespace lockstep::network
