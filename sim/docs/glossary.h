// SPDX-License-Identifier: Apache-2.0
// The glossary: terms with their meaning, linked from every page where a term is first used.
#pragma once

#include <map>
#include <set>
#include <string>
#include <vector>

#include "sim/docs/page.h"

namespace lockstep::docs {

/// "### warp scheduler, warp schedulers" and the paragraph below it.
struct Term {
    std::string anchor, meaning;
    std::vector<std::string> names;  ///< the heading's, by commas
};

class Glossary {
  public:
    Glossary() = default;
    /// The terms of the glossary's page: its headings of level 3.
    explicit Glossary(const Page& page);

    const std::vector<Term>& terms() const { return terms_; }

    /// Links the first use of each term on a page, in paragraphs alone: headings, tables, code and
    /// links stay as they are. A name is found in any case and with an s behind it; one that begins
    /// with a capital (SM, Tile) only as it stands. In the glossary itself each meaning is taken as
    /// a page.
    void link_terms(Page& page) const;

  private:
    struct Name {
        std::string text;  ///< in small letters, unless it is exact
        std::size_t term;
        bool is_exact;
    };
    struct Found {
        std::size_t at, length;
        std::size_t term;
    };
    std::vector<Found> find(const std::string& text, std::set<std::size_t>& used) const;
    const Name* name_at(const std::string& text, std::size_t at, std::size_t& length) const;
    void link_text(cmark_node* node, const Page& page, std::set<std::size_t>& used) const;
    std::string opening(const Page& page, const Term& term) const;

    std::string url_;
    std::vector<Term> terms_;
    std::map<char, std::vector<Name>> names_;  ///< by first letter (small), longest first
};

}  // namespace lockstep::docs
