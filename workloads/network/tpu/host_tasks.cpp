// SPDX-License-Identifier: Apache-2.0
// Nodes that generation 1 lacks, as tasks of its host: what the chip made goes to host memory, the
// chip interrupts the host and waits for it, what the chip needs comes back. Values that only the
// host's nodes read never cross the link. Nothing overlaps with the host's work.
#include "sim/error/error.h"
#include "workloads/network/tpu/host.h"
#include "workloads/network/tpu/lowering.h"

#include <algorithm>

namespace lockstep::network::lowering {

tpu::DataType Lowering::host_type_of(ValueId id) const {
    const bool narrows = !has_memory() && is_floating(value(id).type);
    return narrows ? tpu::DataType::kFp32 : type_of(id);
}

bool Lowering::is_output(ValueId id) const {
    return std::find(graph_.outputs.begin(), graph_.outputs.end(), id) != graph_.outputs.end();
}

bool Lowering::chip_reads(ValueId id) const {
    return std::any_of(readers_[id].begin(), readers_[id].end(),
                       [&](const Node* node) { return !host_nodes_.contains(node); });
}

TpuPort Lowering::port_of(ValueId id, const Place& at) const {
    // The buffer that holds it: a value may be part of a larger one.
    for (uint32_t i = 0;; ++i) {
        const tpu::Buffer& b = builder_.buffer(i);
        if (b.space != at.space || at.address < b.address || at.address >= b.address + b.bytes)
            continue;
        return {id, i, at.address - b.address, at.type, at.shape, at.strides, at.image};
    }
}

TpuPort Lowering::bring_to_host(ValueId id) {
    const Place at = place(id);
    if (at.space == tpu::Space::kHost) return port_of(id, at);
    Place to = at;
    to.owner = nullptr;
    if (!is_dense(at)) to.strides = dense_strides(to.shape);
    to.space = tpu::Space::kHost;
    const tpu::Role role = is_output(id) ? tpu::Role::kOutput : tpu::Role::kScratch;
    to.address = builder_.address(add_buffer(value(id).name + ".host", to.space, role, to.type,
                                             to.bytes_of(element_count(to.shape))));
    copy(at, to);
    TpuPort port = port_of(id, to);
    if (is_output(id)) host_outputs_[id] = port;
    return port;
}

void Lowering::lower_on_host(const std::vector<size_t>& nodes) {
    const std::string& first = graph_.nodes[nodes.front()].name;
    const std::string name =
        nodes.size() == 1 ? "host:" + first
                          : fmt::format("host:{}..{}", first, graph_.nodes[nodes.back()].name);
    begin_step(name);
    TpuHostTask task{nodes, {}, {}};
    tpu::HostTask work{name, 0, 0};
    std::vector<ValueId> made;
    bool images = false;  // lie as NHWC
    for (const size_t n : nodes) {
        const Node& node = graph_.nodes[n];
        for (const ValueId id : node.inputs) {
            if (id == kNoValue || host_has_[id] || value(id).kind == ValueKind::kConstant ||
                value(id).kind == ValueKind::kParameter)
                continue;
            host_has_[id] = true;
            task.reads.push_back(bring_to_host(id));
            const TpuPort& port = task.reads.back();
            images |= port.shape.size() == 4 && port.strides == image_strides(port.shape);
        }
        for (const ValueId id : node.outputs) {
            if (id == kNoValue) continue;
            host_has_[id] = true;
            made.push_back(id);
        }
        const NodeCost cost = cost_of(graph_, node);
        work.operations += cost.operations;
        work.bytes += cost.bytes;
    }
    std::vector<std::pair<ValueId, Place>> back;
    for (const ValueId id : made) {
        if (!chip_reads(id) && !is_output(id)) continue;
        Place at;
        at.space = tpu::Space::kHost;
        at.type = host_type_of(id);
        at.shape = shape(id);
        const bool slides = std::any_of(readers_[id].begin(), readers_[id].end(), slides_over);
        at.strides = at.shape.size() == 4 && (images || slides) ? image_strides(at.shape)
                                                                : dense_strides(at.shape);
        const tpu::Role role = is_output(id) ? tpu::Role::kOutput : tpu::Role::kScratch;
        const uint32_t buffer = add_buffer(value(id).name + ".host", at.space, role, at.type,
                                           at.bytes_of(element_count(at.shape)));
        at.address = builder_.address(buffer);
        task.writes.push_back({id, buffer, 0, at.type, at.shape, at.strides, {}});
        if (is_output(id)) host_outputs_[id] = task.writes.back();
        back.emplace_back(id, std::move(at));
    }
    layer().note = fmt::format("{} nodes on the host, {:.3g} MFLOP, {:.3g} MB", nodes.size(),
                               static_cast<double>(work.operations) * 1e-6,
                               static_cast<double>(work.bytes) * 1e-6);
    for (const size_t n : nodes)
        if (const auto found = refused_before_.find(n); found != refused_before_.end())
            layer().note += fmt::format(" ({}: {})", graph_.nodes[n].name, found->second);
    builder_.call_host(builder_.add_host_task(std::move(work)));
    for (auto& [id, at] : back) {
        Place to = at;
        if (chip_reads(id))
            to.owner = heap_.allocate(to.bytes_of(element_count(to.shape)), to.address);
        if (to.owner) {
            to.space = tpu::Space::kUnifiedBuffer;
            copy(at, to);
        }
        set_place(id, std::move(to));
    }
    result_.host_tasks.push_back(std::move(task));
}

}  // namespace lockstep::network::lowering
