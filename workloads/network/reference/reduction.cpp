// SPDX-License-Identifier: Apache-2.0
// Softmax (with the maximum taken out), layer and batch normalisation, reductions. Sums run in
// index order, in Real. Source: the ONNX operator reference.
#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/error/error.h"
#include "workloads/network/reference/array.h"
#include "workloads/network/shapes/shape_inference.h"

namespace lockstep::network::reference {

namespace {

template <class Real>
void softmax(const Step<Real>& step) {
    const Shape& shape = step.in[0]->shape;
    const std::size_t axis = axis_of(step.node, step.node.integer("axis", -1), shape.size());
    std::int64_t before = 1, extent = 1, after = 1;
    for (std::size_t i = 0; i < shape.size(); ++i)
        (i < axis ? before : i == axis ? extent : after) *= shape[i];
    if (step.node.integer("flatten", 0) != 0) {
        extent *= after;
        after = 1;
    }
    for (std::int64_t i = 0; i < before * after; ++i) {
        const std::int64_t start = i / after * extent * after + i % after;
        const Real* x = step.real(0).data() + start;
        Real* out = step.out[0]->real.data() + start;
        Real maximum = -std::numeric_limits<Real>::infinity(), sum = 0;
        for (std::int64_t j = 0; j < extent; ++j) maximum = std::max(maximum, x[j * after]);
        for (std::int64_t j = 0; j < extent; ++j)
            sum += out[j * after] = std::exp(x[j * after] - maximum);
        if (step.node.op == Operator::kLogSoftmax)
            for (std::int64_t j = 0; j < extent; ++j)
                out[j * after] = x[j * after] - maximum - std::log(sum);
        else
            for (std::int64_t j = 0; j < extent; ++j) out[j * after] /= sum;
    }
}

template <class Real>
void layer_normalisation(const Step<Real>& step) {
    const Shape& shape = step.in[0]->shape;
    const std::size_t axis = axis_of(step.node, step.node.integer("axis", -1), shape.size());
    const Shape slice(shape.begin() + static_cast<std::int64_t>(axis), shape.end());
    const auto extent = static_cast<std::size_t>(element_count(slice));
    const Real epsilon = step.node.real("epsilon", 1e-5f);
    for (std::size_t start = 0; start < step.real(0).size(); start += extent) {
        const Real* x = step.real(0).data() + start;
        Real* out = step.out[0]->real.data() + start;
        Real mean = 0, variance = 0;
        for (std::size_t j = 0; j < extent; ++j) mean += x[j];
        mean /= static_cast<Real>(extent);
        for (std::size_t j = 0; j < extent; ++j) variance += (x[j] - mean) * (x[j] - mean);
        const Real scale = 1 / std::sqrt(variance / static_cast<Real>(extent) + epsilon);
        for_each(slice, broadcast_strides(step.in[1]->shape, slice), 0,
                 [&](std::size_t j, std::size_t o) {
                     out[j] = (x[j] - mean) * scale * step.real(1)[o];
                 });
        if (step.has(2))
            for_each(slice, broadcast_strides(step.in[2]->shape, slice), 0,
                     [&](std::size_t j, std::size_t o) { out[j] += step.real(2)[o]; });
    }
}

template <class Real>
void batch_normalisation(const Step<Real>& step) {
    const Shape& shape = step.in[0]->shape;
    const Real epsilon = step.node.real("epsilon", 1e-5f);
    const auto channels = static_cast<std::size_t>(shape[1]);
    const auto planes = static_cast<std::size_t>(shape[0] * shape[1]);
    const std::size_t extent = planes == 0 ? 0 : step.real(0).size() / planes;
    for (std::size_t plane = 0; plane < planes; ++plane) {
        const std::size_t c = plane % channels;
        const Real scale = step.real(1)[c] / std::sqrt(step.real(4)[c] + epsilon);
        const Real shift = step.real(2)[c] - step.real(3)[c] * scale;
        for (std::size_t i = plane * extent; i < (plane + 1) * extent; ++i)
            step.out[0]->real[i] = step.real(0)[i] * scale + shift;
    }
}

/// Integers wrap.
template <class T>
T sum(T x, T y) {
    if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<std::uint64_t>(x) + static_cast<std::uint64_t>(y));
    else
        return x + y;
}

template <class T>
T product(T x, T y) {
    if constexpr (std::is_integral_v<T>)
        return static_cast<T>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y));
    else
        return x * y;
}

template <class T>
T accumulate(Operator op, T before, T x) {
    switch (op) {
        case Operator::kReduceMax:
            return std::max(before, x);
        case Operator::kReduceMin:
            return std::min(before, x);
        case Operator::kReduceProd:
            return product(before, x);
        case Operator::kReduceL2:
        case Operator::kReduceSumSquare:
            return sum(before, product(x, x));
        default:
            return sum(before, x);
    }
}

