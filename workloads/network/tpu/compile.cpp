// SPDX-License-Identifier: Apache-2.0
// Nodes are lowered one after the other, each together with what can be computed on its way out of
// the accumulators. On generation 1 weights stream from their memory; later generations stream rows
// and weights through the unified buffer, as compilers for them do between fusions.
#include "workloads/network/tpu/compile.h"

#include <algorithm>

#include "sim/error/error.h"
#include "workloads/network/compile/partition.h"
#include "workloads/network/graph/given.h"
#include "workloads/network/graph/quantisation.h"
#include "workloads/network/tpu/copies.h"
#include "workloads/network/tpu/host_tasks.h"
#include "workloads/network/tpu/operators.h"

namespace lockstep::network::lowering {

namespace {

using compile::NodeGroup;

constexpr std::uint64_t kRingOfV1 = 3 << 20;

std::uint64_t ring_bytes(const TpuTarget& target) {
    if (target.generation >= 2)
        return compile::aligned(static_cast<std::uint64_t>(
            static_cast<double>(target.limits.unified_buffer) * (1 - target.resident_share)));
    return std::min(kRingOfV1, target.limits.unified_buffer / 4);
}

/// The nodes in the order in which they are computed, and where.
std::vector<NodeGroup> groups_of(const Graph& graph, const TpuTarget& target,
                                 const Refused& refused) {
    if (target.generation >= 2) return {{false, topological_order(graph)}};
    std::vector<compile::Reason> reasons;
    for (const Node& node : graph.nodes) reasons.push_back(core_lacks({graph, target, node}));
    for (const auto& [node, reason] : refused) reasons[node] = reason;
    return compile::partition(graph, reasons);
}

std::set<const Node*> host_nodes(const Graph& graph, const std::vector<NodeGroup>& groups) {
    std::set<const Node*> nodes;
    for (const NodeGroup& group : groups)
        for (const std::size_t n : group.nodes)
            if (group.on_host) nodes.insert(&graph.nodes[n]);
    return nodes;
}

class Compiler {
  public:
    /// `refused`: nodes that generation 1 is not to be asked for again.
    Compiler(const Graph& graph, const TpuTarget& target, const Refused& refused)
        : graph_(graph),
          target_(target),
          groups_(groups_of(graph, target, refused)),
          c_(graph, target, host_nodes(graph, groups_)),
          host_(c_, refused) {}

    /// Of what remains refused() means nothing.
    TpuCompiled run();
    /// What the core could not compute.
    const Refused& refused() const { return refused_; }

  private:
    void place_inputs();
    void take_outputs();
    void lower_node(std::size_t index);

    const Graph& graph_;
    const TpuTarget& target_;
    const std::vector<NodeGroup> groups_;
    Compilation c_;
    HostTasks host_;
    Refused refused_;
    TpuCompiled result_;
};

void Compiler::place_inputs() {
    Placement& places = c_.places;
    for (const ValueId id : graph_.inputs) {
        Place from;
        from.space = places.backing();
        const bool transfers = !c_.has_memory() && places.chip_reads(id);
        from.type = transfers ? places.type_of(id) : places.host_type_of(id);
        from.shape = graph_.shape(id);
        // An image that a window slides over lies as NHWC.
        from.strides = from.shape.size() == 4 && places.is_slid_over(id)
                           ? image_strides(from.shape)
                           : dense_strides(from.shape);
        const std::uint32_t buffer =
            places.place_in_program(from, c_.value(id).name, tpu::Role::kInput);
        result_.inputs.push_back({id, buffer, 0, element_type_of(from.type), from});
        Place to = from;
        if (transfers && places.place_in_buffer(to)) {
            c_.steps.begin("read " + c_.value(id).name);
            copy(c_, from, to);
        }
        places.set(id, std::move(to));
    }
}

void Compiler::take_outputs() {
    Placement& places = c_.places;
    for (const ValueId id : graph_.outputs) {
        if (const auto found = host_.outputs().find(id); found != host_.outputs().end()) {
            result_.outputs.push_back(found->second);
            continue;
        }
        Place at = places.of(id);
        if (at.space == tpu::Space::kUnifiedBuffer) {
            Place to = at;
            to.owner = nullptr;
            if (!compile::is_dense(at)) to.strides = dense_strides(to.shape);
            to.space = places.backing();
            places.place_in_program(to, c_.value(id).name, tpu::Role::kOutput);
            c_.steps.begin("write " + c_.value(id).name);
            copy(c_, at, to);
            at = to;
        }
        result_.outputs.push_back(places.port_of(id, at));
    }
}

void Compiler::lower_node(std::size_t index) {
    const Node& node = graph_.nodes[index];
    if (!c_.fused.contains(&node)) {
        compile::Reason reason = can_lower({graph_, target_, node});
        try {
            if (!reason) lower(c_, node);
        } catch (const compile::Refusal& refusal) {
            reason = refusal.what();
            c_.staging.close();
        } catch (const command::FieldOverflow& overflow) {
            reason = overflow.what();
            c_.staging.close();
        }
        if (reason) refused_.emplace(index, *reason);
    }
    for (const ValueId id : node.outputs)
        if (id != kNoValue && !refused_.empty()) c_.places.stand_in(id);
}

TpuCompiled Compiler::run() {
    place_inputs();
    for (const NodeGroup& group : groups_) {
        if (group.on_host) host_.add(group.nodes);
        for (const std::size_t index : group.nodes) {
            if (!group.on_host) lower_node(index);
            c_.places.release(graph_.nodes[index]);
        }
    }
    if (!refused_.empty()) return {};
    take_outputs();
    result_.layers = c_.steps.take();
    result_.host_tasks = host_.take();
    result_.dataflow = target_.limits.dataflow;
    result_.fixed_point = target_.fixed_point;
    result_.resident_bytes = c_.places.heap().most_used();
    result_.program = c_.builder.finish();
    return std::move(result_);
}

}  // namespace

Compilation::Compilation(const Graph& the_graph, const TpuTarget& the_target,
                         std::set<const Node*> host)
    : graph(the_graph),
      target(the_target),
      heap_bytes(target.limits.unified_buffer -
                 std::min(target.limits.unified_buffer, ring_bytes(target))),
      builder(target.generation),
      steps(builder, target.generation >= 2, target.resident_share > 0),
      places(graph, target, builder, heap_bytes, std::move(host)),
      staging(builder, heap_bytes, target.limits.unified_buffer - heap_bytes) {}

bool Compilation::is_fixed_point(const Node& node) const {
    return Asked{graph, target, node}.is_fixed_point();
}

}  // namespace lockstep::network::lowering

namespace lockstep::network {

TpuCompiled compile_for_tpu(const Graph& graph, const TpuTarget& target) {
    lowering::Refused refused;
    for (;;) {
        lowering::Compiler compiler(graph, target, refused);
        TpuCompiled compiled = compiler.run();
        if (compiler.refused().empty()) return compiled;
        if (target.generation >= 2) {
            std::string wrong;
            for (const std::size_t n : topological_order(graph))
                if (const auto found = compiler.refused().find(n);
                    found != compiler.refused().end())
                    wrong += fmt::format("\n  {} ({}): {}", graph.nodes[n].name,
                                         name_of(graph.nodes[n].op), found->second);
            throw InputError(fmt::format("{} cannot be compiled for a TPU of generation {}:{}",
                                         graph.name, target.generation, wrong));
        }
        refused.insert(compiler.refused().begin(), compiler.refused().end());
    }
}

}  // namespace lockstep::network
