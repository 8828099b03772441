// SPDX-License-Identifier: Apache-2.0
// Rows of a tensor, along any of its dimensions.
#pragma once

#include <algorithm>
#include <vector>

#include "workloads/network/gpu/lowering.h"

namespace lockstep::network::gpu {

/// The dimensions of a tensor that are kept, and those that a row runs along.
struct Split {
    Shape kept, along;
    std::vector<std::size_t> kept_axes, along_axes;
    Split(const Shape& shape, const std::vector<std::size_t>& axes) {
        for (std::size_t d = 0; d < shape.size(); ++d) {
            const bool is_along = std::ranges::find(axes, d) != axes.end();
            (is_along ? along : kept).push_back(shape[d]);
            (is_along ? along_axes : kept_axes).push_back(d);
        }
    }
    static std::vector<std::int64_t> chosen(const std::vector<std::int64_t>& strides,
                                            const std::vector<std::size_t>& axes) {
        std::vector<std::int64_t> result;
        for (const std::size_t d : axes) result.push_back(strides[d]);
        return result;
    }
    std::vector<std::int64_t> kept_of(const compile::View& view) const {
        return chosen(view.strides, kept_axes);
    }
    std::vector<std::int64_t> along_of(const compile::View& view) const {
        return chosen(view.strides, along_axes);
    }
};

inline std::vector<std::size_t> all_from(std::size_t axis, std::size_t rank) {
    std::vector<std::size_t> axes;
    for (std::size_t d = axis; d < rank; ++d) axes.push_back(d);
    return axes;
}

inline std::size_t rank_of(const Lowering& l, const Node& node) {
    return l.graph().shape(node.inputs[0]).size();
}

/// Blocks of whole warps, as many threads as a row has elements, at most 256.
inline Lowering::Shape3 block_for_rows(std::int64_t rows, std::int64_t extent) {
    const std::int64_t threads = std::clamp<std::int64_t>((extent + 31) / 32 * 32, 32, 256);
    return {
        {static_cast<std::uint32_t>(rows), 1, 1}, {static_cast<std::uint32_t>(threads), 1, 1}, 0};
}

}  // namespace lockstep::network::gpu
