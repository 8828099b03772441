// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/npu/host_step.h"

#include <fmt/format.h>

#include <algorithm>

#include "workloads/network/compile/cost.h"
#include "workloads/network/graph/given.h"

namespace lockstep::network::npu_code {

void add_host_step(const Graph& graph, const Plan& plan, const Step& step, Buffers& buffers,
                   isa::ProgramBuilder& builder, NpuCompiled& result) {
    const std::string& first = graph.nodes[step.nodes.front()].name;
    const std::string name =
        step.nodes.size() == 1
            ? "host:" + first
            : fmt::format("host:{}..{}", first, graph.nodes[step.nodes.back()].name);
    NpuLayer layer;
    layer.name = name;
    layer.step = builder.begin_step(name);
    compile::HostTask task{step.nodes, {}, {}};
    command::HostTask work{name, 0, 0};
    std::vector<bool> made(graph.values.size(), false), has(graph.values.size(), false);
    for (const std::size_t n : step.nodes) {
        const Node& node = graph.nodes[n];
        for (const ValueId id : node.inputs) {
            if (id == kNoValue || made[id] || has[id] || is_given(graph.value(id))) continue;
            has[id] = true;
            const bool input = std::find(graph.inputs.begin(), graph.inputs.end(),
                                         buffers.root_of(id)) != graph.inputs.end();
            if (input || plan.places.contains(buffers.root_of(id)))
                task.reads.push_back(buffers.port_of(id));
        }
        for (const ValueId id : node.outputs)
            if (id != kNoValue) made[id] = true;
        const compile::NodeCost cost = compile::cost_of(graph, node);
        work.operations += cost.operations;
        work.bytes += cost.bytes;
    }
    for (ValueId id = 0; id < made.size(); ++id) {
        const bool output =
            std::find(graph.outputs.begin(), graph.outputs.end(), id) != graph.outputs.end();
        if (made[id] && (output || plan.places.contains(buffers.root_of(id))))
            task.writes.push_back(buffers.port_of(id));
    }
    layer.note = fmt::format("{} nodes on the host, {:.3g} MFLOP, {:.3g} MB", step.nodes.size(),
                             static_cast<double>(work.operations) * 1e-6,
                             static_cast<double>(work.bytes) * 1e-6);
    builder.call_host(builder.add_host_task(std::move(work)));
    result.host_tasks.push_back(std::move(task));
    result.layers.push_back(std::move(layer));
}

}  // namespace lockstep::network::npu_code
