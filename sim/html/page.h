// SPDX-License-Identifier: Apache-2.0
// A page that needs nothing else: its style for light and dark, and a script of few lines that
// sorts its tables. Without the script all is shown in the order written.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::html {

/// The whole document. `style` and `script` stand behind those that every page has.
std::string page(std::string_view title, std::string_view body, std::string_view style = "",
                 std::string_view script = "");

struct Column {
    std::string name;
    bool is_number = false;  ///< stands at the right; sorted by value
    std::string title;       ///< shown when the heading is pointed at
};

/// A table whose headings sort it. Cells are HTML.
class Table {
  public:
    explicit Table(std::vector<Column> columns, std::string_view id = "");
    void row(std::span<const std::string> cells, std::string_view style = "");
    void row(std::initializer_list<std::string> cells, std::string_view style = "") {
        row(std::span(cells.begin(), cells.size()), style);
    }
    std::string text() const;

  private:
    std::vector<Column> columns_;
    std::string id_, rows_;
};

}  // namespace lockstep::html
