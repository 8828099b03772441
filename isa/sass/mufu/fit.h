// SPDX-License-Identifier: Apache-2.0
// From results of a real multifunction unit to the coefficients in its tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "isa/sass/mufu/mufu.h"

namespace lockstep::sass::mufu {

/// What one result says about the quadratic of its segment: at t it lies in [low, high].
struct Sample {
    int segment = 0;  ///< of the joint table
    double t = 0, low = 0, high = 0;
};

/// Of a positive, normal source whose result is normal too; not for kSqrt, which has no table of
/// its own, nor for the halves of doubles.
Sample sample(Function function, std::uint32_t x, std::uint32_t result);

struct Quadratic {
    std::int32_t c0 = 0, c1 = 0, c2 = 0;
};
struct Digits {
    int c0 = 0, c1 = 0, c2 = 0;  ///< behind the point
};
struct Fit {
    Quadratic quadratic;
    std::size_t fulfilled = 0;  ///< samples that it gives the hardware's result for
};

/// The quadratic with coefficients of so many digits that fulfils the most samples of a segment.
Fit fit(std::span<const Sample> samples, Digits digits);

/// Fits every segment that has samples, the others as they are: the text of tables.inc, and how
/// many samples are fulfilled.
struct FittedTables {
    std::string text;
    std::size_t samples = 0, fulfilled = 0, segments = 0;
};
FittedTables fit_tables(const std::vector<std::vector<Sample>>& samples_of_segment);

/// Of the joint table.
int segment_count();

}  // namespace lockstep::sass::mufu
