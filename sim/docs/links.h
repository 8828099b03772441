// SPDX-License-Identifier: Apache-2.0
// Links of the texts become links of the site. Each is checked: the page, and the anchor in it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "sim/docs/page.h"

namespace lockstep::docs {

using PagesByPath = std::map<std::string, const Page*, std::less<>>;

/// A link to a file or folder of the source tree that is no page: the site has no such file.
struct OutsideLink {
    std::string place;  ///< path:line
    std::string path;   ///< in the source tree
};

/// `to` as a link from the page `from`; both are files of the site.
std::string relative_url(std::string_view from, std::string_view to);

/// Rewrites the links of a page. Those to other sites stay as they are; those to files that are no
/// pages become text and go to `outside`; code that is the path of a page becomes a link to it.
void resolve_links(Page& page, const PagesByPath& pages, std::vector<Problem>& problems,
                   std::vector<OutsideLink>& outside);

}  // namespace lockstep::docs
