// SPDX-License-Identifier: Apache-2.0
#include "workloads/sweep/amounts.h"

#include <fmt/format.h>

#include <charconv>
#include <optional>
#include <string_view>

#include "sim/config/units.h"

namespace lockstep::sweep {

namespace {

struct Amount {
    double number;
    std::string_view unit;
};

std::optional<Amount> amount_of(const std::string& text) {
    double number = 0;
    const char* const last = text.data() + text.size();
    const auto [end, error] = std::from_chars(text.data(), last, number);
    if (error != std::errc{} || !(number > 0) || number > 1e15) return std::nullopt;
    std::string_view unit(end, static_cast<std::size_t>(last - end));
    unit.remove_prefix(std::min(unit.find_first_not_of(' '), unit.size()));
    return Amount{number, unit};
}

struct TimeUnit {
    std::string_view name;
    double seconds;
};
constexpr TimeUnit kTimeUnits[] = {{"", 1}, {"s", 1}, {"ms", 1e-3}, {"min", 60}, {"h", 3600}};

}  // namespace

double seconds_of(const std::string& text, const config::Place& place) {
    if (const auto amount = amount_of(text))
        for (const auto& [name, seconds] : kTimeUnits)
            if (name == amount->unit) return amount->number * seconds;
    config::fail(place, fmt::format("'{}' is not a time above 0, as 90s, 500ms, 5min or 2h", text));
}

std::uint64_t bytes_of(const std::string& text, const config::Place& place) {
    if (const auto amount = amount_of(text))
        if (const auto factor = config::conversion(amount->unit, "B"))
            if (const double bytes = amount->number * *factor; bytes >= 1 && bytes < 1e18)
                return static_cast<std::uint64_t>(bytes);
    config::fail(place, fmt::format("'{}' is not an amount of memory, as 4GiB or 800MB", text));
}

}  // namespace lockstep::sweep