/// The index of the first (or last) largest or smallest element along the axis.
template <class Real, class T>
void argument(const Step<Real>& step) {
    const Shape& shape = step.in[0]->shape;
    const std::size_t axis = axis_of(step.node, step.node.integer("axis", 0), shape.size());
    const bool smallest = step.node.op == Operator::kArgMin;
    const bool last = step.node.integer("select_last_index", 0) != 0;
    const std::vector<T>& x = step.in[0]->template values<T>();
    std::int64_t after = 1;
    for (std::size_t i = axis + 1; i < shape.size(); ++i) after *= shape[i];
    for (std::size_t o = 0; o < step.out[0]->integer.size(); ++o) {
        const auto place = static_cast<std::int64_t>(o);
        const std::int64_t start = place / after * shape[axis] * after + place % after;
        const auto at = [&](std::int64_t j) {
            return x[static_cast<std::size_t>(start + j * after)];
        };
        std::int64_t best = 0;
        for (std::int64_t j = 1; j < shape[axis]; ++j) {
            const bool better = smallest ? at(j) < at(best) : at(j) > at(best);
            if (better || (last && at(j) == at(best))) best = j;
        }
        step.out[0]->integer[o] = best;
    }
}

template <class Real>
void instance_normalisation(const Step<Real>& step) {
    const Shape& shape = step.in[0]->shape;
    const auto planes = static_cast<std::size_t>(shape[0] * shape[1]);
    const std::size_t extent = planes == 0 ? 0 : step.real(0).size() / planes;
    const Real epsilon = step.node.real("epsilon", 1e-5f);
    for (std::size_t plane = 0; plane < planes; ++plane) {
        const Real* x = step.real(0).data() + plane * extent;
        const std::size_t c = plane % static_cast<std::size_t>(shape[1]);
        Real mean = 0, variance = 0;
        for (std::size_t i = 0; i < extent; ++i) mean += x[i];
        mean /= static_cast<Real>(extent);
        for (std::size_t i = 0; i < extent; ++i) variance += (x[i] - mean) * (x[i] - mean);
        const Real scale =
            step.real(1)[c] / std::sqrt(variance / static_cast<Real>(extent) + epsilon);
        for (std::size_t i = 0; i < extent; ++i)
            step.out[0]->real[plane * extent + i] = (x[i] - mean) * scale + step.real(2)[c];
    }
}

template <class Real, class T>
void reduce(const Step<Real>& step) {
    bool given = false;
    const Shape& shape = step.in[0]->shape;
    const Operator op = step.node.op;
    const std::vector<std::size_t> axes = axes_of(step.graph, step.node, shape.size(), given);
    const bool all = axes.empty() && step.node.integer("noop_with_empty_axes", 0) == 0;
    Shape kept = shape;
    for (std::size_t i = 0; i < kept.size(); ++i)
        if (all || std::find(axes.begin(), axes.end(), i) != axes.end()) kept[i] = 1;
    std::vector<T>& out = step.out[0]->template values<T>();
    const std::vector<T>& x = step.in[0]->template values<T>();
    if (op == Operator::kReduceMax)
        std::fill(out.begin(), out.end(), std::numeric_limits<T>::lowest());
    if (op == Operator::kReduceMin)
        std::fill(out.begin(), out.end(), std::numeric_limits<T>::max());
    if (op == Operator::kReduceProd) std::fill(out.begin(), out.end(), T{1});
    for_each(shape, broadcast_strides(kept, shape), 0,
             [&](std::size_t i, std::size_t o) { out[o] = accumulate(op, out[o], x[i]); });
    if (op == Operator::kReduceL2)
        for (T& square : out) square = static_cast<T>(std::sqrt(square));
    if (op == Operator::kReduceMean && !x.empty())
        for (T& mean : out) mean /= static_cast<T>(x.size() / out.size());
}

}  // namespace

template <class Real>
bool run_reduction(const Step<Real>& step) {
    switch (step.node.op) {
        case Operator::kArgMax:
        case Operator::kArgMin:
            is_floating(step.in[0]->type) ? argument<Real, Real>(step)
                                          : argument<Real, std::int64_t>(step);
            return true;
        case Operator::kInstanceNormalization:
            instance_normalisation(step);
            return true;
        case Operator::kLogSoftmax:
        case Operator::kSoftmax:
            softmax(step);
            return true;
        case Operator::kLayerNormalization:
            layer_normalisation(step);
            return true;
        case Operator::kBatchNormalization:
            batch_normalisation(step);
            return true;
        case Operator::kReduceL2:
        case Operator::kReduceMax:
        case Operator::kReduceMean:
        case Operator::kReduceMin:
        case Operator::kReduceProd:
        case Operator::kReduceSum:
        case Operator::kReduceSumSquare:
            is_floating(step.in[0]->type) ? reduce<Real, Real>(step)
                                          : reduce<Real, std::int64_t>(step);
            return true;
        default:
            return false;
    }
}

template bool run_reduction(const Step<float>&);
template bool run_reduction(const Step<double>&);

}  // namespace lockstep::network::reference
