// SPDX-License-Identifier: Apache-2.0
// Machines that concatenate by copying bytes need parts of one scale, as TensorFlow Lite's
// quantisation specification demands of CONCATENATION too.
#include <algorithm>

#include "workloads/network/graph/uses.h"
#include "workloads/network/quantise/calibrate.h"

namespace lockstep::network {

void share_concat_ranges(const Graph& graph, Ranges& ranges) {
    const Uses uses(graph);
    // What a value was before it was only moved: it has one scale from there on.
    const auto origin = [&](ValueId id) {
        while (uses.writer(id) != Uses::kNobody && keeps_scale(graph.nodes[uses.writer(id)].op))
            id = graph.nodes[uses.writer(id)].inputs[0];
        return id;
    };
    // A part may belong to several concatenations, whose ranges then grow until none changes.
    for (bool changes = true; changes;) {
        changes = false;
        for (const Node& node : graph.nodes) {
            if (node.op != Operator::kConcat) continue;
            std::vector<ValueId> members = {node.outputs[0]};
            for (const ValueId id : node.inputs) members.push_back(origin(id));
            Range all = ranges.at(members[0]);
            for (const ValueId id : members)
                all = {std::min(all.low, ranges.at(id).low),
                       std::max(all.high, ranges.at(id).high)};
            for (const ValueId id : members) {
                changes |= ranges[id].low != all.low || ranges[id].high != all.high;
                ranges[id] = all;
            }
        }
    }
}

}  // namespace lockstep::network
