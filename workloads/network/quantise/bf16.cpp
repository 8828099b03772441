// SPDX-License-Identifier: Apache-2.0
// TPUs from the second on multiply bf16 operands and add in fp32; tensors are kept in bf16 between
// operators. Source: Norrie et al., "The Design Process for Google's Training Chips: TPUv2 and
// TPUv3" (2021).
#include "workloads/network/quantise/bf16.h"

#include "workloads/network/onnx_type.h"

namespace lockstep::network {

Graph cast_to_bf16(const Graph& graph) {
    Graph result = graph;
    for (Value& value : result.values) {
        if (value.type != ElementType::kFp32) continue;
        value.type = ElementType::kBf16;
        if (value.is_known())
            value.data = std::make_shared<const Tensor>(
                from_floats(ElementType::kBf16, value.data->shape, to_floats(*value.data)));
    }
    for (Node& node : result.nodes) {
        if (node.op == Operator::kCast && node.integer("to", 0) == kOnnxFp32)
            node.attributes["to"] = kOnnxBf16;
        // What a node holds itself becomes bf16 where it is computed.
        for (auto& [name, attribute] : node.attributes) {
            const auto* tensor = std::get_if<std::shared_ptr<const Tensor>>(&attribute);
            if (tensor == nullptr || (*tensor)->type != ElementType::kFp32) continue;
            attribute = std::make_shared<const Tensor>(
                from_floats(ElementType::kBf16, (*tensor)->shape, to_floats(**tensor)));
        }
    }
    validate(result);
    return result;
}

}  // namespace lockstep::network
