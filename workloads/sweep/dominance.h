// SPDX-License-Identifier: Apache-2.0
// Points that need not run to their end, for one before them is better in all that is wanted. Which
// those are does not depend on when they run: of two points only the one that stands later in the
// plan is stopped, and one that was dominated by an earlier one but ended is taken as stopped.
#pragma once

#include <cstdint>
#include <map>
#include <vector>

#include "workloads/sweep/point.h"
#include "workloads/sweep/result.h"

namespace lockstep::sweep {

/// Throws InputError where an objective is not known to grow with the time alone: it must be
/// cycles, seconds or dollars, or a formula of parameters.
void check_can_stop(const Study& study);

class Dominance {
  public:
    Dominance(const Study& study, const Plan& plan);

    /// Takes the costs of a point that has ended.
    void add(std::size_t place, const Result& result);
    /// Whether a point before this one dominates it, which has ended.
    bool is_dominated(std::size_t place, const Result& result) const;
    /// Whether a point before this one dominates it, whatever comes of it after so many cycles.
    bool is_dominated(std::size_t place, std::uint64_t cycles) const;

  private:
    struct Ended {
        std::size_t place;
        std::vector<double> costs;
    };
    /// What does not change while a point runs: to find it may take a machine to be read.
    struct Begun {
        double clock = 0;           ///< MHz; 0: not known
        std::vector<double> costs;  ///< those of time at 0
    };
    std::vector<double> costs(std::size_t place, const Result& result) const;
    bool is_dominated(std::size_t place, const std::vector<double>& costs) const;
    std::vector<double> least_costs(std::size_t place, std::uint64_t cycles) const;

    const Study& study_;
    const Plan& plan_;
    std::vector<std::size_t> problem_;  ///< of each point
    mutable std::map<std::size_t, Begun> begun_;
    std::vector<std::vector<Ended>> ended_;  ///< by problem
};

/// Marks the results that a stopped sweep would not have.
void mark_dominated(const Study& study, const Plan& plan, std::vector<Result>& results);

}  // namespace lockstep::sweep
