// SPDX-License-Identifier: Apache-2.0
// Builds a list of metrics. A quotient without a denominator is 0, as for a kernel that never
// touched the unit.
#pragma once

#include <cstdint>
#include <string>

#include "sim/stats/value.h"

namespace lockstep::gpu {

inline double quotient(double numerator, double denominator) {
    return denominator > 0 ? numerator / denominator : 0.0;
}
inline double percent(double part, double whole) {
    return 100.0 * quotient(part, whole);
}

class MetricList {
  public:
    void count(std::string name, std::uint64_t value) {
        metrics_.emplace_back(std::move(name), value);
    }
    void number(std::string name, double value) { metrics_.emplace_back(std::move(name), value); }
    template <typename Part, typename Whole>
    void ratio(std::string name, Part part, Whole whole) {
        number(std::move(name), quotient(static_cast<double>(part), static_cast<double>(whole)));
    }
    template <typename Part, typename Whole>
    void percentage(std::string name, Part part, Whole whole) {
        number(std::move(name), percent(static_cast<double>(part), static_cast<double>(whole)));
    }
    stats::Metrics take() { return std::move(metrics_); }

  private:
    stats::Metrics metrics_;
};

}  // namespace lockstep::gpu
