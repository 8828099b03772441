// SPDX-License-Identifier: Apache-2.0
// What verbs that serve pages have in common.
#pragma once

#include <functional>
#include <string>

namespace lockstep::cli {

/// Prints where the pages are, and opens them if asked to: for the `begun` of a server.
std::function<void(unsigned short port)> announce(std::string what, bool opens);

}  // namespace lockstep::cli
