// SPDX-License-Identifier: Apache-2.0
// The nearest right thing, for error messages.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::config {

/// The candidate with the smallest edit distance, or "" where none is near (more than half of it
/// would have to change).
std::string nearest(std::string_view wanted, const std::vector<std::string>& candidates);

}  // namespace lockstep::config
