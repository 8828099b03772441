// SPDX-License-Identifier: Apache-2.0
// A machine of which only a data sheet is known: peaks and bandwidth. Nothing executes on it.
#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "sim/config/row.h"

namespace lockstep::roofline {

/// The precisions that peaks are told for, widest first.
inline constexpr std::array<std::string_view, 8> kPrecisions = {"fp64", "fp32", "tf32", "bf16",
                                                                "fp16", "fp8",  "int8", "int4"};

struct Parameters {
    explicit Parameters(const config::Machine& machine);

    std::string product;
    int units = 0, lanes = 0;
    double clock_mhz = 0;
    /// TFLOP/s (integers: TOP/s) by kPrecisions, a multiply-add counted twice; 0: the machine has
    /// no units for it.
    std::array<double, kPrecisions.size()> peak{};
    double memory_bytes = 0;
    double memory_bandwidth = 0;  ///< GB/s
    double power_limit = 0;       ///< W

    /// Operations a second in a precision; 0: none.
    double operations_per_second(std::string_view precision) const;
};

/// What machine files of kind "roofline" have.
std::vector<config::Entry> parameter_entries();

}  // namespace lockstep::roofline
