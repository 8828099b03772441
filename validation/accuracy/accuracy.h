// SPDX-License-Identifier: Apache-2.0
// How far results of a machine are off, by what was measured of work like theirs: accuracy.csv,
// which the suites of `lockstep compare` make (validation/compare/accuracy_table.h).
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

#include "sim/stats/statistics.h"

namespace lockstep::validation {

/// The errors of a machine's rows of a class, in percent.
struct Expectation {
    std::string suite;
    bool of_others = false;          ///< of all measured GPUs: this one has no row of the class
    std::size_t rows = 0, held = 0;  ///< held: kept apart when the model was made
    double mean = 0, worst = 0;      ///< of the absolute errors
};

/// In the table: the rows of all GPUs of a class.
inline constexpr std::string_view kAnyGpu = "gpu";

/// Nothing where no row of the class was measured. A GPU that has none is expected to be as far off
/// as those that have.
std::optional<Expectation> expectation(std::string_view machine, std::string_view work_class);

/// The class of what ran; empty where the kind of machine has none yet. TPUs: `product` (one layer
/// with products), `vector` (none), `network` (more). GPUs: gpu_class().
std::string work_class(const stats::Statistics& statistics);

/// A line for the report of a run in cycle mode on a machine as its file has it; empty where
/// nothing is known.
std::string expectation_text(const stats::Statistics& statistics);

/// The built-in table.
std::string_view accuracy_csv();

}  // namespace lockstep::validation
