// SPDX-License-Identifier: Apache-2.0
// The matrix products in a network: what an array of multipliers has to do.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "workloads/network/graph/graph.h"
#include "workloads/network/shapes/window.h"

namespace lockstep::network {

/// A convolution over two spatial dimensions, of one of its groups.
struct Convolution {
    std::int64_t batch = 1, channels = 1, height = 1, width = 1;
    std::int64_t filters = 1;
    SlidingWindow window;  ///< two extents each
};

/// `count` products of m x k with k x n, independent of each other or one after the other. A
/// convolution is one as im2col makes it: m positions of the filter, n filters, k elements of each
/// (channel by channel, row by row), for each of `count` groups.
struct MatrixProduct {
    std::string name;  ///< the node's
    std::int64_t m = 1, n = 1, k = 1;
    std::int64_t count = 1;
    std::optional<Convolution> convolution;
    std::int64_t macs() const { return m * n * k * count; }
};

/// The products of all nodes whose operator has a ProductForm, in the order of the nodes. Shapes
/// must be inferred. InputError on a convolution that is not over two dimensions.
std::vector<MatrixProduct> matrix_products(const Graph& graph);

}  // namespace lockstep::network
