// SPDX-License-Identifier: Apache-2.0
// Seeded weights are a hash (sim/numerics/random.h) of seed, tensor and element, and no library's
// distribution. They have variance 1/fan-in: values keep their size from layer to layer, as in a
// trained network.
#include "workloads/network/graph/builder.h"

#include <cmath>

#include "sim/numerics/random.h"
#include "workloads/network/decompose/decompose.h"
#include "workloads/network/shapes/shape_inference.h"

namespace lockstep::network {

using numerics::mix;
using numerics::random_unit;

namespace {

float spread_of(std::int64_t fan_in) {
    return std::sqrt(3.0f / static_cast<float>(fan_in));
}

}  // namespace

Tensor seeded_tensor(Shape shape, std::uint64_t stream, float spread, float centre) {
    Tensor tensor(ElementType::kFp32, std::move(shape));
    std::uint64_t i = 0;
    for (float& value : tensor.as<float>()) {
        value = centre + spread * (2 * random_unit(stream, i++) - 1);
    }
    return tensor;
}

Builder::Builder(std::string name, std::uint64_t seed, bool with_values)
    : seed_(seed), with_values_(with_values) {
    graph_.name = std::move(name);
}

ValueId Builder::input(std::string name, ElementType type, Shape shape) {
    const ValueId id = graph_.add({std::move(name), ValueKind::kInput, type, std::move(shape)});
    graph_.inputs.push_back(id);
    return id;
}

ValueId Builder::given(std::string name, Shape shape, float spread, float centre, ValueKind kind) {
    Value value{std::move(name), kind, ElementType::kFp32, shape};
    if (with_values_)
        value.data = std::make_shared<const Tensor>(
            seeded_tensor(shape, mix(mix(seed_) + graph_.values.size()), spread, centre));
    return graph_.add(std::move(value));
}

ValueId Builder::weight(std::string name, Shape shape, float spread, float centre) {
    return given(std::move(name), std::move(shape), spread, centre, ValueKind::kParameter);
}

ValueId Builder::statistic(std::string name, Shape shape, float spread, float centre) {
    return given(std::move(name), std::move(shape), spread, centre, ValueKind::kConstant);
}

ValueId Builder::constant(std::string name, Tensor tensor) {
    Value value{std::move(name), ValueKind::kConstant, tensor.type, tensor.shape};
    value.data = std::make_shared<const Tensor>(std::move(tensor));
    return graph_.add(std::move(value));
}

ValueId Builder::parameter(std::string name, Tensor tensor) {
    Value value{std::move(name), ValueKind::kParameter, tensor.type, tensor.shape};
    if (with_values_) value.data = std::make_shared<const Tensor>(std::move(tensor));
    return graph_.add(std::move(value));
}

ValueId Builder::node(Operator op, std::string name, std::vector<ValueId> inputs,
                      Attributes attributes, std::size_t outputs) {
    Node node{name, op, std::move(inputs), {}, std::move(attributes)};
    for (std::size_t i = 0; i < outputs; ++i)
        node.outputs.push_back(graph_.add({i == 0 ? name : name + "." + std::to_string(i)}));
    const ValueId result = node.outputs.at(0);
    if (const std::optional<std::vector<Node>> parts = decompose(graph_, node)) {
        graph_.nodes.insert(graph_.nodes.end(), parts->begin(), parts->end());
        return result;
    }
    graph_.nodes.push_back(std::move(node));
    infer_node(graph_, graph_.nodes.back());
    return result;
}

ValueId Builder::convolution(const std::string& name, ValueId x, std::int64_t channels,
                             std::int64_t kernel, ConvolutionOptions options) {
    const std::int64_t inputs = shape(x).at(1) / options.group;
    const float spread = spread_of(inputs * kernel * kernel);
    std::vector<ValueId> operands = {
        x, weight(name + ".weight", {channels, inputs, kernel, kernel}, spread)};
    if (options.bias) operands.push_back(weight(name + ".bias", {channels}, spread));
    const std::int64_t p = options.pad, s = options.stride;
    return node(Operator::kConv, name, std::move(operands),
                {{"pads", std::vector<std::int64_t>{p, p, p, p}},
                 {"strides", std::vector<std::int64_t>{s, s}},
                 {"group", options.group}});
}

ValueId Builder::batch_normalisation(const std::string& name, ValueId x) {
    const Shape c = {shape(x).at(1)};
    return node(Operator::kBatchNormalization, name,
                {x, weight(name + ".weight", c, 0.1f, 1), weight(name + ".bias", c, 0.1f),
                 statistic(name + ".running_mean", c, 0.1f, 0),
                 statistic(name + ".running_var", c, 0.1f, 1)});
}

ValueId Builder::max_pool(const std::string& name, ValueId x, std::int64_t kernel,
                          std::int64_t stride, std::int64_t pad) {
    return node(Operator::kMaxPool, name, {x},
                {{"kernel_shape", std::vector<std::int64_t>{kernel, kernel}},
                 {"strides", std::vector<std::int64_t>{stride, stride}},
                 {"pads", std::vector<std::int64_t>{pad, pad, pad, pad}}});
}

ValueId Builder::linear(const std::string& name, ValueId x, std::int64_t features) {
    const std::int64_t inputs = shape(x).back();
    const float spread = spread_of(inputs);
    const ValueId w = weight(name + ".weight", {inputs, features}, spread);
    const ValueId b = weight(name + ".bias", {features}, spread);
    if (shape(x).size() == 2) return node(Operator::kGemm, name, {x, w, b});
    const ValueId product = node(Operator::kMatMul, name + ".matmul", {x, w});
    return node(Operator::kAdd, name, {product, b});
}

ValueId Builder::dropout(const std::string& name, ValueId x, std::int64_t percent) {
    if (percent == 0) return x;
    const float ratio = static_cast<float>(percent) / 100;
    return node(Operator::kDropout, name,
                {x, constant(name + ".ratio", make_tensor({}, std::span(&ratio, 1)))});
}

ValueId Builder::layer_normalisation(const std::string& name, ValueId x, float epsilon) {
    const Shape c = {shape(x).back()};
    return node(Operator::kLayerNormalization, name,
                {x, weight(name + ".weight", c, 0.1f, 1), weight(name + ".bias", c, 0.1f)},
                {{"epsilon", epsilon}});
}

ValueId Builder::reshape(const std::string& name, ValueId x, Shape to) {
    const Shape extents = {static_cast<std::int64_t>(to.size())};
    return node(
        Operator::kReshape, name,
        {x, constant(name + ".shape", make_tensor(extents, std::span<const std::int64_t>(to)))});
}

ValueId Builder::transpose(const std::string& name, ValueId x, std::vector<std::int64_t> perm) {
    return node(Operator::kTranspose, name, {x}, {{"perm", std::move(perm)}});
}

Graph Builder::finish(std::vector<ValueId> outputs) {
    graph_.outputs = std::move(outputs);
    validate(graph_);
    return std::move(graph_);
}

}  // namespace lockstep::network
