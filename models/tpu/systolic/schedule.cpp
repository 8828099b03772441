// SPDX-License-Identifier: Apache-2.0
// PE (r, c) does at cycle b + s + r + c what PE (0, 0) does at step s of a fold that begins at b:
// everything, the loading of the held tile and the control included, moves as one skewed wave
// (Kung 1982; the control wave as in Gemmini's `propagate`). So a fold is rows + stream steps, and
// ends rows + columns - 2 cycles after its last step at PE (0, 0):
//   ws, is: rows steps to load, then stream;   os: stream, then rows steps to unload.
// kNone is SCALE-Sim's assumption, kDrain SCALE-Sim v1's for ws, kDouble the TPU's (ISCA 2017):
// weights shift in while the last tile computes and "take effect with the advancing wave".
#include "models/tpu/systolic/schedule.h"

#include <algorithm>

#include "sim/error/error.h"

namespace lockstep::tpu {

Overlap parse_overlap(std::string_view text) {
    for (const Overlap overlap : {Overlap::kNone, Overlap::kDrain, Overlap::kDouble})
        if (text == overlap_name(overlap)) return overlap;
    throw InputError(fmt::format("array.overlap: '{}' is none of none, drain and double", text));
}

std::string_view overlap_name(Overlap overlap) {
    switch (overlap) {
        case Overlap::kNone:
            return "none";
        case Overlap::kDrain:
            return "drain";
        case Overlap::kDouble:
            return "double";
    }
    internal_error(__FILE__, __LINE__, "no such overlap");
}

TileTiming tile_timing(const ArrayShape& array, Overlap overlap, std::int64_t stream) {
    const bool is_os = array.dataflow == Dataflow::kOutputStationary;
    TileTiming timing;
    timing.load = is_os ? 0 : array.rows;
    timing.stream = stream;
    timing.unload = is_os ? array.rows : 0;
    timing.skew = array.rows + array.columns - 2;
    timing.first_result = is_os ? stream + array.rows : array.rows + array.rows;
    switch (overlap) {
        case Overlap::kNone:
            timing.interval = timing.latency();
            break;
        case Overlap::kDrain:
            timing.interval = array.rows + stream;
            break;
        case Overlap::kDouble:
            timing.interval = std::max(array.rows, stream);
            break;
    }
    return timing;
}

std::int64_t total_cycles(const ArrayShape& array, Overlap overlap, std::int64_t stream,
                          std::int64_t tiles) {
    const TileTiming timing = tile_timing(array, overlap, stream);
    return tiles == 0 ? 0 : (tiles - 1) * timing.interval + timing.latency();
}

}  // namespace lockstep::tpu
