// SPDX-License-Identifier: Apache-2.0
// A named number of a run, as the statistics file prints it.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace lockstep::stats {

/// A number that is printed as it was counted: counts whole, ratios as the shortest decimal.
struct Value {
    Value(std::uint64_t whole) : is_count(true), count(whole) {}
    Value(double real) : number(real) {}
    double as_double() const { return is_count ? static_cast<double>(count) : number; }
    bool is_count = false;
    std::uint64_t count = 0;
    double number = 0;
};

/// Names and values, kept in this order.
using Metrics = std::vector<std::pair<std::string, Value>>;

}  // namespace lockstep::stats
