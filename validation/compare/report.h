// SPDX-License-Identifier: Apache-2.0
// What `lockstep compare` prints and writes.
#pragma once

#include <span>
#include <string>

#include "validation/compare/suite.h"

namespace lockstep::validation {

/// A line a row (of an exact suite only the unequal ones; without `row_lines` none), then a line of
/// statistics for each quantity and part, and of a suite with a goal the worst rows.
std::string text_report(const Suite& suite, const std::string& machine, std::span<const Row> rows,
                        bool row_lines = true);

/// A row by itself, for suites that show theirs as they come.
std::string row_text(const Suite& suite, const Row& row);

/// The same, complete, as schema 1 of --stats: a step a row, and `statistics` by quantity and part.
std::string json_report(const Suite& suite, const std::string& machine, std::span<const Row> rows);

/// A line a row.
std::string csv_report(const Suite& suite, std::span<const Row> rows);

}  // namespace lockstep::validation
