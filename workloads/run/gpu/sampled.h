// SPDX-License-Identifier: Apache-2.0
// How far the sum of sampled launches may be off.
#pragma once

#include <cstdint>
#include <string>

#include "models/device.h"

namespace lockstep::run {

class SampledTime {
  public:
    /// Launches without an error of their own were simulated in full.
    void add(const LaunchResult& result);
    /// In percent of all cycles: as if all launches were off to the same side, each as far as it
    /// may be.
    double error() const;
    /// A line for a person; empty where nothing was sampled.
    std::string text() const;

  private:
    std::uint64_t launches_ = 0, simulated_ = 0;
    bool is_sampled_ = false;
    double cycles_ = 0, unknown_ = 0;
};

}  // namespace lockstep::run
