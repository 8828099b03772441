// SPDX-License-Identifier: Apache-2.0
// The report of `lockstep compare --html`: one page that needs nothing else.
#pragma once

#include <span>
#include <string>

#include "validation/compare/suite.h"

namespace lockstep::validation {

/// Simulated against reference with the diagonal, errors by name, an instruction roofline where
/// rows have cycles, instructions and DRAM bytes, statistics, a table that sorts, provenance.
std::string html_report(const Suite& suite, const std::string& machine, std::span<const Row> rows);

}  // namespace lockstep::validation
