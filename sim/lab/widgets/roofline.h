// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace lockstep::lab {

/// Where the run of this statistics file stands: its operations, the bytes that crossed to DRAM,
/// its time, and the roof of its machine with the parameters it ran with.
nlohmann::ordered_json roofline_point(const std::string& statistics);

}  // namespace lockstep::lab
