// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <utility>
#include <vector>

#include "sim/error/error.h"
#include "workloads/network/graph/graph.h"

namespace lockstep::network {

/// A graph whose nodes read rounded copies of values: a Cast makes each, once, before its first
/// reader.
class RoundedOperands {
  public:
    explicit RoundedOperands(const Graph& graph) : graph_(graph), result_(graph) {}

    /// The copy of a value under a key. `round` makes a new one of the value, with a name of its
    /// own and the number of copies so far, and returns the Cast's attributes; none is needed for a
    /// copy that is no ValueKind::kComputed.
    template <typename Round>
    ValueId of(ValueId id, int key, Round round) {
        const auto [found, is_new] = made_.try_emplace({id, key}, kNoValue);
        if (!is_new) return found->second;
        Value value = graph_.value(id);
        auto attributes = round(value, made_.size());
        const std::string name = value.name;
        const bool is_computed = value.kind == ValueKind::kComputed;
        found->second = result_.add(std::move(value));
        if (is_computed)
            nodes_.push_back({.name = name,
                              .op = Operator::kCast,
                              .inputs = {id},
                              .outputs = {found->second},
                              .attributes = std::move(attributes)});
        return found->second;
    }
    /// The graph's next node, with what it reads.
    void add(Node node) { nodes_.push_back(std::move(node)); }
    /// Throws what validate() does.
    Graph finish() {
        result_.nodes = std::move(nodes_);
        validate(result_);
        return std::move(result_);
    }

  private:
    const Graph& graph_;
    Graph result_;
    std::map<std::pair<ValueId, int>, ValueId> made_;
    std::vector<Node> nodes_;
};

}  // namespace lockstep::network
