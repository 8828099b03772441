// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/graph/uses.h"

namespace lockstep::network {

Uses::Uses(const Graph& graph, std::span<const ValueId> results)
    : writer_(graph.values.size(), kNobody),
      counts_(graph.values.size(), 0),
      begin_(graph.values.size() + 1, 0) {
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
        for (const ValueId id : graph.nodes[n].outputs)
            if (id != kNoValue) writer_.at(id) = n;
        for (const ValueId id : graph.nodes[n].inputs)
            if (id != kNoValue) ++counts_.at(id);
    }
    for (std::size_t id = 0; id < counts_.size(); ++id) begin_[id + 1] = begin_[id] + counts_[id];
    readers_.resize(begin_.back());
    std::vector<std::size_t> next(begin_.begin(), begin_.end() - 1);
    for (std::size_t n = 0; n < graph.nodes.size(); ++n)
        for (const ValueId id : graph.nodes[n].inputs)
            if (id != kNoValue) readers_[next[id]++] = n;
    for (const ValueId id : results) ++counts_.at(id);
}

}  // namespace lockstep::network
