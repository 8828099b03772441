// SPDX-License-Identifier: Apache-2.0
// Reads a text file compressed with xz.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

/// The lines of the file, without their ends.
std::vector<std::string> read_xz_lines(const std::string& path);

}  // namespace lockstep
