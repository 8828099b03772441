// SPDX-License-Identifier: Apache-2.0
// How a value's elements lie in a memory, as strides: reshaping, transposition, slicing and
// splitting only change the view. Images lie as NHWC though the graph says NCHW: their channels
// have the stride 1.
#pragma once

#include <concepts>
#include <cstdint>
#include <optional>
#include <vector>

#include "workloads/network/graph/tensor.h"

namespace lockstep::network::compile {

struct View {
    Shape shape;                        ///< the graph's
    std::vector<std::int64_t> strides;  ///< elements; 0 where one value is used for all
    Shape image;  ///< c, h, w where the last dimension is a flattened NHWC image
};

/// Rows of consecutive elements, all positions in elements.
struct RowRange {
    std::int64_t offset = 0;  ///< of the first, from the view's first element
    std::int64_t rows = 1, columns = 1;
    std::int64_t pitch = 1;  ///< from row to row
};

std::vector<std::int64_t> dense_strides(const Shape& shape);
/// NHWC strides of an NCHW shape.
std::vector<std::int64_t> image_strides(const Shape& nchw);
/// Strides with which `shape`, of as many dimensions, lies in the order in which the view does.
std::vector<std::int64_t> strides_like(const View& view, const Shape& shape);
bool is_dense(const View& view);  ///< its elements fill a range, in any order of dimensions

/// The value as rows of its last dimension, in as few ranges as the strides allow. Nothing where
/// the last dimension is not consecutive.
std::optional<std::vector<RowRange>> row_ranges(const View& view);

// What these give lies where `view` does: a machine's place, which is a View with an address, stays
// a place there.
View view_in_memory_order(const View& view);
std::optional<View> reshaped_view(const View& view, const Shape& shape);
View permuted_view(const View& view, const std::vector<std::int64_t>& perm);

/// The dimensions in the order of their strides, those of extent 1 left out.
template <std::derived_from<View> P>
P in_memory_order(P place) {
    static_cast<View&>(place) = view_in_memory_order(place);
    return place;
}

/// The same elements in another shape, without moving any; nothing where that cannot be.
template <std::derived_from<View> P>
std::optional<P> reshaped(P place, const Shape& shape) {
    std::optional<View> view = reshaped_view(place, shape);
    if (!view) return std::nullopt;
    static_cast<View&>(place) = *std::move(view);
    return place;
}

template <std::derived_from<View> P>
P permuted(P place, const std::vector<std::int64_t>& perm) {
    static_cast<View&>(place) = permuted_view(place, perm);
    return place;
}

}  // namespace lockstep::network::compile
