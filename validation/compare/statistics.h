// SPDX-License-Identifier: Apache-2.0
// What is said about the errors of many rows.
#pragma once

#include <optional>
#include <span>

#include "validation/compare/suite.h"

namespace lockstep::validation {

/// simulated against reference: percent, or the difference in the row's unit. A reference of 0
/// has a relative error of 0 where the simulated value is 0 too, and none otherwise (infinity).
double error_of(const Row& row, Error kind);

struct ErrorStatistics {
    std::size_t rows = 0;
    std::size_t equal = 0;  ///< rows without any error
    /// Rows without a relative error, as their reference is 0 and their simulated value is not. The
    /// errors below are those of the other rows; infinite where there are no others.
    std::size_t without_error = 0;
    double mean_signed = 0;  ///< > 0: the model says too much
    double mean_absolute = 0;
    double median_absolute = 0;
    double p90_absolute = 0;  ///< 90% of the rows are at most this far off (nearest rank)
    double maximum_absolute = 0;
    std::optional<double> pearson;      ///< none where a side does not vary
    std::optional<double> kendall_tau;  ///< tau-b: does the model rank as the reference does?
};

ErrorStatistics statistics_of(std::span<const Row> rows, Error kind);

/// The rows with the largest absolute errors, at most `count`, the largest first; rows without an
/// error of their own (infinity) come first of all.
std::vector<Row> furthest_off(std::span<const Row> rows, Error kind, std::size_t count);

/// The rows of a quantity ("" for all) and part (nothing: train and test).
std::vector<Row> select(std::span<const Row> rows, std::string_view quantity,
                        std::optional<Part> part);

/// The quantities in the order in which they first appear.
std::vector<std::string> quantities(std::span<const Row> rows);

}  // namespace lockstep::validation
