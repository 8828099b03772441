// SPDX-License-Identifier: Apache-2.0
// Shapes of the operators that make values out of nothing but attributes and shapes, after the ONNX
// operator reference.
#include <algorithm>
#include <cmath>

#include "workloads/network/shapes/rule.h"

namespace lockstep::network::shapes {

void infer_constant(const Rule& r) {
    const Node& node = r.node;
    r.require(node.attributes.size() == 1, "needs one value");
    const Attribute& value = node.attributes.begin()->second;
    if (const auto* tensor = std::get_if<std::shared_ptr<const Tensor>>(&value))
        r.set(0, (*tensor)->type, (*tensor)->shape);
    else if (std::holds_alternative<std::int64_t>(value))
        r.set(0, ElementType::kInt64, {});
    else if (std::holds_alternative<float>(value))
        r.set(0, ElementType::kFp32, {});
    else if (const auto* many = std::get_if<std::vector<std::int64_t>>(&value))
        r.set(0, ElementType::kInt64, {static_cast<std::int64_t>(many->size())});
    else if (const auto* reals = std::get_if<std::vector<float>>(&value))
        r.set(0, ElementType::kFp32, {static_cast<std::int64_t>(reals->size())});
}

void infer_range(const Rule& r) {
    r.require_type(1, 0);
    r.require_type(2, 0);
    double bound[3];
    for (std::size_t i = 0; i < 3; ++i) {
        const Value& value = r.graph.value(r.node.inputs[i]);
        if (!value.is_known() || value.data->size() != 1) fail(r.node, "needs known scalars");
        bound[i] = to_doubles(*value.data)[0];
    }
    const double count = std::ceil((bound[1] - bound[0]) / bound[2]);
    r.require(count < 0x1p40, "too many elements");
    r.set(0, r.type(0), {static_cast<std::int64_t>(std::max(0.0, count))});
}

void infer_shape(const Rule& r) {
    const auto rank = static_cast<std::int64_t>(r.in(0).size());
    const auto clamp = [&](std::int64_t x) {
        return std::clamp(x < 0 ? x + rank : x, std::int64_t{0}, rank);
    };
    const std::int64_t start = clamp(r.node.integer("start", 0));
    const std::int64_t end = clamp(r.node.integer("end", rank));
    r.set(0, ElementType::kInt64, {std::max<std::int64_t>(0, end - start)});
}

void infer_constant_of_shape(const Rule& r) {
    Attribute zero = std::make_shared<const Tensor>(ElementType::kFp32, Shape{1});
    const auto found = r.node.attributes.find("value");
    const Attribute& value = found == r.node.attributes.end() ? zero : found->second;
    const auto& tensor = std::get<std::shared_ptr<const Tensor>>(value);
    r.require(tensor->size() == 1, "value needs one element");
    r.set(0, tensor->type, known_integers(r.graph, r.node, 0));
}

}  // namespace lockstep::network::shapes
