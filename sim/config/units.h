// SPDX-License-Identifier: Apache-2.0
// Units of machine files and their multiples.
#pragma once

#include <optional>
#include <string_view>

namespace lockstep::config {

/// What a value in `unit` is multiplied with to be in `canonical`; nothing where they measure
/// different things.
std::optional<double> conversion(std::string_view unit, std::string_view canonical);

}  // namespace lockstep::config
