// SPDX-License-Identifier: Apache-2.0
// Source of the lists: PyTorch 2, torch.amp, "CUDA Ops that can autocast to float16".
#include "workloads/network/train/mixed.h"

#include <map>

#include "sim/error/error.h"
#include "workloads/network/graph/onnx_type.h"
#include "workloads/network/shapes/shape_inference.h"

namespace lockstep::network {

namespace {

using enum Operator;

bool needs_fp32(const Node& node) {
    switch (node.op) {
        case kReduceL2:
        case kReduceMean:
        case kReduceProd:
        case kReduceSum:
        case kReduceSumSquare:
            return true;
        // As exact in the narrow type as their operands are.
        case kSigmoid:
        case kTanh:
        case kGelu:
        case kElu:
        case kDiv:
            return false;
        default:
            break;
    }
    const Work work = info_of(node.op).work;
    return work == Work::kFunction || work == Work::kNormalisation || work == Work::kSoftmax;
}

class Caster {
  public:
    Caster(Graph& graph, ElementType type) : graph_(graph), type_(type) {}

    void run() {
        for (const std::size_t n : topological_order(graph_)) {
            Node node = graph_.nodes[n];
            if (node.op != kCast) cast_operands(node);
            infer_node(graph_, node);
            nodes_.push_back(std::move(node));
        }
        graph_.nodes = std::move(nodes_);
    }
    ValueId in_fp32(ValueId id) {
        nodes_ = std::move(graph_.nodes);
        const ValueId result = as(id, ElementType::kFp32);
        graph_.nodes = std::move(nodes_);
        return result;
    }

  private:
    bool is_real(ValueId id) const { return id != kNoValue && is_floating(graph_.value(id).type); }

    void cast_operands(Node& node) {
        ElementType wanted = type_;
        if (needs_fp32(node)) {
            wanted = ElementType::kFp32;
        } else if (info_of(node.op).product == ProductForm::kNone) {
            // Constants and weights follow what is computed.
            bool computes = false, is_wide = false;
            for (const ValueId id : node.inputs)
                if (is_real(id) && graph_.value(id).kind == ValueKind::kComputed) {
                    computes = true;
                    is_wide |= graph_.value(id).type == ElementType::kFp32;
                }
            if (is_wide || !computes) wanted = ElementType::kFp32;
        }
        for (ValueId& id : node.inputs)
            if (is_real(id)) id = as(id, wanted);
    }

    ValueId as(ValueId id, ElementType type) {
        if (graph_.value(id).type == type) return id;
        const auto [found, is_new] = made_.try_emplace({id, type}, kNoValue);
        if (!is_new) return found->second;
        Value value = graph_.value(id);
        value.name = fmt::format("{}.{}", value.name, name_of(type));
        value.type = type;
        if (value.is_known()) {
            value.data = std::make_shared<const Tensor>(
                from_doubles(type, value.data->shape, to_doubles(*value.data)));
            return found->second = graph_.add(std::move(value));
        }
        value.kind = ValueKind::kComputed;
        const std::string name = value.name;
        found->second = graph_.add(std::move(value));
        nodes_.push_back({name, kCast, {id}, {found->second}, {{"to", onnx_type_of(type)}}});
        return found->second;
    }

    Graph& graph_;
    const ElementType type_;
    std::vector<Node> nodes_;
    std::map<std::pair<ValueId, ElementType>, ValueId> made_;
};

}  // namespace

ValueId use_mixed_precision(Graph& graph, ElementType type, ValueId output) {
    if (type != ElementType::kBf16 && type != ElementType::kFp16)
        throw InputError(
            fmt::format("mixed precision in {}: there is bf16 or fp16", name_of(type)));
    Caster caster(graph, type);
    caster.run();
    return caster.in_fp32(output);
}

}  // namespace lockstep::network
