// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/decompose/node_writer.h"

#include "workloads/network/decompose/decompose.h"
#include "workloads/network/shapes/shape_inference.h"

namespace lockstep::network {

ValueId NodeWriter::add(Operator op, const std::string& name, std::vector<ValueId> inputs,
                        NodeAttributes attributes, std::int64_t outputs, ValueId into) {
    Node node{name, op, std::move(inputs), {}, std::move(attributes)};
    for (std::int64_t i = 0; i < outputs; ++i)
        node.outputs.push_back(
            into != kNoValue ? into : graph_.add({i == 0 ? name : name + "." + std::to_string(i)}));
    const ValueId result = node.outputs[0];
    if (info_of(op).is_composite) {
        const std::optional<std::vector<Node>> parts = decompose(graph_, node);
        nodes_.insert(nodes_.end(), parts->begin(), parts->end());
        return result;
    }
    infer_node(graph_, node);
    nodes_.push_back(std::move(node));
    return result;
}

ValueId NodeWriter::constant(const std::string& name, Tensor tensor) {
    Value value{name, ValueKind::kConstant, tensor.type, tensor.shape};
    value.data = std::make_shared<const Tensor>(std::move(tensor));
    return graph_.add(std::move(value));
}

ValueId NodeWriter::integers(const std::string& name, const std::vector<std::int64_t>& values) {
    const Shape shape = {static_cast<std::int64_t>(values.size())};
    return constant(name, make_tensor(shape, std::span<const std::int64_t>(values)));
}

ValueId NodeWriter::reals(const std::string& name, ElementType type, Shape shape,
                          std::span<const double> values) {
    return constant(name, from_doubles(type, std::move(shape), values));
}

ValueId NodeWriter::scalar(const std::string& name, ElementType type, double value) {
    return reals(name, type, {}, std::span(&value, 1));
}

ValueId NodeWriter::reshape(const std::string& name, ValueId x, const Shape& shape, ValueId into) {
    return add(Operator::kReshape, name, {x, integers(name + ".shape", shape)},
               {{"allowzero", std::int64_t{1}}}, 1, into);
}

ValueId NodeWriter::transpose(const std::string& name, ValueId x, std::vector<std::int64_t> perm,
                              ValueId into) {
    return add(Operator::kTranspose, name, {x}, {{"perm", std::move(perm)}}, 1, into);
}

void NodeWriter::give(ValueId from, ValueId to) {
    add(Operator::kIdentity, graph_.value(to).name, {from}, {}, 1, to);
}

}  // namespace lockstep::network
