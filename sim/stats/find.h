// SPDX-License-Identifier: Apache-2.0
// A metric by its name. Steps have some hundreds, and are asked a few times each: a walk is enough.
#pragma once

#include <algorithm>
#include <string_view>

#include "sim/stats/value.h"

namespace lockstep::stats {

/// Null: there is no such metric.
inline const Value* find(const Metrics& metrics, std::string_view name) {
    const auto at =
        std::ranges::find_if(metrics, [name](const auto& metric) { return metric.first == name; });
    return at == metrics.end() ? nullptr : &at->second;
}

/// The metric's value; 0 where there is no such metric.
inline double number(const Metrics& metrics, std::string_view name) {
    const Value* const value = find(metrics, name);
    return value == nullptr ? 0 : value->as_double();
}

}  // namespace lockstep::stats
