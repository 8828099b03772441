// SPDX-License-Identifier: Apache-2.0
// When what happens in the array: a fold as a wave of steps, and how far folds overlap.
#pragma once

#include "models/tpu/systolic/shape.h"
#include "sim/config/schema.h"

namespace lockstep::tpu {

/// What the next fold may do while the array still works on this one.
enum class Overlap : std::uint8_t {
    kNone,    ///< nothing: folds are strictly serial
    kDrain,   ///< its wave follows directly behind: fill and drain are hidden
    kDouble,  ///< its held tile is also loaded meanwhile (ws, is), or the results of this one leave
              ///< meanwhile (os): the PEs have a second register
};

/// "none", "drain" or "double". Throws InputError on anything else.
Overlap parse_overlap(std::string_view text);
inline constexpr config::Choice kOverlaps[] = {
    {"none", "it waits for its end"},
    {"drain", "fill and drain are hidden"},
    {"double", "the exchange of what the array holds, too"}};
std::string_view overlap_name(Overlap overlap);

/// One operation of the array on one tile: `stream` vectors through PEs that hold a tile of
/// rows x columns (ws, is), or that add up a tile of results (os). In cycles; partial tiles cost
/// what full ones do, as the tile is padded with zeros.
struct TileTiming {
    std::int64_t load = 0;    ///< the held tile's rows enter, one a cycle (ws, is); os: 0
    std::int64_t stream = 0;  ///< vectors enter, one a cycle
    std::int64_t unload =
        0;                  ///< results leave, a row a cycle (os); ws, is: 0, they leave streaming
    std::int64_t skew = 0;  ///< what the far corner is behind the first PE: rows + columns - 2
    /// From this tile's first cycle to the next one's.
    std::int64_t interval = 0;

    /// From the first cycle to the one in which the last result leaves, both included.
    std::int64_t latency() const { return load + stream + unload + skew; }
    /// After how many cycles the first result has left (ws, is: of column 0; os: row rows - 1).
    std::int64_t first_result = 0;
};

/// `stream` >= 1.
TileTiming tile_timing(const ArrayShape& array, Overlap overlap, std::int64_t stream);

/// Cycles of `tiles` operations of equal length one after the other, first to last included.
std::int64_t total_cycles(const ArrayShape& array, Overlap overlap, std::int64_t stream,
                          std::int64_t tiles);

}  // namespace lockstep::tpu
