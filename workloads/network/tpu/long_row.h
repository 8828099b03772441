// SPDX-License-Identifier: Apache-2.0
// A long row as a reduction joins it: piece upon piece as rows, the last one across its lanes.
#pragma once

#include <functional>

#include "workloads/network/tpu/compilation.h"

namespace lockstep::network::lowering {

/// Its pieces of kPiece elements, of which some pass at a time.
struct PassingPieces {
    static constexpr std::int64_t kPiece = 1024;

    std::int64_t count = 0, at_a_time = 0;
    std::uint64_t beside = 0;  ///< bytes of the unified buffer that stay while they pass
    std::function<void(std::uint64_t address)> begin = [](std::uint64_t) {};
    /// The pieces from `first` on.
    std::function<BufferRows(std::int64_t first, std::int64_t count)> make;
};
/// Whether the node is a reduction that joins each row to an element.
bool joins_rows(const Compilation& c, const Node& node);
/// Joins all elements of whole pieces to the only element of `to`.
void reduce_pieces(Compilation& c, const Node& node, const PassingPieces& pieces, const Matrix& to);

}  // namespace lockstep::network::lowering
