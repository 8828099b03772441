// SPDX-License-Identifier: Apache-2.0
// LRN on real values: over the channels of each pixel, sums in index order. Source: the ONNX
// operator reference.
#include "workloads/network/reference/local_response.h"

#include <algorithm>
#include <cmath>

#include "workloads/network/reference/array.h"

namespace lockstep::network {

namespace {

double alpha_of(const Node& node) {
    return double{node.real("alpha", 1e-4f)};
}
double beta_of(const Node& node) {
    return double{node.real("beta", 0.75f)};
}
double bias_of(const Node& node) {
    return double{node.real("bias", 1)};
}

}  // namespace

bool has_local_response_table(const Graph& graph, const Node& node) {
    constexpr std::size_t kImage = 4;
    const std::int64_t size = node.integer("size", 0);
    const auto is_finite = [](double x) { return x >= 0 && x <= 1e6; };
    return graph.shape(node.inputs.at(0)).size() == kImage && size >= 1 &&
           size <= numerics::kLocalResponseSize && is_finite(alpha_of(node)) &&
           is_finite(beta_of(node)) && bias_of(node) >= 1e-6 && is_finite(bias_of(node));
}

IntegerLocalResponse integer_local_response(const Graph& graph, const Node& node) {
    const auto scale = [&](ValueId id) {
        return double{graph.value(id).quantisation->scale.at(0)};
    };
    const double in = scale(node.inputs.at(0)), out = scale(node.outputs.at(0));
    const std::int64_t size = node.integer("size", 1);
    IntegerLocalResponse made;
    made.before = static_cast<std::size_t>((size - 1) / 2);
    made.after = static_cast<std::size_t>(size / 2);
    made.table = numerics::local_response_table(
        alpha_of(node) / static_cast<double>(size) * in * in, beta_of(node), bias_of(node));
    made.scale = numerics::fixed_point_scale(in * made.table.step / out);
    return made;
}

namespace reference {

template <class Real>
bool run_local_response(const Step<Real>& step) {
    const Shape& shape = step.in[0]->shape;
    if (!is_floating(step.in[0]->type)) return false;
    const std::int64_t size = step.node.integer("size", 0), channels = shape[1];
    std::int64_t pixels = 1;
    for (std::size_t d = 2; d < shape.size(); ++d) pixels *= shape[d];
    const Real share = static_cast<Real>(alpha_of(step.node) / static_cast<double>(size)),
               beta = static_cast<Real>(beta_of(step.node)),
               bias = static_cast<Real>(bias_of(step.node));
    for (std::int64_t image = 0; image < shape[0]; ++image)
        for (std::int64_t c = 0; c < channels; ++c) {
            const std::int64_t first = std::max<std::int64_t>(0, c - (size - 1) / 2),
                               last = std::min(channels - 1, c + size / 2);
            const Real* x = step.real(0).data() + image * channels * pixels;
            Real* out = step.out[0]->real.data() + (image * channels + c) * pixels;
            for (std::int64_t p = 0; p < pixels; ++p) {
                Real sum = 0;
                for (std::int64_t i = first; i <= last; ++i)
                    sum += x[i * pixels + p] * x[i * pixels + p];
                out[p] = x[c * pixels + p] / std::pow(bias + share * sum, beta);
            }
        }
    return true;
}

template bool run_local_response(const Step<float>&);
template bool run_local_response(const Step<double>&);

}  // namespace reference

}  // namespace lockstep::network
