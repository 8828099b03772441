// SPDX-License-Identifier: Apache-2.0
// Tables of papers, datasheets and other simulators (the .csv files of this folder, built in).
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::validation {

struct PublishedTable {
    std::string_view name;
    std::string_view text;  ///< lines that begin with # say where it comes from
};

std::span<const PublishedTable> published_tables();

/// A table of named columns. Cells are bare text: no quotes, no commas within.
class Table {
  public:
    /// `name` is for messages. Throws InputError with the line where a row has too few or too many
    /// cells.
    Table(std::string_view name, std::string_view text);

    std::size_t rows() const { return cells_.size() / columns_.size(); }
    bool has(std::string_view column) const;
    const std::string& text(std::size_t row, std::string_view column) const;
    /// Throws InputError where the cell is not a number.
    double number(std::size_t row, std::string_view column) const;

  private:
    std::string name_;
    std::vector<std::string> columns_, cells_;
};

/// A built-in table. An unknown name is our bug (InternalError).
Table published_table(std::string_view name);

}  // namespace lockstep::validation
