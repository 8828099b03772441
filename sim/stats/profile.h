// SPDX-License-Identifier: Apache-2.0
// What a launch did by instruction: as a profiler's source page shows it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace lockstep::stats {

struct Profile {
    struct Row {
        std::string function;
        std::uint64_t pc = 0;  ///< bytes from the function's begin
        std::string sass;
        std::string source;  ///< "file.cu:12", where the cubin says (nvcc -lineinfo); else ""
        std::vector<std::uint64_t> values;  ///< of each column
    };
    std::vector<std::string> columns;  ///< names, as of metrics
    std::vector<Row> rows;             ///< by function and pc; those that no warp came to as well

    /// The place of a column; columns.size() where there is none.
    std::size_t column(std::string_view name) const;
    /// 0 where there is no such column.
    std::uint64_t value(const Row& row, std::string_view name) const;
    /// Cycles of warps that waited there, whatever for.
    std::uint64_t stalled(const Row& row) const;
};

/// A line for each instruction: issues, the share of all waiting, what for most, sectors a request,
/// bank conflicts.
std::string source_text(const Profile& profile);

}  // namespace lockstep::stats
