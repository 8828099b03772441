// SPDX-License-Identifier: Apache-2.0
// Who writes each value of a graph and who reads it, as the graph was when this was made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "workloads/network/graph/graph.h"

namespace lockstep::network {

class Uses {
  public:
    static constexpr std::size_t kNobody = SIZE_MAX;

    explicit Uses(const Graph& graph) : Uses(graph, graph.outputs) {}
    /// Of a run that wants other results than the graph's own.
    Uses(const Graph& graph, std::span<const ValueId> results);

    /// The node that computes the value; kNobody of those that are given.
    std::size_t writer(ValueId id) const { return writer_.at(id); }
    /// The nodes that read it, ascending: one that has it as two operands stands there twice.
    std::span<const std::size_t> readers(ValueId id) const {
        const std::size_t begin = begin_.at(id), end = begin_.at(id + 1);
        return {readers_.data() + begin, end - begin};
    }
    /// How often it is read: once for each operand that it is, and once for each result.
    std::size_t count(ValueId id) const { return counts_.at(id); }
    const std::vector<std::size_t>& counts() const { return counts_; }
    bool is_read(ValueId id) const { return count(id) != 0; }
    bool is_result(ValueId id) const { return count(id) != readers(id).size(); }
    /// The node that reads it, where it is read just once and is no result; else kNobody.
    std::size_t only_reader(ValueId id) const {
        return count(id) == 1 && !is_result(id) ? readers(id)[0] : kNobody;
    }

  private:
    std::vector<std::size_t> writer_, counts_;
    std::vector<std::size_t> begin_;  ///< by value, and the end: where its readers are in readers_
    std::vector<std::size_t> readers_;
};

}  // namespace lockstep::network
