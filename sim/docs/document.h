// SPDX-License-Identifier: Apache-2.0
// A Markdown text as a tree (cmark-gfm: CommonMark and GitHub's tables), and what is done to it.
#pragma once

#include <cmark-gfm.h>

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::docs {

class Document {
  public:
    explicit Document(std::string_view markdown);

    cmark_node* root() const { return root_.get(); }
    /// The tree as HTML. HTML nodes are written as they are: read_page() leaves none of the text's.
    std::string html() const;

  private:
    struct Free {
        void operator()(cmark_node* node) const { cmark_node_free(node); }
    };
    std::unique_ptr<cmark_node, Free> root_;
};

/// All nodes at and under `root` for which `wanted` holds, in the order of the text. They may be
/// changed or taken out afterwards.
std::vector<cmark_node*> nodes(cmark_node* root, const std::function<bool(cmark_node*)>& wanted);

bool is(const cmark_node* node, cmark_node_type type);
bool is_table(const cmark_node* node);
bool is_table_row(const cmark_node* node);  ///< not the table's head
/// True where `node` or one around it is of this type.
bool is_within(cmark_node* node, cmark_node_type type);

/// The words of a node without their marks; blocks and cells are separated by spaces.
std::string text_of(cmark_node* node);

/// The line of the text that a node begins at.
int line_of(cmark_node* node);

/// Puts HTML in the place of a node: `before`, its children, `after`.
void replace_by_html(cmark_node* node, const std::string& before, const std::string& after);
/// Puts HTML around a block.
void wrap_in_html(cmark_node* node, const std::string& before, const std::string& after);

/// New nodes of a line, to be put into the tree.
cmark_node* inline_html(const std::string& html);
cmark_node* plain_text(const std::string& text);
void insert_before(cmark_node* node, cmark_node* other);

}  // namespace lockstep::docs
