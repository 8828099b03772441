// SPDX-License-Identifier: Apache-2.0
#include "sim/docs/page.h"

#include <fmt/format.h>

#include <cctype>

#include "sim/html/plot.h"

namespace lockstep::docs {

namespace {

/// The anchor, with a number behind it where the page has that one already.
std::string take_anchor(Page& page, const std::string& text) {
    const std::string anchor = anchor_of(text);
    std::string unique = anchor;
    for (int i = 1; !page.anchors.insert(unique).second; ++i)
        unique = fmt::format("{}-{}", anchor, i);
    return unique;
}

cmark_node* first_code(cmark_node* row) {
    cmark_node* const cell = cmark_node_first_child(row);
    cmark_node* const first = cell == nullptr ? nullptr : cmark_node_first_child(cell);
    return first != nullptr && is(first, CMARK_NODE_CODE) ? first : nullptr;
}

/// "# models/gpu: GPUs" of models/gpu/README.md is "GPUs" in the site, which shows the path anyway.
void drop_path(const Page& page, cmark_node* title) {
    const std::string prefix = page.path.substr(0, page.path.rfind('/')) + ": ";
    cmark_node* const first = cmark_node_first_child(title);
    if (first == nullptr || !is(first, CMARK_NODE_TEXT)) return;
    std::string text = cmark_node_get_literal(first);
    if (!text.starts_with(prefix) || text.size() == prefix.size()) return;
    text.erase(0, prefix.size());
    text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
    cmark_node_set_literal(first, text.c_str());
}

void add_heading(Page& page, cmark_node* node) {
    if (page.title.empty()) drop_path(page, node);
    const std::string text = text_of(node);
    const Heading heading{cmark_node_get_heading_level(node), text, take_anchor(page, text)};
    if (page.title.empty() && heading.level == 1) page.title = text;
    page.headings.push_back(heading);
    page.sections.push_back({heading.anchor, text, ""});
    const std::string tag = fmt::format("h{}", heading.level);
    const std::string link =
        heading.level == 1
            ? ""
            : fmt::format("<a class=\"anchor\" href=\"#{}\" aria-label=\"Link to {}\">#</a>",
                          heading.anchor, html::escape(text));
    replace_by_html(node, fmt::format("<{} id=\"{}\">", tag, heading.anchor),
                    fmt::format("{}</{}>", link, tag));
}

/// A row that is named by code can be led to.
void add_row(Page& page, cmark_node* row, cmark_node* code) {
    const std::string anchor = take_anchor(page, cmark_node_get_literal(code));
    cmark_node* const cell = cmark_node_first_child(row);
    std::string text;
    for (cmark_node* other = cmark_node_next(cell); other != nullptr;
         other = cmark_node_next(other))
        text += text_of(other) + ' ';
    page.sections.push_back({anchor, text_of(cell), text});
    insert_before(code, inline_html(fmt::format("<span id=\"{}\"></span>", anchor)));
}

/// The rows that are named stand for themselves; the others' text is returned.
std::string add_table(Page& page, cmark_node* table) {
    std::string rest;
    for (cmark_node* row = cmark_node_first_child(table); row != nullptr;
         row = cmark_node_next(row)) {
        cmark_node* const code = is_table_row(row) ? first_code(row) : nullptr;
        if (code == nullptr)
            rest += text_of(row) + ' ';
        else
            add_row(page, row, code);
    }
    return rest;
}

/// HTML of the text stands there as text.
void show_html(Page& page, std::vector<Problem>& problems) {
    const auto is_html = [](cmark_node* node) {
        return is(node, CMARK_NODE_HTML_BLOCK) || is(node, CMARK_NODE_HTML_INLINE);
    };
    for (cmark_node* const node : nodes(page.document.root(), is_html)) {
        const std::string text = cmark_node_get_literal(node);
        problems.push_back(
            {page.place(node), fmt::format("HTML is not shown; put {} into backticks", text)});
        if (is(node, CMARK_NODE_HTML_BLOCK)) {
            replace_by_html(node, "<pre>" + html::escape(text), "</pre>");
            continue;
        }
        insert_before(node, plain_text(text));
        cmark_node_free(node);
    }
}

}  // namespace

std::string Page::place(cmark_node* node) const {
    return fmt::format("{}:{}", path, line_of(node));
}

std::string url_of(std::string_view path) {
    std::string url(path.starts_with('.') ? path.substr(1) : path);
    const std::size_t name = url.rfind('/') + 1;
    if (url.substr(name) == "README.md") return url.replace(name, std::string::npos, "index.html");
    return url.replace(url.rfind('.'), std::string::npos, ".html");
}

std::string anchor_of(std::string_view heading) {
    std::string anchor;
    for (const char c : heading) {
        const auto byte = static_cast<unsigned char>(c);
        if (c == ' ')
            anchor += '-';
        else if (byte >= 0x80 || std::isalnum(byte) != 0 || c == '-' || c == '_')
            anchor += static_cast<char>(std::tolower(byte));
    }
    return anchor;
}

Page read_page(const Source& source, std::vector<Problem>& problems) {
    Page page{.path = std::string(source.path),
              .url = url_of(source.path),
              .title = "",
              .document = Document(source.text)};
    show_html(page, problems);
    const auto is_block = [&](cmark_node* node) {
        return cmark_node_parent(node) == page.document.root();
    };
    std::size_t below = 0;  // the heading's section that text belongs to
    for (cmark_node* const node : nodes(page.document.root(), is_block)) {
        if (is(node, CMARK_NODE_HEADING)) {
            below = page.sections.size();
            add_heading(page, node);
        } else if (page.sections.empty()) {
            problems.push_back({page.place(node), "a page begins with its title: # Title"});
            break;
        } else {
            const std::string text = is_table(node) ? add_table(page, node) : text_of(node) + ' ';
            page.sections[below].text += text;
        }
    }
    if (page.title.empty()) page.title = page.path;
    return page;
}

}  // namespace lockstep::docs
