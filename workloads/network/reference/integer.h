// SPDX-License-Identifier: Apache-2.0
// Integers in doubles: the kernels of the floating operators run on them, exactly as long as every
// sum is below 2^53. Products of bytes reach that after 2^37 terms.
#pragma once

#include <optional>
#include <span>

#include "workloads/network/reference/array.h"

namespace lockstep::network::reference {

using Exact = Array<double>;

/// x - zero_point, one zero point for all or one for each slice of `axis`.
template <class Real>
Exact centred(const Array<Real>& x, std::span<const std::int64_t> zero_point,
              std::optional<std::size_t> axis = std::nullopt);

/// The node's operator on such values.
Exact run_exactly(const Graph& graph, const Node& node, std::vector<const Exact*> in, Shape out);

/// Stored integers, with one zero point for all or one for each output channel.
struct IntegerOperand {
    const Shape& shape;
    const std::vector<std::int64_t>& values;
    std::vector<std::int64_t> zero_point;
};

/// What a convolution of bytes adds up: sum (x - zx)(w - zw) + bias[channel] (empty: none).
/// `node` has the attributes of a Conv. InputError naming it where a sum does not fit.
std::vector<std::int32_t> convolve_integers(const Node& node, const IntegerOperand& x,
                                            const IntegerOperand& w,
                                            std::span<const std::int64_t> bias);

/// The same of a product of the rows of x, over its last dimension, with a matrix w (k x n, or
/// `transposed` n x k); w may have a zero point and bias a value for each of the n columns.
std::vector<std::int32_t> multiply_integers(const Node& node, const IntegerOperand& x,
                                            const IntegerOperand& w, bool transposed,
                                            std::span<const std::int64_t> bias);

/// InputError naming the node where the sum does not fit int32.
void check_int32(const Node& node, double sum);
/// The values as int32, checked so.
std::vector<std::int32_t> as_int32(const Node& node, const Exact& sums);

/// Nodes over values with a scale of their own; false: the node's output has none.
template <class Real>
bool run_quantised(const Step<Real>& step);

}  // namespace lockstep::network::reference
