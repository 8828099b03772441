// SPDX-License-Identifier: Apache-2.0
// The pictures of the page; each is empty where there is nothing to draw.
#pragma once

#include <span>
#include <string>

#include "validation/compare/suite.h"

namespace lockstep::validation {

/// Simulated against reference, with the diagonal. Rows of one quantity.
std::string scatter_plot(std::span<const Row> rows);

/// The errors of each kernel: a bar for their mean, a line from the least to the most, a mark for
/// each size. Rows of one quantity.
std::string error_bars(const Suite& suite, std::span<const Row> rows);

/// Instructions a cycle over instructions a byte of DRAM traffic, measured and simulated, of what
/// has rows of all that takes.
std::string roofline(const std::string& machine, std::span<const Row> rows);

}  // namespace lockstep::validation
