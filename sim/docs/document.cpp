// SPDX-License-Identifier: Apache-2.0
#include "sim/docs/document.h"

#include <cmark-gfm-core-extensions.h>
#include <cmark-gfm-extension_api.h>

#include <cstdlib>

#include "sim/error/error.h"

namespace lockstep::docs {

namespace {

cmark_syntax_extension* table_extension() {
    static cmark_syntax_extension* const extension = [] {
        cmark_gfm_core_extensions_ensure_registered();
        return cmark_find_syntax_extension("table");
    }();
    LOCKSTEP_CHECK(extension != nullptr, "cmark-gfm has no tables");
    return extension;
}

struct FreeIterator {
    void operator()(cmark_iter* iterator) const { cmark_iter_free(iterator); }
};

bool is_inline(const cmark_node* node) {
    return (cmark_node_get_type(const_cast<cmark_node*>(node)) & CMARK_NODE_TYPE_MASK) ==
           CMARK_NODE_TYPE_INLINE;
}

std::string_view type_name(const cmark_node* node) {
    return cmark_node_get_type_string(const_cast<cmark_node*>(node));
}

}  // namespace

Document::Document(std::string_view markdown) {
    cmark_syntax_extension* const table = table_extension();
    const std::unique_ptr<cmark_parser, void (*)(cmark_parser*)> parser(
        cmark_parser_new(CMARK_OPT_VALIDATE_UTF8), cmark_parser_free);
    cmark_parser_attach_syntax_extension(parser.get(), table);
    cmark_parser_feed(parser.get(), markdown.data(), markdown.size());
    root_.reset(cmark_parser_finish(parser.get()));
    cmark_consolidate_text_nodes(root_.get());
}

std::string Document::html() const {
    cmark_mem* const memory = cmark_get_default_mem_allocator();
    cmark_llist* const extensions = cmark_llist_append(memory, nullptr, table_extension());
    const std::unique_ptr<char, decltype(&std::free)> text(
        cmark_render_html(root_.get(), CMARK_OPT_UNSAFE, extensions), &std::free);
    cmark_llist_free(memory, extensions);
    return text.get();
}

std::vector<cmark_node*> nodes(cmark_node* root, const std::function<bool(cmark_node*)>& wanted) {
    const std::unique_ptr<cmark_iter, FreeIterator> iterator(cmark_iter_new(root));
    std::vector<cmark_node*> found;
    for (cmark_event_type event; (event = cmark_iter_next(iterator.get())) != CMARK_EVENT_DONE;)
        if (event == CMARK_EVENT_ENTER && wanted(cmark_iter_get_node(iterator.get())))
            found.push_back(cmark_iter_get_node(iterator.get()));
    return found;
}

bool is(const cmark_node* node, cmark_node_type type) {
    return cmark_node_get_type(const_cast<cmark_node*>(node)) == type;
}

bool is_table(const cmark_node* node) {
    return type_name(node) == "table";
}

bool is_table_row(const cmark_node* node) {
    return type_name(node) == "table_row";
}

bool is_within(cmark_node* node, cmark_node_type type) {
    for (; node != nullptr; node = cmark_node_parent(node))
        if (is(node, type)) return true;
    return false;
}

std::string text_of(cmark_node* root) {
    std::string text;
    for (cmark_node* const node : nodes(root, [](cmark_node*) { return true; })) {
        const bool starts_block = !is_inline(node) && node != root;
        if ((starts_block || is(node, CMARK_NODE_SOFTBREAK) || is(node, CMARK_NODE_LINEBREAK)) &&
            !text.empty() && text.back() != ' ')
            text += ' ';
        if (is(node, CMARK_NODE_TEXT) || is(node, CMARK_NODE_CODE) ||
            is(node, CMARK_NODE_CODE_BLOCK))
            text += cmark_node_get_literal(node);
    }
    return text;
}

int line_of(cmark_node* node) {
    while (cmark_node_get_start_line(node) == 0 && cmark_node_parent(node) != nullptr)
        node = cmark_node_parent(node);
    return cmark_node_get_start_line(node);
}

void replace_by_html(cmark_node* node, const std::string& before, const std::string& after) {
    if (is_inline(node)) {
        insert_before(node, inline_html(before));
        while (cmark_node* const child = cmark_node_first_child(node)) insert_before(node, child);
        insert_before(node, inline_html(after));
        cmark_node_free(node);
        return;
    }
    cmark_node* const custom = cmark_node_new(CMARK_NODE_CUSTOM_BLOCK);
    cmark_node_set_on_enter(custom, before.c_str());
    cmark_node_set_on_exit(custom, after.c_str());
    LOCKSTEP_CHECK(cmark_node_replace(node, custom) == 1, "a node cannot be replaced");
    while (cmark_node* const child = cmark_node_first_child(node))
        LOCKSTEP_CHECK(cmark_node_append_child(custom, child) == 1, "a node cannot be moved");
    cmark_node_free(node);
}

void wrap_in_html(cmark_node* node, const std::string& before, const std::string& after) {
    cmark_node* const custom = cmark_node_new(CMARK_NODE_CUSTOM_BLOCK);
    cmark_node_set_on_enter(custom, before.c_str());
    cmark_node_set_on_exit(custom, after.c_str());
    LOCKSTEP_CHECK(
        cmark_node_replace(node, custom) == 1 && cmark_node_append_child(custom, node) == 1,
        "a block cannot be wrapped");
}

cmark_node* inline_html(const std::string& html) {
    cmark_node* const node = cmark_node_new(CMARK_NODE_HTML_INLINE);
    cmark_node_set_literal(node, html.c_str());
    return node;
}

cmark_node* plain_text(const std::string& text) {
    cmark_node* const node = cmark_node_new(CMARK_NODE_TEXT);
    cmark_node_set_literal(node, text.c_str());
    return node;
}

void insert_before(cmark_node* node, cmark_node* other) {
    LOCKSTEP_CHECK(cmark_node_insert_before(node, other) == 1, "a {} cannot stand in a {}",
                   type_name(other), type_name(cmark_node_parent(node)));
}

}  // namespace lockstep::docs
