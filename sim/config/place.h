// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace lockstep::config {

/// Where in a machine file (or on the command line) a value stands.
struct Place {
    std::string file;
    int line = 0;  ///< 0: none
    std::string text() const { return line == 0 ? file : file + ":" + std::to_string(line); }
};

/// Throws InputError "place: message".
[[noreturn]] void fail(const Place& place, const std::string& message);

}  // namespace lockstep::config
