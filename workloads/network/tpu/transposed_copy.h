// SPDX-License-Identifier: Apache-2.0
// Copies whose rows lie across those of their source, on generation 2 and later: tiles are loaded
// as they lie, turned by the vector unit's transposer and stored row by row, so that memory is
// read and written in runs (element by element, each would cost an access of its own). A row of
// one value repeated is a tile whose rows lie upon each other.
#pragma once

#include <vector>

#include "workloads/network/tpu/compilation.h"

namespace lockstep::network::lowering {

/// A dimension of a copy: the strides, in elements, of both sides.
struct CopyLoop {
    std::int64_t extent = 1, source = 1, destination = 1;
};

/// `loops`: outermost first, in the destination's order. False where this is no such copy: the
/// destination's rows are rows of the source, too, or the source has no consecutive elements.
bool copy_transposed(Compilation& c, const Place& from, const Place& to,
                     std::vector<CopyLoop> loops);

}  // namespace lockstep::network::lowering
