// SPDX-License-Identifier: Apache-2.0
// One page: its text as a tree, its headings with their anchors, and the parts that a search finds.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "sim/docs/document.h"
#include "sim/docs/source.h"

namespace lockstep::docs {

struct Heading {
    int level = 1;  ///< 1 to 6
    std::string text, anchor;
};

/// What a result of a search leads to: the text below a heading, or a row of a table of names.
struct Section {
    std::string anchor, title, text;
};

/// A fault of a text: "models/gpu/README.md:12" and what it is.
struct Problem {
    std::string place, what;
};

struct Page {
    std::string path;   ///< in the source tree: models/gpu/README.md
    std::string url;    ///< in the site: models/gpu/index.html
    std::string title;  ///< its first heading
    Document document;
    std::vector<Heading> headings;
    std::vector<Section> sections;
    std::set<std::string> anchors;

    std::string place(cmark_node* node) const;  ///< path:line
};

/// Where a page stands in the site: README.md is its folder's index.html, and a folder's leading
/// dot goes, for web servers hide such.
std::string url_of(std::string_view path);

/// GitHub's anchor of a heading: "What's in `x`" is whats-in-x.
std::string anchor_of(std::string_view heading);

/// Reads a page, and gives its headings and the rows of tables of names (whose first cell begins
/// with code) their anchors in the tree. What is wrong goes to `problems`.
Page read_page(const Source& source, std::vector<Problem>& problems);

}  // namespace lockstep::docs
