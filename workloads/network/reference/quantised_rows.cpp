// SPDX-License-Identifier: Apache-2.0
// Rows by themselves, in TensorFlow Lite's fixed point.
#include "workloads/network/reference/local_response.h"
#include "workloads/network/reference/quantised_step.h"
#include "workloads/network/shapes/shape_inference.h"

namespace lockstep::network::reference {

namespace {

/// Over the last dimension, or over the channels of an image.
template <class Real>
void softmax(const QuantisedStep<Real>& q) {
    if (q.node.op != Operator::kSoftmax || !is_tflite(q.step.requantisation))
        refuse_quantised(q.node);
    const Shape& shape = q.step.in[0]->shape;
    const std::size_t axis = axis_of(q.node, q.node.integer("axis", -1), shape.size());
    std::size_t after = 1, extent = static_cast<std::size_t>(shape[axis]);
    for (std::size_t d = axis + 1; d < shape.size(); ++d)
        (q.node.integer("flatten", 0) != 0 ? extent : after) *= static_cast<std::size_t>(shape[d]);
    const numerics::SoftmaxScale scale = softmax_scale_of(q.step.graph, q.node);
    std::vector<std::int64_t> row(extent), result(extent);
    for (std::size_t first = 0; first < q.y().size(); first += extent * after)
        for (std::size_t i = first; i < first + after; ++i) {
            for (std::size_t j = 0; j < extent; ++j) row[j] = q.step.in[0]->integer[i + j * after];
            numerics::softmax_row<std::int64_t>(row, result, scale);
            for (std::size_t j = 0; j < extent; ++j) q.y()[i + j * after] = result[j];
        }
}

/// Over the channels of an image.
template <class Real>
void local_response(const QuantisedStep<Real>& q) {
    if (!is_tflite(q.step.requantisation) || q.step.in[0]->type != ElementType::kInt8)
        refuse_quantised(q.node);
    const IntegerLocalResponse rule = integer_local_response(q.step.graph, q.node);
    const Shape& shape = q.step.in[0]->shape;
    const auto channels = static_cast<std::size_t>(shape[1]);
    std::size_t after = 1;
    for (std::size_t d = 2; d < shape.size(); ++d) after *= static_cast<std::size_t>(shape[d]);
    const std::int64_t from = q.quantisation(0).zero_point.at(0);
    std::vector<std::int32_t> row(channels), result(channels);
    for (std::size_t first = 0; first < q.y().size(); first += channels * after)
        for (std::size_t i = first; i < first + after; ++i) {
            for (std::size_t c = 0; c < channels; ++c)
                row[c] = static_cast<std::int32_t>(q.step.in[0]->integer[i + c * after] - from);
            numerics::local_response_row(row, result, rule.before, rule.after, rule.table.entries);
            for (std::size_t c = 0; c < channels; ++c)
                q.y()[i + c * after] = numerics::saturate(
                    numerics::multiply(result[c], rule.scale, q.rounding) + q.zero(), q.range);
        }
}

}  // namespace

template <class Real>
void run_quantised_rows(const QuantisedStep<Real>& q) {
    q.node.op == Operator::kLRN ? local_response(q) : softmax(q);
}

template void run_quantised_rows(const QuantisedStep<float>&);
template void run_quantised_rows(const QuantisedStep<double>&);

}  // namespace lockstep::network::reference
