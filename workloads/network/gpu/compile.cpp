// SPDX-License-Identifier: Apache-2.0
// The driver: what has no kernel is refused, all of it at once; then groups of nodes are lowered
// one after the other, results are brought to where they are wanted, and memory is planned.
#include <algorithm>
#include <map>
#include <set>

#include "sim/error/error.h"
#include "workloads/network/gpu/attention.h"
#include "workloads/network/gpu/chain.h"
#include "workloads/network/gpu/lowering.h"
#include "workloads/network/graph/given.h"
#include "workloads/network/graph/quantisation.h"
#include "workloads/network/graph/uses.h"
#include "workloads/network/quantise/fp8.h"

namespace lockstep::network::gpu {

namespace {

bool is_product(const Node& node) {
    return info_of(node.op).role == LayerRole::kProduct;
}

compile::Reason product_reason(const Graph& graph, const Node& node, Precision precision) {
    for (const std::size_t i : {0, 1})
        if (!is_quantised(graph, node) && !is_floating(graph.value(node.inputs[i]).type))
            return fmt::format("products of {} in {} have no kernel",
                               name_of(graph.value(node.inputs[i]).type), name_of(precision));
    if (graph.value(node.inputs[0]).type != graph.value(node.inputs[1]).type)
        return "its operands have different types";
    if (graph.value(node.inputs[0]).type == ElementType::kFp64) return "there is no FP64 product";
    if (node.op == Operator::kConv && graph.shape(node.inputs[0]).size() != 4)
        return fmt::format("a convolution over {} dimensions",
                           graph.shape(node.inputs[0]).size() - 2);
    if (node.op == Operator::kMatMul &&
        std::min(graph.shape(node.inputs[0]).size(), graph.shape(node.inputs[1]).size()) < 2)
        return "a product with a vector";
    if (node.op == Operator::kGemm && node.input(2) != kNoValue && node.real("beta", 1) != 1 &&
        node.real("beta", 1) != 0)
        return "a factor of C";
    return std::nullopt;
}

/// Whether the group's last value goes on into the elementwise node alone.
bool continues(const Graph& graph, const Uses& uses, ValueId last, const Node& next) {
    return uses.count(last) == 1 && std::ranges::count(next.inputs, last) == 1 &&
           is_elementwise(graph, next) && graph.shape(next.outputs[0]) == graph.shape(last);
}

}  // namespace

std::string_view name_of(Precision precision) {
    static constexpr std::string_view kNames[] = {"fp32", "tf32", "fp16", "bf16", "int8", "fp8"};
    return kNames[static_cast<std::size_t>(precision)];
}

const OperatorRow* row_of(Operator op) {
    for (const std::span<const OperatorRow> family :
         {indexing_operators(), movement_operators(), pool_operators(), reduction_operators(),
          row_operators()})
        for (const OperatorRow& row : family)
            if (row.op == op) return &row;
    return nullptr;
}

compile::Reason reason_of_row(const Graph& graph, const Node& node) {
    const OperatorRow* row = row_of(node.op);
    if (row == nullptr) return "no kernel computes it";
    return row->reason == nullptr ? std::nullopt : row->reason(graph, node);
}

compile::Reason reason_of(const Graph& graph, const Node& node, Precision precision) {
    if (is_quantised(graph, node))
        if (const compile::Reason reason = quantised_reason(graph, node)) return reason;
    if (is_product(node)) return product_reason(graph, node, precision);
    if (is_quantised(graph, node)) return std::nullopt;
    if (e4m3_scale_of(node)) return std::nullopt;
    if (is_elementwise(graph, node)) return std::nullopt;
    return reason_of_row(graph, node);
}

std::vector<Group> groups_of(const Graph& graph) {
    const Uses uses(graph);
    std::vector<Group> groups;
    std::map<ValueId, std::size_t> ends;  // the group that ends with the value
    for (const Layer& layer : layers_of(graph, {.residual = true, .pooling = false})) {
        Group group = layer.nodes;
        const Node& head = graph.nodes[group.front()];
        if (group.size() == 1 && is_elementwise(graph, head)) {
            // It joins the last group that it alone goes on from, and moves it to its own place.
            for (const ValueId id : head.inputs) {
                const auto before = id == kNoValue ? ends.end() : ends.find(id);
                if (before == ends.end() || !continues(graph, uses, id, head)) continue;
                Group joined = std::move(groups[before->second]);
                groups[before->second].clear();
                joined.push_back(group.front());
                group = std::move(joined);
                break;
            }
        }
        const Node& last = graph.nodes[group.back()];
        const Node& first = graph.nodes[group.front()];
        if (last.outputs.size() == 1 && (is_product(first) || is_elementwise(graph, first)))
            ends[last.outputs[0]] = groups.size();
        groups.push_back(std::move(group));
    }
    std::erase_if(groups, [](const Group& group) { return group.empty(); });
    return groups;
}

namespace {

/// Attention, as it was decided about; by its last node and by its softmax.
struct Decision {
    AttentionNodes attention;
    AttentionChoice choice;
};

std::vector<Decision> decide_on_attention(const Graph& graph, const Target& target,
                                          Precision precision) {
    std::vector<Decision> decisions;
    for (AttentionNodes& found : find_attention(graph)) {
        AttentionChoice choice = choose_attention(target, precision, shape_of(graph, found));
        decisions.push_back({std::move(found), std::move(choice)});
    }
    return decisions;
}

/// Nodes whose results stay in the kernel that attention is.
std::set<std::size_t> inner_nodes(const std::vector<Decision>& decisions) {
    std::set<std::size_t> inner;
    for (const auto& [attention, choice] : decisions)
        if (choice.is_fused)
            for (const std::size_t n : attention.nodes)
                if (n != attention.context) inner.insert(n);
    return inner;
}

void refuse_what_has_no_kernel(const Graph& graph, Precision precision,
                               const std::set<std::size_t>& inner) {
    std::string wrong;
    const auto too_long = [&](const Node& node) -> compile::Reason {
        if (inner.contains(static_cast<std::size_t>(&node - graph.nodes.data())))
            return std::nullopt;
        for (const ValueId id : node.outputs)
            if (id != kNoValue && element_count(graph.shape(id)) > INT32_MAX)
                return fmt::format("{} is {}: kernels count to 2^31 elements", graph.value(id).name,
                                   to_string(graph.shape(id)));
        return std::nullopt;
    };
    for (const Node& node : graph.nodes)
        if (const compile::Reason length = too_long(node))
            wrong += fmt::format("\n  node {} ({}): {}", node.name, name_of(node.op), *length);
        else if (const compile::Reason reason = reason_of(graph, node, precision))
            wrong += fmt::format("\n  node {} ({}): {}", node.name, name_of(node.op), *reason);
    if (!wrong.empty())
        throw InputError(
            fmt::format("{} has nodes that a GPU has no kernel for:{}", graph.name, wrong));
}

Place port(Lowering& l, ValueId id, BufferUse use) {
    const Value& value = l.graph().value(id);
    Place place;
    place.shape = l.graph().shape(id);
    place.strides = compile::dense_strides(place.shape);
    place.type = value.type;
    place.buffer =
        l.add_buffer(value.name, use,
                     static_cast<std::uint64_t>(element_count(place.shape)) * size_of(value.type));
    return place;
}

void check_updates(const Graph& graph, const Options& options) {
    std::set<std::size_t> inputs;
    for (const Update& update : options.updates) {
        LOCKSTEP_CHECK(update.output < graph.outputs.size() && update.input < graph.inputs.size(),
                       "an update of what is not there");
        const ValueId from = graph.outputs[update.output], to = graph.inputs[update.input];
        if (graph.shape(from) != graph.shape(to) || graph.value(from).type != graph.value(to).type)
            throw InputError(
                fmt::format("output {} cannot take the place of input {}: another "
                            "shape or type",
                            graph.value(from).name, graph.value(to).name));
        LOCKSTEP_CHECK(inputs.insert(update.input).second, "two updates of one input");
    }
}

std::string layer_name(const Graph& graph, const Group& group) {
    std::string name;
    for (const std::size_t n : group) name += (name.empty() ? "" : "+") + graph.nodes[n].name;
    return name;
}

/// A group, which may begin with attention.
struct Work {
    Group group;
    const Decision* attention = nullptr;
};

/// The groups, those of attention that is one kernel taken out of others.
std::vector<Work> work_of(const Graph& graph, const std::vector<Decision>& decisions) {
    std::map<std::size_t, const Decision*> fused;
    for (const Decision& decision : decisions)
        if (decision.choice.is_fused)
            for (const std::size_t n : decision.attention.nodes) fused[n] = &decision;
    std::vector<Work> all;
    for (const Group& group : groups_of(graph)) {
        Work work;
        for (const std::size_t n : group) {
            const auto found = fused.find(n);
            if (found == fused.end())
                work.group.push_back(n);
            else if (n == found->second->attention.context)
                work.attention = found->second;
        }
        if (work.attention != nullptr || !work.group.empty()) all.push_back(std::move(work));
    }
    return all;
}

void lower_group(Lowering& l, const Group& group) {
    const Node& first = l.graph().nodes[group.front()];
    l.set_layer(layer_name(l.graph(), group));
    if (is_product(first))
        lower_product(l, group);
    else if (is_quantised(l.graph(), first))
        lower_quantised(l, first);
    else if (e4m3_scale_of(first))
        lower_e4m3(l, first);
    else if (is_elementwise(l.graph(), first))
        lower_chain(l, group);
    else
        row_of(first.op)->lower(l, first);
}

void lower_work(Lowering& l, const Work& work) {
    if (work.attention != nullptr) {
        l.set_layer(layer_name(l.graph(), work.attention->attention.nodes));
        lower_attention(l, work.attention->attention, work.attention->choice);
    }
    if (!work.group.empty()) lower_group(l, work.group);
}

/// Why attention is not one kernel, beside its softmax.
void explain_attention(Executable& code, const std::vector<Decision>& decisions) {
    for (const auto& [attention, choice] : decisions)
        for (Launch& launch : code.launches)
            if (!choice.is_fused && launch.layer == code.graph.nodes[attention.softmax].name)
                launch.choice = choice.reason;
}

}  // namespace

Executable compile(Graph given_graph, const Target& target, const Options& options) {
    Executable code;
    code.graph = std::move(given_graph);
    code.options = options;
    code.target = target;
    const Graph& graph = code.graph;
    check_least_memory(graph, target);
    const std::vector<Decision> decisions = decide_on_attention(graph, target, options.precision);
    refuse_what_has_no_kernel(graph, options.precision, inner_nodes(decisions));
    check_updates(graph, options);
    Lowering l(code);
    code.faults = l.add_buffer("faults", BufferUse::kInput, sizeof(std::int32_t));
    for (const ValueId id : graph.inputs) {
        code.inputs.push_back(port(l, id, BufferUse::kInput));
        l.set_place(id, code.inputs.back());
    }
    for (const ValueId id : graph.outputs) {
        code.outputs.push_back(port(l, id, BufferUse::kOutput));
        l.set_output(id, code.outputs.back().buffer);
    }
    for (const Work& work : work_of(graph, decisions)) lower_work(l, work);
    explain_attention(code, decisions);
    for (std::size_t i = 0; i < graph.outputs.size(); ++i) {
        const Place& made = l.place(graph.outputs[i]);
        if (made.buffer == code.outputs[i].buffer) continue;
        l.set_layer(graph.value(graph.outputs[i]).name);
        l.copy(made, code.outputs[i]);
    }
    place_updates(l);
    plan_memory(code);
    return code;
}

std::uint64_t Executable::bytes() const {
    std::uint64_t sum = shared_memory;
    for (const Buffer& buffer : buffers)
        if (buffer.use != BufferUse::kBetween) sum += buffer.bytes;
    return sum;
}

}  // namespace lockstep::network::gpu
