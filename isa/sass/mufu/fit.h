// SPDX-License-Identifier: Apache-2.0
// From results of a real multifunction unit to the coefficients in its tables.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "isa/sass/mufu/mufu.h"
#include "isa/sass/mufu/tables.h"

namespace lockstep::sass::mufu {

/// What one result says about the sum of its segment: it lies in [low, high).
struct Sample {
    int segment = 0;  ///< of the joint table
    int places = 0;   ///< behind its begin
    double low = 0, high = 0;
};

/// Of a positive, normal source whose result is normal too and comes from the table: not of a power
/// of four for kRsq, nor for the halves of doubles.
Sample sample(Function function, std::uint32_t x, std::uint32_t result);

struct Fit {
    Segment segment;
    std::size_t fulfilled = 0;  ///< samples that it gives the hardware's result for
};

/// The coefficients that fulfil the most samples of the segment at `index` of an array.
Fit fit(std::span<const Sample> samples, const Array& array, int index);

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
