// SPDX-License-Identifier: Apache-2.0
#include "sim/docs/glossary.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

#include "sim/docs/links.h"
#include "sim/html/plot.h"

namespace lockstep::docs {

namespace {

char small(char c) {
    return static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
}

bool is_part_of_word(char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || c == '-';
}

/// SM, Tensor Core, Tile: a tile is something else.
bool is_proper(const std::string& name) {
    return name[0] >= 'A' && name[0] <= 'Z';
}

std::vector<std::string> split_names(const std::string& heading) {
    std::vector<std::string> names;
    for (std::size_t at = 0; at < heading.size();) {
        const std::size_t end = std::min(heading.find(", ", at), heading.size());
        names.push_back(heading.substr(at, end - at));
        at = end + 2;
    }
    return names;
}

bool is_in_prose(cmark_node* text) {
    for (cmark_node* node = text; node != nullptr; node = cmark_node_parent(node))
        if (is(node, CMARK_NODE_LINK) || is_table(node) || is(node, CMARK_NODE_CUSTOM_BLOCK))
            return false;
    return true;
}

}  // namespace

Glossary::Glossary(const Page& page) : url_(page.url) {
    for (const Section& section : page.sections) {
        const auto heading =
            std::find_if(page.headings.begin(), page.headings.end(),
                         [&](const Heading& h) { return h.anchor == section.anchor; });
        if (heading == page.headings.end() || heading->level != 3) continue;
        std::string meaning = section.text;
        while (meaning.ends_with(' ')) meaning.pop_back();
        terms_.push_back({section.anchor, meaning, split_names(section.title)});
    }
    for (std::size_t term = 0; term < terms_.size(); ++term)
        for (const std::string& name : terms_[term].names) {
            Name entry{name, term, is_proper(name)};
            if (!entry.is_exact)
                std::transform(name.begin(), name.end(), entry.text.begin(), small);
            names_[small(name[0])].push_back(entry);
        }
    for (auto& [letter, names] : names_)
        std::stable_sort(names.begin(), names.end(), [](const Name& a, const Name& b) {
            return std::pair(a.text.size(), a.is_exact) > std::pair(b.text.size(), b.is_exact);
        });
}

const Glossary::Name* Glossary::name_at(const std::string& text, std::size_t at,
                                        std::size_t& length) const {
    const auto names = names_.find(small(text[at]));
    if (names == names_.end()) return nullptr;
    for (const Name& name : names->second) {
        const std::size_t size = name.text.size();
        if (at + size > text.size()) continue;
        const bool is_same = std::equal(
            name.text.begin(), name.text.end(), text.begin() + static_cast<std::ptrdiff_t>(at),
            [&](char a, char b) { return a == (name.is_exact ? b : small(b)); });
        if (!is_same) continue;
        length = size;
        if (at + length < text.size() && text[at + length] == 's') ++length;
        if (at + length == text.size() || !is_part_of_word(text[at + length])) return &name;
    }
    return nullptr;
}

std::vector<Glossary::Found> Glossary::find(const std::string& text,
                                            std::set<std::size_t>& used) const {
    std::vector<Found> found;
    for (std::size_t at = 0; at < text.size(); ++at) {
        if (at > 0 && is_part_of_word(text[at - 1])) continue;
        std::size_t length = 0;
        const Name* const name = name_at(text, at, length);
        if (name == nullptr) continue;
        if (used.insert(name->term).second) found.push_back({at, length, name->term});
        at += length - 1;
    }
    return found;
}

std::string Glossary::opening(const Page& page, const Term& term) const {
    const std::string base = page.url == url_ ? "" : relative_url(page.url, url_);
    return fmt::format("<a class=\"term\" href=\"{}#{}\" data-meaning=\"{}\">", base, term.anchor,
                       html::escape(term.meaning));
}

void Glossary::link_text(cmark_node* node, const Page& page, std::set<std::size_t>& used) const {
    const std::string text = cmark_node_get_literal(node);
    const std::vector<Found> found = find(text, used);
    if (found.empty()) return;
    const auto add = [&](std::size_t from, std::size_t to) {
        if (from < to) insert_before(node, plain_text(text.substr(from, to - from)));
    };
    std::size_t at = 0;
    for (const Found& use : found) {
        add(at, use.at);
        insert_before(node, inline_html(opening(page, terms_[use.term])));
        add(use.at, use.at + use.length);
        insert_before(node, inline_html("</a>"));
        at = use.at + use.length;
    }
    add(at, text.size());
    cmark_node_free(node);
}

void Glossary::link_terms(Page& page) const {
    std::set<std::size_t> used;
    std::size_t own = 0;
    for (cmark_node* const node : nodes(page.document.root(), [](cmark_node* candidate) {
             return is(candidate, CMARK_NODE_PARAGRAPH) || is(candidate, CMARK_NODE_CUSTOM_BLOCK);
         })) {
        if (is(node, CMARK_NODE_CUSTOM_BLOCK)) {  // a heading, by now
            if (page.url != url_) continue;
            const std::string name = text_of(node);
            const auto term = std::find_if(terms_.begin(), terms_.end(), [&](const Term& t) {
                return split_names(name) == t.names;
            });
            own = static_cast<std::size_t>(term - terms_.begin());
            used = {own};
            continue;
        }
        for (cmark_node* const text : nodes(node, [](cmark_node* candidate) {
                 return is(candidate, CMARK_NODE_TEXT) && is_in_prose(candidate);
             }))
            link_text(text, page, used);
    }
}

}  // namespace lockstep::docs
