// SPDX-License-Identifier: Apache-2.0
// Energy and area of a run: one accounting for all machines, made from what steps counted once they
// are over. No unit of a model knows of it.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "models/energy/events.h"
#include "sim/config/machine.h"
#include "sim/stats/statistics.h"
#include "sim/stats/value.h"

namespace lockstep::energy {

class Account {
  public:
    /// Throws InputError where the machine lacks a price, or its kind has no table of events.
    explicit Account(std::shared_ptr<const config::Machine> machine);

    /// Appends to the metrics of each step that was simulated by itself:
    /// - energy.COMPONENT, J: events times prices;
    /// - energy.constant, J: the constant power for as long as the step took;
    /// - energy.leakage, J: likewise what the area leaks, where energy.constant_power is without
    /// it;
    /// - energy.total, J, and energy.power, W, its mean.
    /// And to the run's totals the same of all its steps, energy.uncertainty (a share), and
    /// area.PART and area.total (mm2) where the machine has prices of them.
    void add_to(stats::Statistics& run) const;

  private:
    void add_to(stats::Metrics& step) const;
    void add_totals(stats::Statistics& run) const;
    /// area.PART and, last, area.total; mm2. Empty where nothing is known.
    stats::Metrics area() const;

    std::shared_ptr<const config::Machine> machine_;
    Tables tables_;
    struct Price {
        double control = 0, data = 0;  ///< pJ
    };
    std::vector<Price> prices_;                            ///< of the table's events
    double constant_ = 0, leakage_ = 0, uncertainty_ = 0;  ///< W, W, a share
};

/// The component whose energy a metric is; empty for other metrics, those of all components too.
std::string_view component_of(std::string_view metric);

/// Energy by component, and the steps that took most, as a table; empty where no step has energies.
std::string report(const stats::Statistics& run);

}  // namespace lockstep::energy
