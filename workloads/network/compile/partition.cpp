// SPDX-License-Identifier: Apache-2.0
// As TensorFlow's placement of operators did it. Nodes are taken greedily: the chip's as long as
// any can run, then the host's.
#include "workloads/network/compile/partition.h"

#include <algorithm>
#include <set>

#include "workloads/network/graph/uses.h"

namespace lockstep::network::compile {

namespace {

/// The same values in another order or shape.
bool only_moves(Operator op) {
    return info_of(op).integers == IntegerForm::kSameValues;
}

class Partition {
  public:
    Partition(const Graph& graph, const std::vector<Reason>& reasons)
        : graph_(graph),
          order_(topological_order(graph)),
          on_host_(graph.nodes.size()),
          uses_(graph),
          readers_(graph.nodes.size()) {
        for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
            on_host_[n] = reasons.at(n).has_value();
            for (const ValueId id : graph.nodes[n].outputs)
                if (id != kNoValue)
                    std::ranges::copy(uses_.readers(id), std::back_inserter(readers_[n]));
        }
    }

    std::vector<NodeGroup> run() {
        if (std::find(on_host_.begin(), on_host_.end(), true) == on_host_.end())
            return {{false, order_}};
        for (const std::size_t n : order_)
            if (moves_from_host(n)) on_host_[n] = true;
        for (std::size_t i = order_.size(); i-- > 0;)
            if (moves_to_host(order_[i])) on_host_[order_[i]] = true;
        return groups();
    }

  private:
    bool moves_from_host(std::size_t n) const {
        const Node& node = graph_.nodes[n];
        if (!only_moves(node.op)) return false;
        const std::size_t writer = uses_.writer(node.inputs.at(0));
        return writer != Uses::kNobody && on_host_[writer];
    }

    bool moves_to_host(std::size_t n) const {
        const Node& node = graph_.nodes[n];
        const auto is_result = [&](ValueId id) { return id != kNoValue && uses_.is_result(id); };
        return only_moves(node.op) && !readers_[n].empty() &&
               std::none_of(node.outputs.begin(), node.outputs.end(), is_result) &&
               std::all_of(readers_[n].begin(), readers_[n].end(),
                           [&](std::size_t reader) { return on_host_[reader]; });
    }

    std::vector<NodeGroup> groups() const {
        std::vector<std::size_t> waits_for(graph_.nodes.size(), 0), place(graph_.nodes.size());
        for (std::size_t i = 0; i < order_.size(); ++i) place[order_[i]] = i;
        for (const std::vector<std::size_t>& readers : readers_)
            for (const std::size_t reader : readers) ++waits_for[reader];
        std::set<std::size_t> ready[2];  // places in the order, of the chip's and the host's nodes
        const auto make_ready = [&](std::size_t n) { ready[on_host_[n] ? 1 : 0].insert(place[n]); };
        for (const std::size_t n : order_)
            if (waits_for[n] == 0) make_ready(n);
        std::vector<NodeGroup> result;
        for (bool host = false; !ready[0].empty() || !ready[1].empty(); host = !host) {
            NodeGroup group{host, {}};
            while (!ready[host].empty()) {
                const std::size_t n = order_[*ready[host].begin()];
                ready[host].erase(ready[host].begin());
                group.nodes.push_back(n);
                for (const std::size_t reader : readers_[n])
                    if (--waits_for[reader] == 0) make_ready(reader);
            }
            if (!group.nodes.empty()) result.push_back(std::move(group));
        }
        return result;
    }

    const Graph& graph_;
    std::vector<std::size_t> order_;
    std::vector<bool> on_host_;
    const Uses uses_;
    std::vector<std::vector<std::size_t>> readers_;  ///< nodes, by the node they read from
};

}  // namespace

std::vector<NodeGroup> partition(const Graph& graph, const std::vector<Reason>& reasons) {
    return Partition(graph, reasons).run();
}

}  // namespace lockstep::network::compile
