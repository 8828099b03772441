// SPDX-License-Identifier: Apache-2.0
// The table of validation/accuracy, from the suites. What you add: a suite whose rows have a class
// in `group`, and its line in accuracy_table.cpp.
#pragma once

#include <string>

namespace lockstep::validation {

/// Runs the suites (some seconds) and gives accuracy.csv.
std::string make_accuracy_table();

}  // namespace lockstep::validation
