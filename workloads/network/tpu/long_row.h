// SPDX-License-Identifier: Apache-2.0
// A long row as a reduction joins it: piece upon piece as rows, the last one across its lanes.
#pragma once

#include <functional>

#include "workloads/network/tpu/loop.h"

namespace lockstep::network::lowering {

/// Its pieces, of which some pass at a time.
struct PassingPieces {
    static constexpr std::int64_t kPiece = 1024;
    /// Elements of a piece: kPiece, or half the lanes of registers that tiles fill by half.
    static std::int64_t columns_of(bool half_tiles) { return half_tiles ? kHalfLanes : kPiece; }

    std::int64_t count = 0, at_a_time = 0, columns = kPiece;
    std::uint64_t beside = 0;  ///< bytes of the unified buffer that stay while they pass
    std::function<void(std::uint64_t address)> begin = [](std::uint64_t) {};
    /// What is computed of the pieces from `first` on.
    std::function<Loop(std::int64_t first, std::int64_t count)> make;
};
/// Whether the node is a reduction that joins each row to an element.
bool joins_rows(const Compilation& c, const Node& node);
/// Joins all elements of whole pieces to the only element of `to`.
void reduce_pieces(Compilation& c, const Node& node, const PassingPieces& pieces, const Matrix& to);

}  // namespace lockstep::network::lowering
