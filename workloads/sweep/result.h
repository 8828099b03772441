// SPDX-License-Identifier: Apache-2.0
// What came of a point.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

namespace lockstep::sweep {

enum class Status : std::uint8_t {
    kDone,
    kFailed,     ///< reason says why
    kDominated,  ///< stopped, or not counted: another point is better in all that is wanted
    kMissing,    ///< not run yet
};

struct Result {
    Status status = Status::kMissing;
    std::string reason;
    std::uint64_t cycles = 0;
    double seconds = 0;
    /// Of the statistics' steps together: counts are summed, all else is the mean over their time.
    std::map<std::string, double, std::less<>> metrics;
};

/// Reads a statistics file's text. Throws InputError where it is none.
Result read_statistics(std::string_view json);

/// The metrics as a JSON object, and back.
std::string metrics_json(const Result& result);
void read_metrics(std::string_view json, Result& result);

}  // namespace lockstep::sweep
