// SPDX-License-Identifier: Apache-2.0
// Colour on terminals. Text is made without it and painted where it is printed, so that files,
// pipes and tests get the same bytes whatever the terminal.
#pragma once

#include <string>
#include <string_view>

namespace lockstep::terminal {

/// `--color WHEN`: "auto", "always" or "never", for this process and those that it starts.
void choose_colour(const std::string& when);

/// Whether text to a file descriptor is painted. By default where it is a terminal that is not
/// dumb and the environment has no NO_COLOR (https://no-color.org); what was chosen comes first.
bool shows_colour(int descriptor);

/// A report: headings of launches, bars, verdicts and checks. Takes nothing away from the text.
std::string painted_report(std::string_view text);
/// "lockstep: what is wrong".
std::string painted_error(std::string_view text);

/// The text, painted where the descriptor shows colour.
std::string report_for(int descriptor, std::string_view text);
std::string error_for(int descriptor, std::string_view text);

}  // namespace lockstep::terminal
