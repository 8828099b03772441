// SPDX-License-Identifier: Apache-2.0
// Units of machine files and their multiples.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::config {

/// What a value in `unit` is multiplied with to be in `canonical`; nothing where they measure
/// different things.
std::optional<double> conversion(std::string_view unit, std::string_view canonical);

/// What a value in a unit of machine files is multiplied with to be in its canonical unit; nothing
/// where there is no such unit.
std::optional<double> to_canonical(std::string_view unit);

/// The units that a value in `canonical` may be given in, that one first.
std::vector<std::string_view> units_of(std::string_view canonical);

/// The units that a value in `canonical` may be given in, for messages: "B, KiB, MiB, GiB (of 1024)
/// or kB, MB, GB (of 1000)"; of a pure number "a number without a unit".
std::string units_for(std::string_view canonical);

}  // namespace lockstep::config
