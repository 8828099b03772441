// SPDX-License-Identifier: Apache-2.0
// Numbers for people.
#pragma once

#include <fmt/format.h>

#include <cmath>
#include <string>

namespace lockstep::report {

/// Whole numbers in groups of three digits, others with five digits that say something.
inline std::string number_text(double value) {
    if (value != std::floor(value) || std::abs(value) >= 1e15) return fmt::format("{:.5g}", value);
    std::string digits = fmt::format("{:.0f}", value);
    const std::size_t first = value < 0 ? 1 : 0;
    for (std::size_t at = digits.size(); at > first + 3;) digits.insert(at -= 3, ",");
    return digits;
}

/// "3.35 TB/s", "24.5 us": three digits and a prefix of 1000.
inline std::string scaled_text(double value, const char* unit) {
    constexpr const char* kPrefixes[] = {"n", "µ", "m", "", "k", "M", "G", "T", "P"};
    int at = 3;
    for (; std::abs(value) >= 999.5 && at < 8; ++at) value /= 1000;
    for (; value != 0 && std::abs(value) < 0.9995 && at > 0; --at) value *= 1000;
    const int digits = std::abs(value) < 9.995 ? 2 : std::abs(value) < 99.95 ? 1 : 0;
    return fmt::format("{:.{}f} {}{}", value, value == 0 ? 0 : digits,
                       kPrefixes[value == 0 ? 3 : at], unit);
}

}  // namespace lockstep::report
