// SPDX-License-Identifier: Apache-2.0
// A time as people say it.
#pragma once

#include <fmt/format.h>

#include <string>

namespace lockstep::cli {

/// "0.4 s", "45 s", "3 min 20 s", "2 h 5 min".
inline std::string duration(double seconds) {
    if (seconds < 10) return fmt::format("{:.1f} s", seconds);
    const auto whole = static_cast<long long>(seconds + 0.5);
    if (whole < 60) return fmt::format("{} s", whole);
    if (whole < 3600) return fmt::format("{} min {} s", whole / 60, whole % 60);
    return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
}

}  // namespace lockstep::cli
