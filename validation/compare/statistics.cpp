// SPDX-License-Identifier: Apache-2.0
// Errors over rows. Pearson's r is on the values themselves, Kendall's tau-b (Kendall 1945) on
// their ranks, ties taken into account; both need two rows that differ.
#include "validation/compare/statistics.h"

#include <algorithm>
#include <boost/math/statistics/bivariate_statistics.hpp>
#include <boost/math/statistics/univariate_statistics.hpp>
#include <cmath>
#include <functional>
#include <limits>

namespace lockstep::validation {

namespace {

std::optional<double> pearson(std::span<const Row> rows) {
    std::vector<double> reference, simulated;
    for (const Row& row : rows) {
        reference.push_back(row.reference);
        simulated.push_back(row.simulated);
    }
    // Whether a side varies is seen in its values: sums of rounded differences are not exactly 0.
    const auto varies = [](const std::vector<double>& side) {
        return std::ranges::adjacent_find(side, std::not_equal_to<>()) != side.end();
    };
    if (!varies(reference) || !varies(simulated)) return std::nullopt;
    const double r = boost::math::statistics::correlation_coefficient(reference, simulated);
    return std::isfinite(r) ? std::optional(r) : std::nullopt;
}

int sign(double value) {
    return (value > 0) - (value < 0);
}

std::optional<double> kendall_tau(std::span<const Row> rows) {
    double concordant = 0, different_x = 0, different_y = 0;
    for (std::size_t i = 0; i < rows.size(); ++i)
        for (std::size_t j = 0; j < i; ++j) {
            const int x = sign(rows[i].reference - rows[j].reference);
            const int y = sign(rows[i].simulated - rows[j].simulated);
            concordant += x * y;
            different_x += x != 0;
            different_y += y != 0;
        }
    if (different_x == 0 || different_y == 0) return std::nullopt;
    return concordant / std::sqrt(different_x * different_y);
}

}  // namespace

double error_of(const Row& row, Error kind) {
    if (row.simulated == row.reference) return 0;
    if (kind == Error::kDifference || row.is_percentage) return row.simulated - row.reference;
    if (row.reference == 0)
        return std::copysign(std::numeric_limits<double>::infinity(), row.simulated);
    return 100 * (row.simulated - row.reference) / std::abs(row.reference);
}

ErrorStatistics statistics_of(std::span<const Row> rows, Error kind) {
    ErrorStatistics result;
    result.rows = rows.size();
    if (rows.empty()) return result;
    std::vector<double> absolute;
    for (const Row& row : rows) {
        const double error = error_of(row, kind);
        result.equal += error == 0;
        if (!std::isfinite(error)) {
            ++result.without_error;
            continue;
        }
        result.mean_signed += error;
        result.mean_absolute += std::abs(error);
        absolute.push_back(std::abs(error));
    }
    if (absolute.empty()) {
        absolute = {std::numeric_limits<double>::infinity()};
        result.mean_signed = result.mean_absolute = absolute[0];
    }
    result.mean_signed /= static_cast<double>(absolute.size());
    result.mean_absolute /= static_cast<double>(absolute.size());
    result.median_absolute = boost::math::statistics::median(absolute);
    std::sort(absolute.begin(), absolute.end());
    result.p90_absolute = absolute[(9 * absolute.size() + 9) / 10 - 1];
    result.maximum_absolute = absolute.back();
    result.pearson = pearson(rows);
    result.kendall_tau = kendall_tau(rows);
    return result;
}

std::vector<Row> furthest_off(std::span<const Row> rows, Error kind, std::size_t count) {
    std::vector<Row> sorted(rows.begin(), rows.end());
    std::stable_sort(sorted.begin(), sorted.end(), [&](const Row& a, const Row& b) {
        return std::abs(error_of(a, kind)) > std::abs(error_of(b, kind));
    });
    sorted.resize(std::min(sorted.size(), count));
    return sorted;
}

std::vector<Row> select(std::span<const Row> rows, std::string_view quantity,
                        std::optional<Part> part) {
    std::vector<Row> selected;
    for (const Row& row : rows)
        if ((quantity.empty() || row.quantity == quantity) &&
            (part ? row.part == *part : row.part != Part::kNoisy))
            selected.push_back(row);
    return selected;
}

std::vector<std::string> quantities(std::span<const Row> rows) {
    std::vector<std::string> list;
    for (const Row& row : rows)
        if (std::find(list.begin(), list.end(), row.quantity) == list.end())
            list.push_back(row.quantity);
    return list;
}

}  // namespace lockstep::validation
