// SPDX-License-Identifier: Apache-2.0
// Reads what `ncu --csv --page raw` prints: a line a launch, a column a metric.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "validation/measure/record.h"

namespace lockstep::validation {

/// The metrics that are measured; the same and other names of theirs, all of which a profiler is
/// asked for; the first of them, which take one pass and every file must have.
std::span<const std::string_view> profiled_metrics();
std::vector<std::string_view> asked_metrics();
std::span<const std::string_view> quick_metrics();

/// Those of profiled_metrics() that a CSV has with a number for its first launch: a chip may lack
/// some. Of two names of the same one. Throws InputError where it has no launch or not all of
/// quick_metrics().
std::vector<std::string> available_metrics(std::string_view csv, const std::string& file_name);

/// Fields by RFC 4180: quoted fields may hold commas, line ends and doubled quotes. Throws
/// InputError with file and line where a quote does not end.
std::vector<std::vector<std::string>> parse_csv(std::string_view text,
                                                const std::string& file_name);

/// Fills the launches of `manifest` (in the order in which they ran) with the counters of the CSV
/// that manifest.metrics names, in base units (byte, ns, Hz) and each under its first name. ncu's
/// own messages ("==") are skipped; where it prints that there is no value (n/a, nan), NaN is
/// stored, except of quick_metrics(). Throws InputError that names file, line and column: another
/// kernel, grid or block than the manifest's, too few or too many launches, a metric without a
/// column, a value that is not a number, a time, size or frequency in an unknown unit.
void add_counters(CounterFile& manifest, std::string_view csv, const std::string& file_name);

}  // namespace lockstep::validation
