// SPDX-License-Identifier: Apache-2.0
// Linear probing at a load of at most one half; entries of earlier generations count as free, so
// that nothing is written when a window ends.
#include "isa/sass/line_index.h"

#include <algorithm>

namespace lockstep::sass {

std::uint32_t LineIndex::find_or_add(std::uint64_t line) {
    std::size_t i = slot_of(line);
    while (table_[i].generation == generation_) {
        if (table_[i].line == line) return table_[i].place;
        i = (i + 1) & (table_.size() - 1);
    }
    if (2 * (size_ + 1) > table_.size()) {
        grow();
        return find_or_add(line);
    }
    table_[i] = {line, generation_, size_};
    lowest_ = std::min(lowest_, line);
    highest_ = std::max(highest_, line);
    return size_++;
}

void LineIndex::grow() {
    std::vector<Entry> old(2 * table_.size());
    old.swap(table_);
    for (const Entry& entry : old) {
        if (entry.generation != generation_) continue;
        std::size_t i = slot_of(entry.line);
        while (table_[i].generation == generation_) i = (i + 1) & (table_.size() - 1);
        table_[i] = entry;
    }
}

void LineIndex::clear() {
    if (size_ == 0) return;
    size_ = 0;
    lowest_ = ~0ull;
    highest_ = 0;
    if (++generation_ != 0) return;
    std::fill(table_.begin(), table_.end(), Entry{});
    generation_ = 1;
}

}  // namespace lockstep::sass
