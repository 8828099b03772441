// SPDX-License-Identifier: Apache-2.0
// Reads a file compressed with xz.
#pragma once

#include <string>
#include <vector>

namespace lockstep {

/// The contents of the file, decompressed.
std::string read_xz(const std::string& path);

/// Its lines, without their ends.
std::vector<std::string> read_xz_lines(const std::string& path);

}  // namespace lockstep
