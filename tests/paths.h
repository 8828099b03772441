// SPDX-License-Identifier: Apache-2.0
// Where the source tree and the built programs are. The paths are compiled into paths.cpp alone, so
// that a compiler cache serves every checkout.
#pragma once

#include <string>

namespace lockstep {

// The path of `relative` (which may be empty) in the source tree.
std::string source_path(const std::string& relative = "");

// The path of `relative` (which may be empty) in the build folder.
std::string binary_path(const std::string& relative = "");

/// Whether others wrote it: packages that npm keeps in the tree.
inline bool is_foreign(const std::string& path) {
    return path.find("/node_modules/") != std::string::npos;
}

}  // namespace lockstep
