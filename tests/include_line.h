// SPDX-License-Identifier: Apache-2.0
// Which header of the tree a line of a source file includes.
#pragma once

#include <string>
#include <string_view>

namespace lockstep {

/// The header's path below the tree's root; empty: the line includes none.
inline std::string included(const std::string& line) {
    constexpr std::string_view kBegin = "#include \"";
    if (!line.starts_with(kBegin)) return "";
    return line.substr(kBegin.size(), line.find('"', kBegin.size()) - kBegin.size());
}

}  // namespace lockstep
