// SPDX-License-Identifier: Apache-2.0
// What the site is made of, which is part of the program (sources.cpp, generated): every .md file
// of the source tree, the labs, and the site's style and scripts.
#pragma once

#include <span>
#include <string_view>

namespace lockstep::docs {

struct Source {
    std::string_view path;  ///< from the root of the source tree; of assets: from sim/docs
    std::string_view text;
};

std::span<const Source> pages();
std::span<const Source> labs();  ///< YAML: lab_page() makes pages of them
std::span<const Source> assets();
std::span<const Source> pictures();  ///< .png files of sim/docs/pictures, in base64

}  // namespace lockstep::docs
