// SPDX-License-Identifier: Apache-2.0
// In the order of their costs, a point is dominated only by one before it, and then by one of the
// front so far (Kung, Luccio and Preparata 1975).
#include "workloads/sweep/pareto.h"

#include <algorithm>
#include <numeric>

namespace lockstep::sweep {

bool dominates(std::span<const double> a, std::span<const double> b) {
    bool is_better = false;
    for (std::size_t i = 0; i < a.size(); ++i) {
        if (a[i] > b[i]) return false;
        is_better |= a[i] < b[i];
    }
    return is_better;
}

std::vector<bool> pareto_front(std::span<const std::vector<double>> costs) {
    std::vector<std::size_t> order(costs.size()), front;
    std::iota(order.begin(), order.end(), 0u);
    std::ranges::stable_sort(order, {},
                             [&](std::size_t i) -> const std::vector<double>& { return costs[i]; });
    std::vector<bool> is_on_front(costs.size(), false);
    for (const std::size_t i : order) {
        const bool is_dominated = std::ranges::any_of(
            front, [&](std::size_t other) { return dominates(costs[other], costs[i]); });
        if (is_dominated) continue;
        front.push_back(i);
        is_on_front[i] = true;
    }
    return is_on_front;
}

}  // namespace lockstep::sweep
