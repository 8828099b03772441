// SPDX-License-Identifier: Apache-2.0
// What the families of quantised operators (reference/quantised_*.cpp) see of a node: its stored
// values with their scales, and the ways to round a result.
#pragma once

#include <cmath>

#include "sim/error/error.h"
#include "workloads/network/reference/integer.h"
#include "workloads/network/reference/tflite.h"

namespace lockstep::network::reference {

[[noreturn]] void refuse_quantised(const Node& node);

template <class Real>
class QuantisedStep {
  public:
    explicit QuantisedStep(const Step<Real>& run)
        : step(run),
          node(run.node),
          out(*run.graph.value(node.outputs[0]).quantisation),
          range(range_of(run.graph.value(node.outputs[0]).type, out.bits)),
          rounding(rounding_of(run.requantisation)) {
        if (out.axis)
            throw InputError(fmt::format("node {}: its output has a scale a slice", node.name));
    }

    const Step<Real>& step;
    const Node& node;
    const Quantisation& out;  ///< of the result
    const numerics::IntegerRange range;
    const numerics::IntegerRounding rounding;

    const Quantisation& quantisation(std::size_t i) const {
        const Value& value = step.graph.value(node.inputs.at(i));
        if (!value.quantisation)
            throw InputError(fmt::format("node {}: {} has no scale", node.name, value.name));
        return *value.quantisation;
    }

    double scale(std::size_t i) const { return quantisation(i).scale.at(0); }

    Exact centre(std::size_t i) const {
        const Quantisation& q = quantisation(i);
        std::optional<std::size_t> axis;
        if (q.axis) axis = static_cast<std::size_t>(*q.axis);
        return centred(*step.in[i],
                       std::vector<std::int64_t>(q.zero_point.begin(), q.zero_point.end()), axis);
    }

    std::vector<std::int64_t>& y() const { return step.out[0]->integer; }
    std::int32_t zero() const { return out.zero_point[0]; }

    /// Products and sums by multiplier and shift.
    bool in_integers() const {
        return step.requantisation == Requantisation::kFixedPoint || is_tflite(step.requantisation);
    }

    void same_scale(std::size_t output) const {
        const Value& value = step.graph.value(node.outputs.at(output));
        const Quantisation& q = quantisation(0);
        if (!value.quantisation || value.quantisation->scale != q.scale ||
            value.quantisation->zero_point != q.zero_point)
            throw InputError(fmt::format("node {}: moves values to another scale", node.name));
    }

    std::int32_t round_even(double steps) const {
        return numerics::saturate(static_cast<std::int64_t>(std::nearbyint(steps)) + zero(), range);
    }

    /// Of slices of `after` elements in turn, each has the next scale.
    void requantise_all(const std::vector<std::int32_t>& sums, const std::vector<double>& scales,
                        std::size_t after) const {
        if (scales.size() == 1) after = std::max<std::size_t>(1, sums.size());
        for (std::size_t begin = 0, slice = 0; begin < sums.size(); begin += after, ++slice) {
            const double factor = scales[slice % scales.size()];
            const auto narrow = static_cast<float>(factor);
            const std::size_t end = std::min(begin + after, sums.size());
            if (in_integers()) {
                const auto fixed = numerics::fixed_point_scale(factor);
                for (std::size_t i = begin; i < end; ++i)
                    y()[i] = numerics::saturate(
                        numerics::multiply(sums[i], fixed, rounding) + zero(), range);
                continue;
            }
            for (std::size_t i = begin; i < end; ++i)
                y()[i] = numerics::requantise_in_fp32(sums[i], narrow, zero(), range);
        }
    }

    /// y = f(a - za, b - zb) for all pairs of the two inputs.
    template <class F>
    void for_each_pair(const F& f) const {
        const Shape& shape = step.out[0]->shape;
        const Array<Real>&a = *step.in[0], &b = *step.in[1];
        const std::int64_t za = quantisation(0).zero_point.at(0),
                           zb = quantisation(1).zero_point.at(0);
        const auto pair = [&](std::size_t i, std::size_t at_a, std::size_t at_b) {
            y()[i] = f(static_cast<std::int32_t>(a.integer[at_a] - za),
                       static_cast<std::int32_t>(b.integer[at_b] - zb));
        };
        if (a.shape == shape && b.shape == shape) {
            for (std::size_t i = 0; i < y().size(); ++i) pair(i, i, i);
            return;
        }
        std::vector<std::size_t> of_a(y().size());
        for_each(shape, broadcast_strides(a.shape, shape), 0,
                 [&](std::size_t i, std::size_t at) { of_a[i] = at; });
        for_each(shape, broadcast_strides(b.shape, shape), 0,
                 [&](std::size_t i, std::size_t at) { pair(i, of_a[i], at); });
    }
};

template <class Real>
void run_quantised_product(const QuantisedStep<Real>& q);
template <class Real>
void run_quantised_combination(const QuantisedStep<Real>& q);
template <class Real>
void run_quantised_rows(const QuantisedStep<Real>& q);
template <class Real>
void run_quantised_movement(const QuantisedStep<Real>& q);

}  // namespace lockstep::network::reference
