// SPDX-License-Identifier: Apache-2.0
// Which parameter matters. First-order index: the share of the result's variance that an axis
// explains alone. Total index: the share that is left open while all but this axis are known, its
// interactions included.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace lockstep::sweep {

struct Index {
    std::optional<double> first, total;
    double first_error = 0, total_error = 0;  ///< standard errors; 0: exact
};

/// A point's place on each axis, and its result.
struct Observation {
    std::vector<double> at;
    double value = 0;
};

/// Of points on few values of each axis: exact where they are a full grid, with totals; otherwise
/// the first-order index alone, corrected for chance (Kelley's epsilon squared).
std::vector<Index> grid_indices(std::span<const Observation> observations, std::size_t axes);

/// Of samples: axes with many values are cut into classes of equal size.
std::vector<Index> sample_indices(std::span<const Observation> observations, std::size_t axes);

/// Of the rows A, B, A with the column of B for each axis, each `samples` long: first order after
/// Saltelli et al. 2010, totals after Jansen 1999, standard errors by bootstrap (seeded).
std::vector<Index> sobol_indices(std::span<const double> values, std::size_t samples,
                                 std::size_t axes);

}  // namespace lockstep::sweep
