// SPDX-License-Identifier: Apache-2.0
// --precision: how many bits a network's layers have on an NPU; several, as a table.
#pragma once

#include <string>
#include <vector>

#include "workloads/network/npu/mixed.h"
#include "workloads/run/job.h"

namespace lockstep::run {

/// The words of --precision, at least one: 8, 4, 2, 4a8, ..., mixed. Throws InputError.
std::vector<std::string> precisions_of(const Job& job);

/// What a network's results are judged by: labels where it has some, else its results in FP32.
class Judge {
  public:
    /// `legal` must outlive it. Samples are the network's own where it was trained, else seeded.
    Judge(const network::Graph& legal, std::uint64_t seed);

    /// On data to calibrate on: percent of labels that are right, or decibels of signal to noise.
    double quality(const network::NpuPrecision& precision) const;
    /// How much of that a mixed precision may cost: half a percent point, or all over 20 dB.
    double budget(double of_8) const;
    bool has_labels() const { return !labels_.empty(); }
    const std::vector<std::vector<network::Tensor>>& samples() const { return samples_; }
    std::string text(double quality) const;

  private:
    network::Graph graph_;  ///< on as many images as are judged at once
    std::vector<std::vector<network::Tensor>> samples_;
    std::vector<int> labels_;
    network::Ranges ranges_;
    std::vector<std::vector<network::Tensor>> real_;
};

/// The precision of one word; "mixed" is searched for.
network::NpuPrecision precision_named(const std::string& word, const network::Graph& legal,
                                      bool narrow_activations, std::uint64_t seed, Screen& screen);

/// How many of the labels are the largest result of their row.
double percent_right(const network::Tensor& results, const std::vector<int>& labels);

}  // namespace lockstep::run
