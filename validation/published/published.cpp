// SPDX-License-Identifier: Apache-2.0
// Comma-separated text with one line of column names; lines that begin with # are comments.
#include "validation/published/published.h"

#include <algorithm>
#include <charconv>

#include "sim/error/error.h"

namespace lockstep::validation {

Table::Table(std::string_view name, std::string_view text) : name_(name) {
    int number = 0;
    while (!text.empty()) {
        ++number;
        const std::size_t end = std::min(text.find('\n'), text.size());
        std::string_view line = text.substr(0, end);
        text.remove_prefix(std::min(end + 1, text.size()));
        if (line.ends_with('\r')) line.remove_suffix(1);
        if (line.empty() || line.front() == '#') continue;
        const bool is_header = columns_.empty();
        std::vector<std::string>& target = is_header ? columns_ : cells_;
        const std::size_t before = target.size();
        for (std::size_t comma = 0; comma != std::string_view::npos;) {
            comma = line.find(',');
            target.emplace_back(line.substr(0, comma));
            if (comma != std::string_view::npos) line.remove_prefix(comma + 1);
        }
        if (!is_header && target.size() - before != columns_.size())
            throw InputError(fmt::format("{}:{}: {} cells where there are {} columns", name_,
                                         number, target.size() - before, columns_.size()));
    }
    if (columns_.empty()) throw InputError(fmt::format("{}: no line of column names", name_));
}

bool Table::has(std::string_view column) const {
    return std::find(columns_.begin(), columns_.end(), column) != columns_.end();
}

const std::string& Table::text(std::size_t row, std::string_view column) const {
    const auto found = std::find(columns_.begin(), columns_.end(), column);
    LOCKSTEP_CHECK(found != columns_.end(), "table {} has no column {}", name_, column);
    LOCKSTEP_CHECK(row < rows(), "table {} has no row {}", name_, row);
    return cells_[row * columns_.size() + static_cast<std::size_t>(found - columns_.begin())];
}

double Table::number(std::size_t row, std::string_view column) const {
    const std::string& cell = text(row, column);
    double value = 0;
    const auto [end, error] = std::from_chars(cell.data(), cell.data() + cell.size(), value);
    if (error != std::errc{} || end != cell.data() + cell.size())
        throw InputError(
            fmt::format("{}: row {}, {}: '{}' is not a number", name_, row + 1, column, cell));
    return value;
}

Table published_table(std::string_view name) {
    for (const PublishedTable& table : published_tables())
        if (table.name == name) return Table(table.name, table.text);
    internal_error(__FILE__, __LINE__, fmt::format("no published table {}", name));
}

}  // namespace lockstep::validation
