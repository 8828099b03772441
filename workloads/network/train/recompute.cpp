// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/train/recompute.h"

#include <algorithm>
#include <map>

#include "sim/error/error.h"

namespace lockstep::network {

namespace {

class Recomputation {
  public:
    Recomputation(Graph& graph, std::size_t forward, std::size_t segments)
        : graph_(graph),
          forward_(forward),
          length_((forward + segments - 1) / std::max<std::size_t>(1, segments)),
          writer_(graph.values.size(), kNobody),
          stays_(graph.values.size(), false) {
        for (std::size_t n = 0; n < forward; ++n)
            for (const ValueId id : graph.nodes[n].outputs)
                if (id != kNoValue) writer_[id] = n;
        for (std::size_t n = 0; n < forward; ++n)
            for (const ValueId id : graph.nodes[n].inputs)
                if (is_forward(id) && segment_of(writer_[id]) != segment_of(n)) stays_[id] = true;
    }

    void keep(ValueId id) { stays_.at(id) = true; }

    void run() {
        std::vector<Node> nodes(graph_.nodes.begin(),
                                graph_.nodes.begin() + static_cast<std::ptrdiff_t>(forward_));
        for (std::size_t n = forward_; n < graph_.nodes.size(); ++n) {
            Node node = graph_.nodes[n];
            for (ValueId& id : node.inputs) id = again(id, nodes);
            nodes.push_back(std::move(node));
        }
        graph_.nodes = std::move(nodes);
    }

  private:
    static constexpr std::size_t kNobody = SIZE_MAX;

    bool is_forward(ValueId id) const {
        return id != kNoValue && id < writer_.size() && writer_[id] != kNobody;
    }
    std::size_t segment_of(std::size_t node) const { return node / length_; }

    /// The value, or its copy; what is missing of the copy is added to `nodes`.
    ValueId again(ValueId id, std::vector<Node>& nodes) {
        if (!is_forward(id) || stays_[id]) return id;
        const std::size_t n = writer_[id];
        if (segment_of(n) == segment_of(forward_ - 1)) return id;
        if (const auto found = copies_.find(id); found != copies_.end()) return found->second;
        Node copy = graph_.nodes[n];
        copy.name += ".again";
        for (ValueId& input : copy.inputs) input = again(input, nodes);
        for (ValueId& output : copy.outputs) {
            if (output == kNoValue) continue;
            Value value = graph_.value(output);
            value.name += ".again";
            const ValueId made = graph_.add(std::move(value));
            copies_[output] = made;
            output = made;
        }
        nodes.push_back(std::move(copy));
        return copies_.at(id);
    }

    Graph& graph_;
    const std::size_t forward_, length_;
    std::vector<std::size_t> writer_;
    std::vector<bool> stays_;
    std::map<ValueId, ValueId> copies_;
};

}  // namespace

void recompute(Graph& graph, std::size_t forward, int segments, const std::vector<ValueId>& kept) {
    LOCKSTEP_CHECK(segments > 0 && forward <= graph.nodes.size(), "{} segments", segments);
    if (forward == 0) return;
    Recomputation recomputation(graph, forward, static_cast<std::size_t>(segments));
    for (const ValueId id : kept) recomputation.keep(id);
    recomputation.run();
}

std::int64_t peak_bytes(const Graph& graph) {
    std::vector<std::size_t> last(graph.values.size(), 0);
    for (std::size_t n = 0; n < graph.nodes.size(); ++n)
        for (const ValueId id : graph.nodes[n].inputs)
            if (id != kNoValue) last[id] = n;
    for (const ValueId id : graph.outputs) last[id] = graph.nodes.size();
    std::int64_t now = 0, most = 0;
    const auto bytes = [&](ValueId id) {
        return element_count(graph.shape(id)) *
               static_cast<std::int64_t>(size_of(graph.value(id).type));
    };
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
        const Node& node = graph.nodes[n];
        for (const ValueId id : node.outputs)
            if (id != kNoValue) now += bytes(id);
        most = std::max(most, now);
        std::vector<ValueId> done = node.inputs;
        done.insert(done.end(), node.outputs.begin(), node.outputs.end());
        std::sort(done.begin(), done.end());
        done.erase(std::unique(done.begin(), done.end()), done.end());
        for (const ValueId id : done)
            if (id != kNoValue && graph.value(id).kind == ValueKind::kComputed && last[id] <= n)
                now -= bytes(id);
    }
    return most;
}

}  // namespace lockstep::network
