// SPDX-License-Identifier: Apache-2.0
// What `lockstep compare` prints and writes.
#pragma once

#include <span>
#include <string>

#include "validation/compare/suite.h"

namespace lockstep::validation {

/// A line a row (of an exact suite only the unequal ones; without `row_lines` none), then a line of
/// statistics for each quantity and part, those of the first quantity also by group, and of a suite
/// with a goal the worst rows. Lines have at most 100 columns, as far as names and notes let them.
std::string text_report(const Suite& suite, const std::string& machine, std::span<const Row> rows,
                        bool row_lines = true);

/// A row by itself, for suites that show theirs as they come.
std::string row_text(const Suite& suite, const Row& row);
/// Whether such a suite shows the row at all: of the many quantities of its kernels those that are
/// times, and what should be equal and is not. All are in statistics and files.
bool is_shown(const Row& row);

/// Whether a suite's goal is reached by its test rows; empty where it has none or no such rows.
std::string goal_text(const Suite& suite, std::span<const Row> rows);
inline constexpr std::size_t kWorstRows = 10;

/// A line that says so where rows come from sample data; empty otherwise.
std::string sample_warning(std::span<const Row> rows);

/// Numbers and errors as they are shown; an error that does not exist is `n/a`.
std::string number_text(double value);
std::string error_text(const Row& row, Error kind);
std::string_view part_name(Part part);

/// The same, complete, as schema 1 of --stats: a step a row, and `statistics` by quantity and part.
std::string json_report(const Suite& suite, const std::string& machine, std::span<const Row> rows);

/// A line a row.
std::string csv_report(const Suite& suite, std::span<const Row> rows);

}  // namespace lockstep::validation
