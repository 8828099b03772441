// SPDX-License-Identifier: Apache-2.0
// Text for a terminal: its width, lines that fit.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

namespace lockstep::cli {

/// Columns of standard output: COLUMNS where that is set, or the terminal's, or 100.
std::size_t screen_width();

/// The text in lines of at most screen_width() columns (longer words stand alone), each indented
/// and ended.
std::string paragraph(std::string_view text, std::size_t indent);

}  // namespace lockstep::cli
