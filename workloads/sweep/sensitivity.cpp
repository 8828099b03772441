// SPDX-License-Identifier: Apache-2.0
#include "workloads/sweep/sensitivity.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>

#include "sim/numerics/random.h"

namespace lockstep::sweep {

namespace {

/// Sums of a class of results.
struct Class {
    double count = 0, sum = 0, squares = 0;
    void add(double value) {
        ++count;
        sum += value;
        squares += value * value;
    }
    double mean() const { return sum / count; }
    /// Sum of squared distances from the mean.
    double within() const { return std::max(squares - sum * sum / count, 0.0); }
};

template <typename Key>
using Classes = std::map<Key, Class>;

/// Results less their mean: squares of large, nearly equal numbers keep their digits.
std::vector<double> centred(std::span<const Observation> observations) {
    double sum = 0;
    for (const Observation& o : observations) sum += o.value;
    std::vector<double> values;
    for (const Observation& o : observations)
        values.push_back(o.value - sum / static_cast<double>(observations.size()));
    return values;
}

/// The share of the squares that lies between classes, corrected for what chance puts there.
template <typename Key>
std::optional<double> explained(const Classes<Key>& classes, double squares, bool is_exact) {
    double within = 0, count = 0;
    for (const auto& [key, some] : classes) within += some.within(), count += some.count;
    const double free = count - static_cast<double>(classes.size());
    if (is_exact) return 1 - within / squares;
    if (free <= 0) return std::nullopt;
    return std::max(1 - within / free * (count - 1) / squares, 0.0);
}

bool is_full_grid(std::span<const Observation> observations, std::size_t axes) {
    double all = 1;
    for (std::size_t axis = 0; axis < axes; ++axis) {
        Classes<double> levels;
        for (const Observation& o : observations) levels[o.at[axis]].add(0);
        all *= static_cast<double>(levels.size());
    }
    return all == static_cast<double>(observations.size());
}

}  // namespace

std::vector<Index> grid_indices(std::span<const Observation> observations, std::size_t axes) {
    std::vector<Index> indices(axes);
    if (observations.size() < 2) return indices;
    const std::vector<double> values = centred(observations);
    const double squares = std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
    if (squares <= 0) return indices;
    const bool is_full = is_full_grid(observations, axes);
    for (std::size_t axis = 0; axis < axes; ++axis) {
        Classes<double> own;
        Classes<std::vector<double>> others;
        for (std::size_t i = 0; i < values.size(); ++i) {
            own[observations[i].at[axis]].add(values[i]);
            std::vector<double> rest = observations[i].at;
            rest.erase(rest.begin() + static_cast<std::ptrdiff_t>(axis));
            others[rest].add(values[i]);
        }
        indices[axis].first = explained(own, squares, is_full);
        if (is_full) indices[axis].total = 1 - *explained(others, squares, true);
    }
    return indices;
}

std::vector<Index> sample_indices(std::span<const Observation> observations, std::size_t axes) {
    std::vector<Index> indices(axes);
    if (observations.size() < 4) return indices;
    const std::vector<double> values = centred(observations);
    const double squares = std::inner_product(values.begin(), values.end(), values.begin(), 0.0);
    if (squares <= 0) return indices;
    const auto count = observations.size();
    const auto most = static_cast<std::size_t>(std::sqrt(static_cast<double>(count)));
    for (std::size_t axis = 0; axis < axes; ++axis) {
        std::vector<std::size_t> order(count);
        std::iota(order.begin(), order.end(), 0u);
        std::ranges::stable_sort(order, {},
                                 [&](std::size_t i) { return observations[i].at[axis]; });
        Classes<double> levels;
        for (const Observation& o : observations) levels[o.at[axis]].add(0);
        Classes<double> classes;
        for (std::size_t rank = 0; rank < count; ++rank) {
            const std::size_t i = order[rank];
            const double key = levels.size() <= most ? observations[i].at[axis]
                                                     : static_cast<double>(rank * most / count);
            classes[key].add(values[i]);
        }
        indices[axis].first = explained(classes, squares, false);
    }
    return indices;
}

namespace {

struct Estimate {
    double first, total;
};

/// Of the rows that `rows` names (a bootstrap names some twice).
Estimate estimate(std::span<const double> values, std::size_t samples, std::size_t axis,
                  std::span<const std::size_t> rows) {
    const auto a = values.subspan(0, samples), b = values.subspan(samples, samples),
               mixed = values.subspan((2 + axis) * samples, samples);
    Class both;
    double first = 0, total = 0;
    for (const std::size_t i : rows) {
        both.add(a[i]);
        both.add(b[i]);
        first += b[i] * (mixed[i] - a[i]);
        total += (a[i] - mixed[i]) * (a[i] - mixed[i]) / 2;
    }
    const double variance = both.within() / both.count, n = static_cast<double>(rows.size());
    if (variance <= 0) return {NAN, NAN};
    return {first / n / variance, total / n / variance};
}

}  // namespace

std::vector<Index> sobol_indices(std::span<const double> values, std::size_t samples,
                                 std::size_t axes) {
    constexpr int kDraws = 200;
    double mean = 0;
    for (const double value : values) mean += value / static_cast<double>(values.size());
    std::vector<double> centred(values.begin(), values.end());
    for (double& value : centred) value -= mean;
    std::vector<Index> indices(axes);
    std::vector<std::size_t> rows(samples);
    for (std::size_t axis = 0; axis < axes; ++axis) {
        std::iota(rows.begin(), rows.end(), 0u);
        const Estimate all = estimate(centred, samples, axis, rows);
        if (!std::isfinite(all.first)) continue;
        Class first, total;
        numerics::Random random(axis + 1);
        for (int draw = 0; draw < kDraws; ++draw) {
            for (std::size_t& row : rows) row = random.bits() % samples;
            const Estimate some = estimate(centred, samples, axis, rows);
            if (!std::isfinite(some.first)) continue;
            first.add(some.first);
            total.add(some.total);
        }
        indices[axis] = {all.first, all.total, std::sqrt(first.within() / (first.count - 1)),
                         std::sqrt(total.within() / (total.count - 1))};
    }
    return indices;
}

}  // namespace lockstep::sweep
