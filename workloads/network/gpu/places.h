// SPDX-License-Identifier: Apache-2.0
// Strides of several operands over the same elements, brought to few dimensions.
#pragma once

#include <optional>
#include <vector>

#include "sim/error/error.h"
#include "workloads/cuda/network/arguments.h"
#include "workloads/network/gpu/executable.h"

namespace lockstep::network::gpu {

kernels::Divider divider_of(std::int64_t divisor);
kernels::Type type_of(ElementType type);

/// Dimensions, outermost first, and the strides of each operand along them.
struct Loops {
    Shape extents;
    std::vector<std::vector<std::int64_t>> strides;  ///< [operand][dimension]

    std::int64_t count() const { return element_count(extents); }
    /// Adds an operand by its strides along all dimensions.
    void add(std::vector<std::int64_t> operand) { strides.push_back(std::move(operand)); }
    /// Without extents of 1, and with dimensions joined that follow each other in all operands.
    Loops joined() const;
    /// The dimensions in the order of the first operand's strides, the largest first.
    Loops sorted() const;
};

/// Strides over `out` of an operand that is broadcast to it.
std::vector<std::int64_t> broadcast_strides(const compile::View& operand, const Shape& out);

/// A vector as it is broadcast along one dimension of `out`.
compile::View along_axis(const compile::View& vector, std::size_t axis, const Shape& out);

/// The one stride with which these dimensions follow each other, as one of them would; 0 where
/// there is one element.
std::optional<std::int64_t> single_stride(const Shape& extents,
                                          const std::vector<std::int64_t>& strides);

bool is_row_major(const compile::View& view);

/// Fours of the innermost dimension can be accessed at once: it is the last of `strides`.
bool is_vector(const Place& place, const std::vector<std::int64_t>& strides);

/// Copies numbers into an array of a kernel's parameters, to its end; the rest is `rest`.
template <std::size_t N, class T>
void put_last(T (&to)[N], const std::vector<std::int64_t>& from, T rest) {
    LOCKSTEP_CHECK(from.size() <= N, "{} dimensions", from.size());
    for (T& x : to) x = rest;
    for (std::size_t i = 0; i < from.size(); ++i) to[N - from.size() + i] = static_cast<T>(from[i]);
}
template <std::size_t N>
void put_last(kernels::Divider (&to)[N], const std::vector<std::int64_t>& from) {
    LOCKSTEP_CHECK(from.size() <= N, "{} dimensions", from.size());
    for (kernels::Divider& x : to) x = {};
    for (std::size_t i = 0; i < from.size(); ++i) to[N - from.size() + i] = divider_of(from[i]);
}

}  // namespace lockstep::network::gpu
