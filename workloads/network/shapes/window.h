// SPDX-License-Identifier: Apache-2.0
// The sliding windows of convolution and pooling, resolved to numbers.
#pragma once

#include "workloads/network/graph/graph.h"

namespace lockstep::network {

/// Over the spatial dimensions (all after batch and channels), outermost first.
struct SlidingWindow {
    std::vector<std::int64_t> kernel;
    std::vector<std::int64_t> stride;
    std::vector<std::int64_t> dilation;
    std::vector<std::int64_t> pad_begin;
    std::vector<std::int64_t> pad_end;
    std::vector<std::int64_t> output;  ///< the output's spatial extents
    std::int64_t group = 1;
    /// Positions of the window's image for each element of the input, all but the first of them
    /// zero: a transposed convolution. All 1 but where spread_window_of gives it.
    std::vector<std::int64_t> upsample;
    bool is_spread() const;
};

/// The window of a convolution, MaxPool or AveragePool over an input [n, c, spatial...]. For a
/// convolution the kernel's extents are the weight's. InputError where attributes and shapes do not
/// fit.
/// A convolution over a spread image (attribute `upsample`) is refused.
SlidingWindow window_of(const Node& node, const Shape& input, const Shape* weight = nullptr);
/// The same for those who know SlidingWindow::upsample.
SlidingWindow spread_window_of(const Node& node, const Shape& input, const Shape& weight);

}  // namespace lockstep::network
