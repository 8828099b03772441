// SPDX-License-Identifier: Apache-2.0
// Sums of products in int32, requantised by channel.
#include "workloads/network/reference/quantised_step.h"

namespace lockstep::network::reference {

namespace {

/// With its zero points, one for all or one for each output channel.
template <class Real>
IntegerOperand operand(const QuantisedStep<Real>& q, std::size_t i) {
    const std::vector<std::int32_t>& zero = q.quantisation(i).zero_point;
    return {q.step.in[i]->shape, q.step.in[i]->integer, {zero.begin(), zero.end()}};
}

template <class Real>
std::vector<std::int64_t> bias(const QuantisedStep<Real>& q) {
    std::vector<std::int64_t> values;
    if (!q.step.has(2)) return values;
    values = q.step.in[2]->integer;
    for (std::int64_t& value : values) value -= q.quantisation(2).zero_point.at(0);
    return values;
}

template <class Real>
std::vector<std::int32_t> convolution_sums(const QuantisedStep<Real>& q) {
    return convolve_integers(q.node, operand(q, 0), operand(q, 1), bias(q));
}

/// Rows by one matrix, with a bias for each column; of bytes.
template <class Real>
bool is_plain_product(const QuantisedStep<Real>& q) {
    for (const std::size_t i : {0, 1})
        if (size_of(q.step.in[i]->type) != 1) return false;
    const Shape &x = q.step.in[0]->shape, &w = q.step.in[1]->shape;
    const std::int64_t columns = q.step.out[0]->shape.empty() ? 0 : q.step.out[0]->shape.back();
    const bool transposed = q.node.integer("transB", 0) != 0;
    const auto& zero = q.quantisation(1);
    const bool by_column = !zero.axis || *zero.axis == (transposed ? 0 : 1);
    return w.size() == 2 && x.size() >= 2 && q.quantisation(0).zero_point.size() == 1 &&
           by_column && q.node.integer("transA", 0) == 0 &&
           (!q.step.has(2) || q.step.in[2]->shape == Shape{columns});
}

template <class Real>
std::vector<std::int32_t> product_sums(const QuantisedStep<Real>& q) {
    if (is_plain_product(q))
        return multiply_integers(q.node, operand(q, 0), operand(q, 1),
                                 q.node.integer("transB", 0) != 0, bias(q));
    const Exact x = q.centre(0), w = q.centre(1);
    Exact bias;
    std::vector<const Exact*> in = {&x, &w};
    if (q.step.has(2)) in.push_back(&(bias = q.centre(2)));
    return as_int32(q.node, run_exactly(q.step.graph, q.node, in, q.step.out[0]->shape));
}

}  // namespace

template <class Real>
void run_quantised_product(const QuantisedStep<Real>& q) {
    if (q.node.real("alpha", 1) != 1 || q.node.real("beta", 1) != 1)
        throw InputError(fmt::format("node {}: a quantised Gemm with a factor", q.node.name));
    const Shape& shape = q.step.out[0]->shape;
    std::size_t after = 1;  // elements from one channel to the next
    for (std::size_t d = 2; d < shape.size() && q.node.op == Operator::kConv; ++d)
        after *= static_cast<std::size_t>(shape[d]);
    q.requantise_all(q.node.op == Operator::kConv ? convolution_sums(q) : product_sums(q),
                     requantisation_scales(q.step.graph, q.node), after);
}

template void run_quantised_product(const QuantisedStep<float>&);
template void run_quantised_product(const QuantisedStep<double>&);

}  // namespace lockstep::network::reference
