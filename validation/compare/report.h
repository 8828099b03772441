// SPDX-License-Identifier: Apache-2.0
// What `lockstep compare` prints and writes.
#pragma once

#include <span>
#include <string>

#include "validation/compare/suite.h"

namespace lockstep::validation {

/// A line a row (of an exact suite only the unequal ones), then a line of statistics for each
/// quantity and part.
std::string text_report(const Suite& suite, const std::string& machine, std::span<const Row> rows);

/// The same, complete, as schema 1 of --stats: a step a row, and `statistics` by quantity and part.
std::string json_report(const Suite& suite, const std::string& machine, std::span<const Row> rows);

/// A line a row.
std::string csv_report(const Suite& suite, std::span<const Row> rows);

}  // namespace lockstep::validation
