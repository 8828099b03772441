// SPDX-License-Identifier: Apache-2.0
// What a sweep varies: a parameter of the machine by its path, or of the workload as workload.KEY.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/config/place.h"
#include "sim/config/schema.h"

namespace lockstep::sweep {

/// One value of an axis.
struct Value {
    std::string text;   ///< as it is set and shown: "50MiB"
    double number = 0;  ///< in the canonical unit; of a text: its place in the list
};

/// Values in a list, or all between two limits, of which samples take some.
struct Axis {
    std::string name;
    std::string unit;  ///< canonical; "1" where it has none
    config::Place place;
    std::vector<Value> values;  ///< empty: an interval
    double low = 0, high = 0;   ///< of the interval, canonical, both included
    bool is_whole = false;      ///< only whole numbers lie in it
    bool is_logarithmic = false;

    bool is_interval() const { return values.empty(); }
    bool is_of_workload() const { return name.starts_with(kWorkload); }
    std::string_view workload_key() const {
        return std::string_view(name).substr(kWorkload.size());
    }
    /// The value at a share in [0, 1) of the axis.
    Value at(double share) const;

    static constexpr std::string_view kWorkload = "workload.";
};

/// Reads `a,b,c`, in which each may be a range: `a..b..step` (both ends, as far as steps reach),
/// `a..b..*factor`; or alone an interval: `a..b`, `a..b..log`. `entry`: the machine's parameter;
/// null for one of the workload. Throws InputError with the place.
Axis parse_axis(const std::string& name, const std::vector<std::string>& items,
                const config::Entry* entry, const config::Place& place);

}  // namespace lockstep::sweep
