// SPDX-License-Identifier: Apache-2.0
// Values while the reference executor runs: Real for floating types, int64 for all others.
#pragma once

#include <type_traits>
#include <vector>

#include "workloads/network/graph/graph.h"
#include "workloads/network/reference/quantised.h"

namespace lockstep::network::reference {

template <class Real>
struct Array {
    Shape shape;
    ElementType type = ElementType::kFp32;
    std::vector<Real> real;             ///< where is_floating(type)
    std::vector<std::int64_t> integer;  ///< otherwise

    template <class T>
    std::vector<T>& values() {
        if constexpr (std::is_floating_point_v<T>)
            return real;
        else
            return integer;
    }
    template <class T>
    const std::vector<T>& values() const {
        return const_cast<Array*>(this)->template values<T>();
    }
    std::size_t size() const { return is_floating(type) ? real.size() : integer.size(); }
};

/// One node's run. Outputs have their types, shapes and sizes, and zeros.
template <class Real>
struct Step {
    const Graph& graph;
    const Node& node;
    std::vector<const Array<Real>*> in;  ///< null where left out
    std::vector<Array<Real>*> out;       ///< null where left out
    Requantisation requantisation = Requantisation::kFixedPoint;

    bool has(std::size_t i) const { return i < in.size() && in[i] != nullptr; }
    const std::vector<Real>& real(std::size_t i) const { return in[i]->real; }
};

// The kernels that operators.table names, one family of operators a file; false: not on elements of
// this type.
template <class Real>
bool run_elementwise(const Step<Real>& step);
template <class Real>
bool run_indexing(const Step<Real>& step);
template <class Real>
bool run_linear(const Step<Real>& step);
template <class Real>
bool run_local_response(const Step<Real>& step);
template <class Real>
bool run_movement(const Step<Real>& step);
template <class Real>
bool run_onnx_quantised(const Step<Real>& step);
template <class Real>
bool run_reduction(const Step<Real>& step);
template <class Real>
bool run_resize(const Step<Real>& step);
template <class Real>
bool run_window(const Step<Real>& step);

/// The kernel of the node's operator; false where it has none for these elements.
template <class Real>
bool run_kernel(const Step<Real>& step) {
    using Kernel = bool (*)(const Step<Real>&);
    static constexpr Kernel kKernels[] = {
#define OPERATOR(name, a, b, c, d, attributes, shape, kernel, ...) &run_##kernel<Real>,
#define COMPOSITE(name, ...) nullptr,
#include "workloads/network/graph/operators.table"
    };
    const Kernel kernel = kKernels[static_cast<std::size_t>(step.node.op)];
    return kernel != nullptr && kernel(step);
}

/// What the windows of an AveragePool or GlobalAveragePool add up to, as the output, and how many
/// elements each of them is to be divided by.
template <class Real>
std::vector<std::int64_t> pool_sums(const Step<Real>& step);

/// Row-major strides of a shape.
std::vector<std::int64_t> strides_of(const Shape& shape);
/// Strides over `out` of an operand that is broadcast to it: 0 along the repeated dimensions.
std::vector<std::int64_t> broadcast_strides(const Shape& operand, const Shape& out);

/// Calls f(i, offset) for every element i of `shape` in order, offset = start + index . strides.
template <class F>
void for_each(const Shape& shape, const std::vector<std::int64_t>& strides, std::int64_t start,
              F&& f) {
    const std::int64_t count = element_count(shape);
    std::vector<std::int64_t> index(shape.size(), 0);
    std::int64_t offset = start;
    for (std::int64_t i = 0; i < count; ++i) {
        f(static_cast<std::size_t>(i), static_cast<std::size_t>(offset));
        for (std::size_t d = shape.size(); d-- > 0;) {
            offset += strides[d];
            if (++index[d] < shape[d]) break;
            offset -= strides[d] * shape[d];
            index[d] = 0;
        }
    }
}

}  // namespace lockstep::network::reference
