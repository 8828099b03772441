// SPDX-License-Identifier: Apache-2.0
// The nodes in their order, each as steps: a product with what follows it, or any other by its
// family (lower_*.cpp). What these refuse may be the host's.
#include "workloads/network/npu/lower.h"

#include <algorithm>

#include "workloads/network/graph/fusion.h"
#include "workloads/network/graph/given.h"
#include "workloads/network/graph/quantisation.h"

namespace lockstep::network::npu_code {

Step Lowering::begin(std::size_t index, isa::Opcode opcode) {
    const Node& node = graph_.nodes[index];
    Step step;
    step.name = node.name;
    step.nodes = {index};
    step.opcode = opcode;
    step.input = values_.own(node.inputs.at(0));
    step.input_zero = zero(node.inputs[0]);
    set_output(step, node.outputs.at(0));
    step.window.rows = step.output.box.h;
    step.window.columns = step.output.box.w;
    return step;
}

/// The stored values as they are.
void Lowering::identity(Step& step, ValueId from) {
    step.result = {1 << 30, 30};
    step.output_zero = zero(from);
}

std::vector<Step> Lowering::node(std::size_t index, std::vector<Step>& before) {
    const Node& node = graph_.nodes[index];
    const bool quantised = is_quantised(graph_, node);
    if (!quantised) refuse("it computes floats");
    if (is_given(graph_.value(node.inputs.at(0))) &&
        info_of(node.op).integers != IntegerForm::kCombination)
        refuse("its operand is a constant");
    switch (node.op) {
        case Operator::kConcat:
            return concatenation(index, before);
        case Operator::kPad:
            return padding(index);
        case Operator::kGather:
            return {gather(index)};
        case Operator::kResizeBilinear:
            return {resize(index)};
        case Operator::kSlice:
        case Operator::kSplit:
            see_slice(node);
            return {};
        case Operator::kAdd:
        case Operator::kSub:
        case Operator::kMul:
            return {combination(index)};
        case Operator::kSoftmax:
            return {softmax(index)};
        case Operator::kLRN:
            return {local_response(index)};
        default:
            break;
    }
    if (info_of(node.op).role == LayerRole::kPooling) return {pooling(index)};
    if (info_of(node.op).integers == IntegerForm::kTable) return {activation(index)};
    if (info_of(node.op).integers == IntegerForm::kSameValues && node.op != Operator::kExpand) {
        see(node, before);
        return {};
    }
    refuse("the NPU has no command for it");
}

namespace {

/// Whether the node reads what one of the host step's nodes makes in another shape, which is the
/// NPU's to say: then it is a task of its own, after that.
bool sees_otherwise(const Graph& graph, Values& values, const Step& step, std::size_t node) {
    std::set<ValueId> made;
    for (const std::size_t n : step.nodes)
        made.insert(graph.nodes[n].outputs.begin(), graph.nodes[n].outputs.end());
    return std::any_of(graph.nodes[node].inputs.begin(), graph.nodes[node].inputs.end(),
                       [&](ValueId id) {
                           if (id == kNoValue || made.contains(id)) return false;
                           const Value& value = graph.value(id);
                           return value.quantisation && value.type == ElementType::kInt8 &&
                                  !is_given(value) && made.contains(values.root_of(id));
                       });
}

}  // namespace

Lowered lower(const Graph& graph, Values& values, const NpuTarget& target,
              const std::set<std::size_t>& on_host) {
    Lowering lowering(graph, values, target);
    Lowered result;
    const auto try_nodes = [&](const std::vector<std::size_t>& nodes, auto&& make) {
        try {
            make();
        } catch (const compile::Refusal& refusal) {
            result.refused.emplace(nodes.front(), refusal.what());
        } catch (const InputError& error) {
            result.refused.emplace(nodes.front(), error.what());
        }
    };
    const auto add_node = [&](std::size_t n) {
        try_nodes({n}, [&] {
            for (Step& step : lowering.node(n, result.steps))
                result.steps.push_back(std::move(step));
        });
    };
    for (const Layer& layer : layers_of(graph)) {
        std::vector<std::size_t> nodes = layer.nodes;
        const bool hosts = on_host.contains(nodes.front());
        if (!hosts && info_of(graph.nodes[nodes.front()].op).role == LayerRole::kProduct) {
            // As far as the first that is the host's.
            nodes.erase(std::find_if(nodes.begin(), nodes.end(),
                                     [&](std::size_t n) { return on_host.contains(n); }),
                        nodes.end());
            std::size_t taken = 1;
            try_nodes(nodes, [&] {
                Step step = lowering.product(nodes);
                taken = step.nodes.size();
                result.steps.push_back(std::move(step));
            });
            nodes = layer.nodes;
            nodes.erase(nodes.begin(), nodes.begin() + static_cast<std::int64_t>(taken));
        }
        for (const std::size_t n : nodes) {
            if (!on_host.contains(n)) {
                add_node(n);
                continue;
            }
            if (result.steps.empty() || !result.steps.back().on_host ||
                sees_otherwise(graph, values, result.steps.back(), n)) {
                result.steps.emplace_back();
                result.steps.back().on_host = true;
            }
            result.steps.back().nodes.push_back(n);
        }
    }
    return result;
}

}  // namespace lockstep::network::npu_code
