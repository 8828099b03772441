// SPDX-License-Identifier: Apache-2.0
// The host computes in FP32, and in integers as the chip does, so that a network's results do not
// depend on where a node runs. Operators run one by one.
#include "workloads/network/compile/host.h"

#include <algorithm>

#include "sim/error/error.h"
#include "workloads/network/reference/execute.h"

namespace lockstep::network::compile {

HostDriver::HostDriver(const Graph& graph, const std::vector<HostTask>& tasks,
                       Requantisation requantisation, Contents contents)
    : tasks_(tasks),
      requantisation_(requantisation),
      contents_(std::move(contents)),
      nodes_(graph.nodes),
      values_(graph.values.size()),
      last_task_(graph.values.size(), 0) {
    part_.name = graph.name;
    part_.values = graph.values;
    for (std::uint32_t task = 0; task < tasks.size(); ++task)
        for (const std::size_t n : tasks[task].nodes)
            for (const ValueId id : graph.nodes[n].inputs)
                if (id != kNoValue) last_task_[id] = task;
}

void HostDriver::operator()(std::uint32_t number) {
    if (number >= tasks_.size()) return;
    const HostTask& task = tasks_[number];
    for (const Port& port : task.reads)
        values_[port.value] = std::make_shared<const Tensor>(
            read_port(port, part_.value(port.value).type, contents_(port.buffer)));

    part_.nodes.clear();
    part_.inputs.clear();
    part_.outputs.clear();
    std::vector<bool> made(values_.size(), false), taken(values_.size(), false);
    std::vector<Tensor> inputs;
    for (const std::size_t n : task.nodes) {
        part_.nodes.push_back(nodes_[n]);
        for (const ValueId id : nodes_[n].inputs) {
            if (id == kNoValue || made[id] || taken[id] || part_.value(id).is_known()) continue;
            LOCKSTEP_CHECK(values_[id] != nullptr, "the host has no {}", part_.value(id).name);
            taken[id] = true;
            part_.inputs.push_back(id);
            inputs.push_back(*values_[id]);
        }
        for (const ValueId id : nodes_[n].outputs)
            if (id != kNoValue) made[id] = true;
    }
    const auto is_written = [&](ValueId id) {
        return std::any_of(task.writes.begin(), task.writes.end(),
                           [&](const Port& port) { return port.value == id; });
    };
    for (ValueId id = 0; id < made.size(); ++id)
        if (made[id] && (last_task_[id] > number || is_written(id))) part_.outputs.push_back(id);
    std::vector<Tensor> results = execute(part_, inputs, Precision::kFp32, {}, requantisation_);
    for (std::size_t i = 0; i < results.size(); ++i)
        values_[part_.outputs[i]] = std::make_shared<const Tensor>(std::move(results[i]));
    for (const Port& port : task.writes)
        write_port(port, *values_[port.value], contents_(port.buffer));
    for (std::size_t id = 0; id < values_.size(); ++id)
        if (last_task_[id] <= number) values_[id] = nullptr;
}

}  // namespace lockstep::network::compile
