// SPDX-License-Identifier: Apache-2.0
// Several elements, each with its scale, into one: sums, products, averages.
#include "workloads/network/reference/quantised_step.h"

namespace lockstep::network::reference {

namespace {

template <class Real>
void add_as_tflite(const QuantisedStep<Real>& q, bool subtract) {
    const auto scales = numerics::addition_scales(q.scale(0), q.scale(1), double{q.out.scale[0]});
    q.for_each_pair([&](std::int32_t a, std::int32_t b) {
        return numerics::saturate(numerics::add(a, b, subtract, scales, q.rounding) + q.zero(),
                                  q.range);
    });
}

template <class Real>
void add(const QuantisedStep<Real>& q, int sign) {
    if (is_tflite(q.step.requantisation)) return add_as_tflite(q, sign < 0);
    const double sa = q.scale(0) / q.out.scale[0], sb = sign * q.scale(1) / q.out.scale[0];
    const auto narrow_a = static_cast<float>(sa), narrow_b = static_cast<float>(sb);
    const numerics::FixedPointPair fixed = numerics::fixed_point_pair(sa, sb);
    switch (q.step.requantisation) {
        default:
            return q.for_each_pair([&](std::int32_t a, std::int32_t b) {
                return numerics::saturate(numerics::multiply(a, b, fixed) + q.zero(), q.range);
            });
        case Requantisation::kOnnx:
            return q.for_each_pair([&](std::int32_t a, std::int32_t b) {
                return q.round_even(static_cast<double>(a) * sa + static_cast<double>(b) * sb);
            });
        case Requantisation::kVectorUnit:
            return q.for_each_pair([&](std::int32_t a, std::int32_t b) {
                const float first = static_cast<float>(a) * narrow_a;
                const float second = static_cast<float>(b) * narrow_b;
                return q.round_even(static_cast<double>(first + second));
            });
    }
}

template <class Real>
void multiply(const QuantisedStep<Real>& q) {
    if (q.step.requantisation == Requantisation::kVectorUnit) {
        const auto both = static_cast<float>(q.scale(0) * q.scale(1) / double{q.out.scale[0]});
        return q.for_each_pair([&](std::int32_t a, std::int32_t b) {
            return q.round_even(
                static_cast<double>(static_cast<float>(a) * both * static_cast<float>(b)));
        });
    }
    q.for_each_pair([](std::int32_t a, std::int32_t b) { return a * b; });
    const std::vector<std::int32_t> products(q.y().begin(), q.y().end());
    // TensorFlow Lite multiplies scales in fp32.
    const auto narrow = [&](std::size_t i) { return static_cast<float>(q.scale(i)); };
    const double both = is_tflite(q.step.requantisation)
                            ? double{narrow(0) * narrow(1) / q.out.scale[0]}
                            : q.scale(0) * q.scale(1) / q.out.scale[0];
    q.requantise_all(products, {both}, 1);
}

template <class Real>
void average_as_tflite(const QuantisedStep<Real>& q, const std::vector<std::int32_t>& sums,
                       const std::vector<std::int64_t>& counts) {
    const bool divides = divides_stored_values(q.step.graph, q.node);
    const double ratio = q.scale(0) / double{q.out.scale[0]};
    const std::int64_t from = q.quantisation(0).zero_point.at(0);
    for (std::size_t i = 0; i < sums.size(); ++i) {
        const std::int64_t count = std::max<std::int64_t>(1, counts[i]);
        const std::int64_t mean =
            divides ? divide_rounded(sums[i] + from * count, count)
                    : numerics::multiply(sums[i], numerics::mean_scale(ratio, count), q.rounding) +
                          q.zero();
        q.y()[i] = numerics::saturate(mean, q.range);
    }
}

template <class Real>
void average(const QuantisedStep<Real>& q) {
    const Exact x = q.centre(0);
    Exact sums{q.step.out[0]->shape, ElementType::kFp64, {}, {}};
    sums.real.resize(q.y().size());
    const std::vector<std::int64_t> counts =
        pool_sums(Step<double>{q.step.graph, q.node, {&x}, {&sums}});
    const std::vector<std::int32_t> whole = as_int32(q.node, sums);
    if (q.step.requantisation == Requantisation::kVectorUnit) {
        const auto step = static_cast<float>(double{q.out.scale[0]} / q.scale(0));
        for (std::size_t i = 0; i < whole.size(); ++i) {
            const std::int64_t count = counts[i];
            q.y()[i] = q.round_even(static_cast<double>(static_cast<float>(whole[i]) /
                                                        static_cast<float>(count) / step));
        }
        return;
    }
    if (is_tflite(q.step.requantisation)) return average_as_tflite(q, whole, counts);
    std::vector<double> scales;
    for (const std::int64_t count : counts)
        scales.push_back(q.scale(0) / (double{q.out.scale[0]} * static_cast<double>(count)));
    q.requantise_all(whole, scales, 1);
}

}  // namespace

template <class Real>
void run_quantised_combination(const QuantisedStep<Real>& q) {
    switch (q.node.op) {
        case Operator::kAdd:
            return add(q, 1);
        case Operator::kSub:
            return add(q, -1);
        case Operator::kMul:
            return multiply(q);
        default:
            LOCKSTEP_CHECK(info_of(q.node.op).role == LayerRole::kPooling, "{}", q.node.name);
            return average(q);
    }
}

template void run_quantised_combination(const QuantisedStep<float>&);
template void run_quantised_combination(const QuantisedStep<double>&);

}  // namespace lockstep::network::reference
