// SPDX-License-Identifier: Apache-2.0
// Quantised graphs in exact integers. Integer machines multiply bytes and add into 32 bits; the
// products here run in doubles, which hold such sums exactly, so that one convolution serves all
// types. Source: Jacob et al. (2018), section 2; see quantised.h for what is rounded where.
#include "workloads/network/reference/quantised.h"

#include <cmath>

#include "workloads/network/reference/quantised_step.h"

namespace lockstep::network::reference {

template <class Real>
Exact centred(const Array<Real>& x, std::span<const std::int64_t> zero_point,
              std::optional<std::size_t> axis) {
    Exact exact{x.shape, ElementType::kFp64, {}, {}};
    std::size_t after = 1;
    for (std::size_t d = axis.value_or(x.shape.size()) + 1; d < x.shape.size(); ++d)
        after *= static_cast<std::size_t>(x.shape[d]);
    exact.real.resize(x.integer.size());
    for (std::size_t i = 0; i < exact.real.size(); ++i) {
        const std::size_t slice = zero_point.size() == 1 ? 0 : i / after % zero_point.size();
        exact.real[i] = static_cast<double>(x.integer[i] - zero_point[slice]);
    }
    return exact;
}

template Exact centred(const Array<float>&, std::span<const std::int64_t>,
                       std::optional<std::size_t>);
template Exact centred(const Array<double>&, std::span<const std::int64_t>,
                       std::optional<std::size_t>);

void refuse_quantised(const Node& node) {
    throw InputError(fmt::format("node {}: {} cannot be computed on quantised values", node.name,
                                 name_of(node.op)));
}

Exact run_exactly(const Graph& graph, const Node& node, std::vector<const Exact*> in, Shape out) {
    Exact result{std::move(out), ElementType::kFp64, {}, {}};
    result.real.resize(static_cast<std::size_t>(element_count(result.shape)));
    const Step<double> step{graph, node, std::move(in), {&result}};
    if (!run_kernel(step)) refuse_quantised(node);
    return result;
}

void check_int32(const Node& node, double sum) {
    if (!(sum >= INT32_MIN && sum <= INT32_MAX))
        throw InputError(fmt::format("node {} ({}): the sum {} does not fit 32 bits", node.name,
                                     name_of(node.op), sum));
}

std::vector<std::int32_t> as_int32(const Node& node, const Exact& sums) {
    std::vector<std::int32_t> values(sums.real.size());
    for (std::size_t i = 0; i < values.size(); ++i) {
        check_int32(node, sums.real[i]);
        values[i] = static_cast<std::int32_t>(sums.real[i]);
    }
    return values;
}

namespace {

template <class Real>
void look_up(const QuantisedStep<Real>& q) {
    const std::vector<std::int32_t> table =
        activation_table(q.step.graph, q.node, q.step.requantisation);
    const std::int32_t low = range_of(q.step.in[0]->type, q.quantisation(0).bits).low;
    for (std::size_t i = 0; i < q.y().size(); ++i)
        q.y()[i] = table[static_cast<std::size_t>(q.step.in[0]->integer[i] - low)];
}

}  // namespace

template <class Real>
bool run_quantised(const Step<Real>& step) {
    if (!is_quantised(step.graph, step.node)) return false;
    const QuantisedStep<Real> q(step);
    switch (info_of(step.node.op).integers) {
        case IntegerForm::kNone:
            refuse_quantised(step.node);
        case IntegerForm::kProduct:
            run_quantised_product(q);
            break;
        case IntegerForm::kCombination:
            // A concatenation moves values, each to the common scale.
            step.node.op == Operator::kConcat ? run_quantised_movement(q)
                                              : run_quantised_combination(q);
            break;
        case IntegerForm::kTable:
            look_up(q);
            break;
        case IntegerForm::kSameScale:
        case IntegerForm::kSameValues:
            run_quantised_movement(q);
            break;
        case IntegerForm::kRows:
            run_quantised_rows(q);
            break;
    }
    return true;
}

template bool run_quantised(const Step<float>&);
template bool run_quantised(const Step<double>&);

}  // namespace lockstep::network::reference

namespace lockstep::network {

std::vector<std::int32_t> activation_table(const Graph& graph, const Node& node,
                                           Requantisation requantisation) {
    using reference::Exact;
    const Value &in = graph.value(node.inputs.at(0)), &out = graph.value(node.outputs.at(0));
    LOCKSTEP_CHECK(in.quantisation && out.quantisation, "{} is not quantised", node.name);
    const Quantisation &from = *in.quantisation, &to = *out.quantisation;
    const numerics::IntegerRange range = range_of(in.type, from.bits),
                                 limits = range_of(out.type, to.bits);
    if (is_tflite(requantisation)) {
        std::vector<std::int32_t> table = tflite_table(graph, node, rounding_of(requantisation));
        if (!table.empty()) return table;
    }
    Exact x{{range.high - range.low + 1}, ElementType::kFp64, {}, {}};
    const bool in_fp32 = requantisation == Requantisation::kVectorUnit;
    for (std::int32_t q = range.low; q <= range.high; ++q) {
        const double real = double{from.scale[0]} * (q - from.zero_point[0]);
        x.real.push_back(in_fp32 ? double{static_cast<float>(real)} : real);
    }
    // The bounds of a Clip.
    std::vector<Exact> bounds(node.inputs.size());
    std::vector<const Exact*> operands = {&x};
    for (std::size_t i = 1; i < node.inputs.size(); ++i) {
        operands.push_back(nullptr);
        if (node.inputs[i] == kNoValue) continue;
        const Value& bound = graph.value(node.inputs[i]);
        if (!bound.is_known())
            throw InputError(fmt::format("node {}: {} is not known", node.name, bound.name));
        bounds[i] = {bound.data->shape, ElementType::kFp64, to_doubles(*bound.data), {}};
        operands.back() = &bounds[i];
    }
    const Exact y = reference::run_exactly(graph, node, operands, x.shape);
    std::vector<std::int32_t> table;
    for (const double real : y.real) {
        const double exact =
            in_fp32 ? double{static_cast<float>(real) / to.scale[0]} : real / double{to.scale[0]};
        const double steps =
            (is_tflite(requantisation) ? std::round(exact) : std::nearbyint(exact)) +
            to.zero_point[0];
        table.push_back(
            static_cast<std::int32_t>(std::clamp<double>(steps, limits.low, limits.high)));
    }
    return table;
}

}  // namespace lockstep::network
