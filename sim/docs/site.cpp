// SPDX-License-Identifier: Apache-2.0
#include "sim/docs/site.h"

#include <deque>

#include "sim/docs/code.h"
#include "sim/docs/glossary.h"
#include "sim/docs/lab_page.h"
#include "sim/docs/layout.h"
#include "sim/docs/search_index.h"

namespace lockstep::docs {

namespace {

/// Code is coloured; wide tables scroll by themselves.
void dress(Page& page) {
    cmark_node* const root = page.document.root();
    for (cmark_node* const node :
         nodes(root, [](cmark_node* candidate) { return is(candidate, CMARK_NODE_CODE_BLOCK); })) {
        const std::string info = cmark_node_get_fence_info(node);
        replace_by_html(
            node, code_block(cmark_node_get_literal(node), info.substr(0, info.find(' '))), "");
    }
    for (cmark_node* const node : nodes(root, [](cmark_node* n) { return is_table(n); }))
        wrap_in_html(node,
                     "<div class=\"wide\" tabindex=\"0\" role=\"group\" aria-label=\"Table\">",
                     "</div>");
}

}  // namespace

std::span<const Source> all_pages() {
    struct Pages {
        std::deque<std::string> texts;  // stay where they are
        std::vector<Source> all;
        Pages() : all(pages().begin(), pages().end()) {
            for (const Source& lab : labs()) {
                const std::string_view stem = lab.path.substr(0, lab.path.rfind('.'));
                const std::string& path = texts.emplace_back(std::string(stem) + ".md");
                all.push_back({path, texts.emplace_back(lab_page(lab.text))});
            }
        }
    };
    static const Pages pages;
    return pages.all;
}

Site build_site(std::span<const Source> sources, std::span<const Source> assets,
                std::string_view version) {
    Site site;
    std::vector<Page> pages;
    for (const Source& source : sources) pages.push_back(read_page(source, site.problems));
    PagesByPath by_path;
    for (const Page& page : pages) by_path.emplace(page.path, &page);
    const auto glossary_page = by_path.find(kGlossaryPath);
    const Glossary glossary =
        glossary_page == by_path.end() ? Glossary() : Glossary(*glossary_page->second);
    const std::vector<Room> rooms = rooms_of(pages);
    const Surroundings surroundings{rooms, by_path, std::string(version)};
    for (Page& page : pages) {
        resolve_links(page, by_path, site.problems, site.outside);
        glossary.link_terms(page);
        dress(page);
        site.files[page.url] = layout(page, surroundings);
    }
    for (const Source& asset : assets) site.files[std::string(asset.path)] = asset.text;
    site.files["site/index.js"] = search_index(rooms);
    return site;
}

}  // namespace lockstep::docs
