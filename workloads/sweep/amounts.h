// SPDX-License-Identifier: Apache-2.0
// Limits of time and memory as they are written.
#pragma once

#include <cstdint>
#include <string>

#include "sim/config/place.h"

namespace lockstep::sweep {

/// "90", "90 s", "500 ms", "5 min", "2 h". Throws InputError with the place.
double seconds_of(const std::string& text, const config::Place& place);

/// "4 GiB", "800MB". Throws InputError with the place.
std::uint64_t bytes_of(const std::string& text, const config::Place& place);

}  // namespace lockstep::sweep
