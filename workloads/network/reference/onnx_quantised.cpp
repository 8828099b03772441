// SPDX-License-Identifier: Apache-2.0
// ONNX's quantised operators: products of bytes in exact integers, scales in Real (FP32 as ONNX
// Runtime has them, or FP64). Source: the ONNX operator reference, QuantizeLinear,
// DequantizeLinear, DynamicQuantizeLinear, QLinearConv, QLinearMatMul, ConvInteger, MatMulInteger.
#include <algorithm>
#include <cmath>

#include "sim/error/error.h"
#include "workloads/network/graph/quantisation.h"
#include "workloads/network/reference/integer.h"
#include "workloads/network/shapes/shape_inference.h"

namespace lockstep::network::reference {

namespace {

template <class Real>
std::vector<std::int64_t> zero_points(const Step<Real>& step, std::size_t i) {
    return step.has(i) ? step.in[i]->integer : std::vector<std::int64_t>{0};
}

/// Elements from one slice of the scale to the next.
template <class Real>
std::size_t elements_after_axis(const Step<Real>& step) {
    const Shape& shape = step.in[0]->shape;
    std::size_t after = 1;
    if (step.real(1).size() == 1) return after;
    for (std::size_t d = axis_of(step.node, step.node.integer("axis", 1), shape.size()) + 1;
         d < shape.size(); ++d)
        after *= static_cast<std::size_t>(shape[d]);
    return after;
}

/// round(x) + zero_point, ties to even, saturated.
template <class Real>
std::int64_t to_steps(Real x, std::int64_t zero_point, numerics::IntegerRange range) {
    const Real steps = std::nearbyint(x);
    if (!(steps > static_cast<Real>(range.low - zero_point))) return range.low;
    return std::min<std::int64_t>(
        static_cast<std::int64_t>(std::min(steps, static_cast<Real>(range.high - zero_point))) +
            zero_point,
        range.high);
}

template <class Real>
void quantise_linear(const Step<Real>& step) {
    const std::vector<Real>&x = step.real(0), &scale = step.real(1);
    const std::vector<std::int64_t> zero = zero_points(step, 2);
    const std::size_t after = elements_after_axis(step);
    const numerics::IntegerRange range = range_of(step.out[0]->type);
    for (std::size_t i = 0; i < x.size(); ++i) {
        const std::size_t s = i / after % scale.size();
        step.out[0]->integer[i] = to_steps(x[i] / scale[s], zero[s % zero.size()], range);
    }
}

template <class Real>
void dequantise_linear(const Step<Real>& step) {
    const std::vector<std::int64_t>& x = step.in[0]->integer;
    const std::vector<Real>& scale = step.real(1);
    const std::vector<std::int64_t> zero = zero_points(step, 2);
    const std::size_t after = elements_after_axis(step);
    for (std::size_t i = 0; i < x.size(); ++i) {
        const std::size_t s = i / after % scale.size();
        step.out[0]->real[i] = static_cast<Real>(x[i] - zero[s % zero.size()]) * scale[s];
    }
}

template <class Real>
void dynamic_quantise(const Step<Real>& step) {
    Real low = 0, high = 0;
    for (const Real x : step.real(0)) {
        low = std::min(low, x);
        high = std::max(high, x);
    }
    // All zero: any scale will do.
    const Real scale = high > low ? (high - low) / 255 : Real(1);
    const numerics::IntegerRange range = range_of(ElementType::kUint8);
    const std::int64_t zero = to_steps(-low / scale, 0, range);
    for (std::size_t i = 0; i < step.real(0).size(); ++i)
        step.out[0]->integer[i] = to_steps(step.real(0)[i] / scale, zero, range);
    step.out[1]->real[0] = scale;
    step.out[2]->integer[0] = zero;
}

/// The sums of a product of two operands less their zero points.
template <class Real>
std::vector<std::int32_t> sums_of(const Step<Real>& step, bool convolves, std::size_t x,
                                  std::size_t x_zero, std::size_t w, std::size_t w_zero,
                                  std::size_t bias) {
    const Node node{step.node.name,
                    convolves ? Operator::kConv : Operator::kMatMul,
                    {},
                    {},
                    step.node.attributes};
    const std::vector<std::int64_t> zero_x = zero_points(step, x_zero),
                                    zero_w = zero_points(step, w_zero);
    if (convolves)
        return convolve_integers(
            node, {step.in[x]->shape, step.in[x]->integer, zero_x},
            {step.in[w]->shape, step.in[w]->integer, zero_w},
            step.has(bias) ? step.in[bias]->integer : std::vector<std::int64_t>());
    const Exact a = centred(*step.in[x], zero_x),
                b = centred(*step.in[w], zero_w, step.in[w]->shape.size() - 1);
    Exact c;
    std::vector<const Exact*> in = {&a, &b};
    if (step.has(bias)) in.push_back(&(c = centred(*step.in[bias], std::vector<std::int64_t>{0})));
    return as_int32(node, run_exactly(step.graph, node, in, step.out[0]->shape));
}

template <class Real>
void integer_product(const Step<Real>& step) {
    const std::vector<std::int32_t> sums =
        sums_of(step, step.node.op == Operator::kConvInteger, 0, 2, 1, 3, SIZE_MAX);
    step.out[0]->integer.assign(sums.begin(), sums.end());
}

template <class Real>
void qlinear_product(const Step<Real>& step) {
    const bool convolves = step.node.op == Operator::kQLinearConv;
    const std::vector<std::int32_t> sums = sums_of(step, convolves, 0, 2, 3, 5, 8);
    const Shape& shape = step.out[0]->shape;
    std::size_t after = 1;
    for (std::size_t d = 2; d < shape.size() && convolves; ++d)
        after *= static_cast<std::size_t>(shape[d]);
    const auto zero = static_cast<std::int32_t>(step.in[7]->integer.at(0));
    const numerics::IntegerRange range = range_of(step.out[0]->type);
    const Real to = step.real(6).at(0);
    std::vector<Real> scales;
    for (const Real weight : step.real(4)) scales.push_back(step.real(1).at(0) * weight / to);
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const Real scale = scales[i / after % scales.size()];
        step.out[0]->integer[i] = to_steps(static_cast<Real>(sums[i]) * scale, zero, range);
    }
}

}  // namespace

template <class Real>
bool run_onnx_quantised(const Step<Real>& step) {
    switch (step.node.op) {
        case Operator::kQuantizeLinear:
            quantise_linear(step);
            return true;
        case Operator::kDequantizeLinear:
            dequantise_linear(step);
            return true;
        case Operator::kDynamicQuantizeLinear:
            dynamic_quantise(step);
            return true;
        case Operator::kConvInteger:
        case Operator::kMatMulInteger:
            integer_product(step);
            return true;
        case Operator::kQLinearConv:
        case Operator::kQLinearMatMul:
            qlinear_product(step);
            return true;
        default:
            return false;
    }
}

template bool run_onnx_quantised(const Step<float>&);
template bool run_onnx_quantised(const Step<double>&);

}  // namespace lockstep::network::reference
