// SPDX-License-Identifier: Apache-2.0
// A Conv, Gemm or MatMul as the kernels see it: one product of rows by columns over k, in batches.
#pragma once

#include <algorithm>
#include <initializer_list>
#include <vector>

#include "workloads/network/gpu/lowering.h"

namespace lockstep::network::gpu {

/// How the dimensions of a product's result are rows, columns and batches of it.
struct Axes {
    std::vector<std::size_t> rows;
    std::size_t column = 0;
    std::vector<std::size_t> batches;
};

/// A product without its epilogue's steps.
struct Problem {
    kernels::Product p;
    std::vector<std::int64_t> out;  ///< strides of the result
    Axes axes;
    std::vector<std::int64_t> batches;  ///< extents of the batch dimensions
    std::uint64_t macs = 0;
    bool is_matrix = true;  ///< A is a matrix, not an image with a window
};

inline bool all_multiples(std::initializer_list<std::int64_t> numbers, std::int64_t of) {
    return std::ranges::all_of(numbers, [of](std::int64_t number) { return number % of == 0; });
}

Problem problem_of(Lowering& l, const Node& node);

/// A convolution of each channel by itself, which has kernels of its own.
bool is_depthwise(const Graph& graph, const Node& node);
/// Of it only how the result's dimensions are rows and columns.
Problem depthwise_problem(const Lowering& l, const Node& node);
void launch_depthwise(Lowering& l, const Node& node, const Problem& problem, const Place& out);

}  // namespace lockstep::network::gpu
