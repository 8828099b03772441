// SPDX-License-Identifier: Apache-2.0
// The documentation as a static site: every page of the source tree, linked and searchable. It
// needs no server: its files can be opened as they are.
#pragma once

#include <map>
#include <span>
#include <string>
#include <vector>

#include "sim/docs/links.h"
#include "sim/docs/source.h"

namespace lockstep::docs {

struct Site {
    std::map<std::string, std::string> files;  ///< path in the site -> content
    std::vector<Problem> problems;             ///< dead links and other faults of the texts
    std::vector<OutsideLink> outside;          ///< links to files of the source tree
};

/// The page whose headings of level 3 are the terms that the others are linked to.
inline constexpr std::string_view kGlossaryPath = "sim/docs/glossary.md";

/// Every page there is: pages(), and the labs as pages.
std::span<const Source> all_pages();

/// `version` stands at the foot of each page. The same input gives the same bytes.
Site build_site(std::span<const Source> pages, std::span<const Source> assets,
                std::string_view version);

}  // namespace lockstep::docs
