// SPDX-License-Identifier: Apache-2.0
// Reads what `ncu --csv --page raw` prints: a line a launch, a column a metric.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "validation/measure/record.h"

namespace lockstep::validation {

/// The metrics that are measured, and all of which a counter file must have.
std::span<const std::string_view> profiled_metrics();

/// Fields by RFC 4180: quoted fields may hold commas, line ends and doubled quotes. Throws
/// InputError with file and line where a quote does not end.
std::vector<std::vector<std::string>> parse_csv(std::string_view text,
                                                const std::string& file_name);

/// Fills the launches of `manifest` (in the order in which they ran) with the counters of the CSV.
/// Lines before the header (ncu's own messages) are skipped. Throws InputError that names file,
/// line and column: another kernel, grid or block than the manifest's, too few or too many
/// launches, a metric without a column, a value that is not a number, a unit that is not known.
void add_counters(CounterFile& manifest, std::string_view csv, const std::string& file_name);

}  // namespace lockstep::validation
