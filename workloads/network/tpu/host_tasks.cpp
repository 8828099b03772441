// SPDX-License-Identifier: Apache-2.0
// What the chip made goes to host memory, the chip interrupts the host and waits for it, what the
// chip needs comes back. Values that only the host's nodes read never cross the link. Nothing
// overlaps with the host's work.
#include "workloads/network/tpu/host_tasks.h"

#include "sim/error/error.h"
#include "workloads/network/compile/cost.h"
#include "workloads/network/graph/given.h"
#include "workloads/network/tpu/copies.h"

namespace lockstep::network::lowering {

TpuPort HostTasks::bring(ValueId id) {
    Placement& places = c_.places;
    const Place at = places.of(id);
    if (at.space == tpu::Space::kHost) return places.port_of(id, at);
    Place to = at;
    to.owner = nullptr;
    if (!compile::is_dense(at)) to.strides = dense_strides(to.shape);
    to.space = tpu::Space::kHost;
    places.place_in_program(to, c_.value(id).name + ".host",
                            places.is_output(id) ? tpu::Role::kOutput : tpu::Role::kScratch);
    copy(c_, at, to);
    TpuPort port = places.port_of(id, to);
    if (places.is_output(id)) outputs_[id] = port;
    return port;
}

Place HostTasks::make_result(ValueId id, bool images, compile::HostTask& task) {
    Placement& places = c_.places;
    Place at;
    at.space = tpu::Space::kHost;
    at.type = places.host_type_of(id);
    at.shape = c_.shape(id);
    at.strides = at.shape.size() == 4 && (images || places.is_slid_over(id))
                     ? image_strides(at.shape)
                     : dense_strides(at.shape);
    const bool is_output = places.is_output(id);
    const std::uint32_t buffer = places.place_in_program(
        at, c_.value(id).name + ".host", is_output ? tpu::Role::kOutput : tpu::Role::kScratch);
    task.writes.push_back({id, buffer, 0, element_type_of(at.type), at});
    if (is_output) outputs_[id] = task.writes.back();
    return at;
}

void HostTasks::add(const std::vector<std::size_t>& nodes) {
    const Graph& graph = c_.graph;
    const std::string& first = graph.nodes[nodes.front()].name;
    const std::string name =
        nodes.size() == 1 ? "host:" + first
                          : fmt::format("host:{}..{}", first, graph.nodes[nodes.back()].name);
    c_.steps.begin(name);
    compile::HostTask task{nodes, {}, {}};
    tpu::HostTask work{name, 0, 0};
    std::vector<ValueId> made;
    bool images = false;  // lie as NHWC
    for (const std::size_t n : nodes) {
        const Node& node = graph.nodes[n];
        for (const ValueId id : node.inputs) {
            if (id == kNoValue || has_[id] || is_given(c_.value(id))) continue;
            has_[id] = true;
            task.reads.push_back(bring(id));
            const compile::View& view = task.reads.back().view;
            images |= view.shape.size() == 4 && view.strides == image_strides(view.shape);
        }
        for (const ValueId id : node.outputs) {
            if (id == kNoValue) continue;
            has_[id] = true;
            made.push_back(id);
        }
        const compile::NodeCost cost = compile::cost_of(graph, node);
        work.operations += cost.operations;
        work.bytes += cost.bytes;
    }
    std::vector<std::pair<ValueId, Place>> back;
    for (const ValueId id : made)
        if (c_.places.chip_reads(id) || c_.places.is_output(id))
            back.emplace_back(id, make_result(id, images, task));
    std::string& note = c_.steps.layer().note;
    note = fmt::format("{} nodes on the host, {:.3g} MFLOP, {:.3g} MB", nodes.size(),
                       static_cast<double>(work.operations) * 1e-6,
                       static_cast<double>(work.bytes) * 1e-6);
    for (const std::size_t n : nodes)
        if (const auto found = refused_.find(n); found != refused_.end())
            note += fmt::format(" ({}: {})", graph.nodes[n].name, found->second);
    c_.builder.call_host(c_.builder.add_host_task(std::move(work)));
    for (auto& [id, at] : back) {
        Place to = at;
        if (c_.places.chip_reads(id) && c_.places.place_in_buffer(to)) copy(c_, at, to);
        c_.places.set(id, std::move(to));
    }
    tasks_.push_back(std::move(task));
}

}  // namespace lockstep::network::lowering
