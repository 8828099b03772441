// SPDX-License-Identifier: Apache-2.0
#include "sim/lab/number_text.h"

#include <fmt/format.h>

#include <boost/regex.hpp>
#include <charconv>
#include <cmath>

namespace lockstep::lab {

std::optional<double> number_of(std::string_view text, std::string_view unit) {
    const auto trim = [](std::string_view part) {
        while (!part.empty() && part.front() == ' ') part.remove_prefix(1);
        while (!part.empty() && part.back() == ' ') part.remove_suffix(1);
        return part;
    };
    std::string_view part = trim(text);
    if (!unit.empty() && part.ends_with(unit))
        part = trim(part.substr(0, part.size() - unit.size()));
    std::string digits(part);
    static const boost::regex kGrouped("[-+]?\\d{1,3}([, ]\\d{3})+(\\.\\d+)?");
    if (boost::regex_match(digits, kGrouped))
        std::erase_if(digits, [](char c) { return c == ',' || c == ' '; });
    if (digits.starts_with("+")) digits.erase(0, 1);
    double number = 0;
    const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (error != std::errc{} || end != digits.data() + digits.size() || !std::isfinite(number))
        return std::nullopt;
    return number;
}

std::string number_text(double number) {
    if (number == std::floor(number) && std::fabs(number) < 1e15)
        return fmt::format("{:.0f}", number);
    return fmt::format("{:.6g}", number);
}

}  // namespace lockstep::lab
