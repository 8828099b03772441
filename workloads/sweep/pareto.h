// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace lockstep::sweep {

/// Whether a is better than b in one cost at least and worse in none.
bool dominates(std::span<const double> a, std::span<const double> b);

/// Which of the points no other dominates. Each has a cost for every objective, the less the
/// better; of equal points all are on the front.
std::vector<bool> pareto_front(std::span<const std::vector<double>> costs);

}  // namespace lockstep::sweep
