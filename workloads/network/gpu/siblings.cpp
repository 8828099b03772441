// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/gpu/siblings.h"

#include <algorithm>
#include <map>
#include <numeric>

#include "workloads/network/decompose/node_writer.h"
#include "workloads/network/gpu/choose.h"
#include "workloads/network/graph/given.h"
#include "workloads/network/graph/quantisation.h"
#include "workloads/network/graph/uses.h"

namespace lockstep::network::gpu {

namespace {

/// The strides of a part of a row do for it as well as a row's own.
bool takes_part_of_row(Operator op) {
    return is_view(op) || op == Operator::kSlice;
}

class Siblings {
  public:
    Siblings(Graph& graph, const Target& target, Precision precision)
        : graph_(graph), target_(target), precision_(precision), uses_(graph) {}

    int join() {
        std::map<std::pair<ValueId, bool>, std::vector<std::size_t>> groups;
        for (std::size_t n = 0; n < graph_.nodes.size(); ++n)
            if (can_join(graph_.nodes[n]))
                groups[{graph_.nodes[n].inputs[0], graph_.nodes[n].input(2) != kNoValue}].push_back(
                    n);
        std::map<std::size_t, std::vector<Node>> instead;  // by the first of its group
        std::vector<bool> gone(graph_.nodes.size(), false);
        for (const auto& [key, members] : groups) {
            if (members.size() < 2 || !pays(members)) continue;
            instead[members[0]] = joined(members);
            for (const std::size_t n : members) gone[n] = true;
        }
        std::vector<Node> nodes;
        for (std::size_t n = 0; n < gone.size(); ++n) {
            if (const auto found = instead.find(n); found != instead.end())
                std::ranges::move(found->second, std::back_inserter(nodes));
            if (!gone[n]) nodes.push_back(std::move(graph_.nodes[n]));
        }
        graph_.nodes = std::move(nodes);
        return static_cast<int>(instead.size());
    }

  private:
    bool can_join(const Node& node) const {
        if (node.op != Operator::kMatMul || is_quantised(graph_, node)) return false;
        const Value& weight = graph_.value(node.inputs[1]);
        if (!weight.is_known() || weight.shape->size() != 2 || !is_floating(weight.type))
            return false;
        if (graph_.shape(node.inputs[0]).size() < 2) return false;
        if (const ValueId bias = node.input(2);
            bias != kNoValue &&
            (!graph_.value(bias).is_known() || graph_.shape(bias) != Shape{weight.shape->at(1)}))
            return false;
        return !uses_.is_result(node.outputs[0]) &&
               std::ranges::all_of(uses_.readers(node.outputs[0]), [&](std::size_t n) {
                   return takes_part_of_row(graph_.nodes[n].op);
               });
    }

    std::int64_t columns(std::size_t n) const {
        return graph_.shape(graph_.nodes[n].inputs[1]).at(1);
    }

    double cycles(const Node& node, std::int64_t columns) const {
        const Shape& x = graph_.shape(node.inputs[0]);
        const ElementType type = graph_.value(node.inputs[0]).type;
        const auto wide = static_cast<std::int64_t>(16 / size_of(type));
        kernels::Product p;
        p.k = static_cast<std::int32_t>(x.back());
        p.m = static_cast<std::int32_t>(element_count(x) / x.back());
        p.n = static_cast<std::int32_t>(columns);
        p.a_vector = p.b_vector = x.back() % wide == 0 ? 1 : 0;
        return choose_product(target_, precision_, p, {.type = type, .result = type}).cycles;
    }

    bool pays(const std::vector<std::size_t>& members) const {
        double apart = 0;
        std::int64_t all = 0;
        for (const std::size_t n : members) {
            apart += cycles(graph_.nodes[n], columns(n));
            all += columns(n);
        }
        return cycles(graph_.nodes[members[0]], all) < apart;
    }

    /// The tensors side by side along their last dimension.
    Tensor side_by_side(const std::vector<std::size_t>& members, std::size_t operand) const {
        const auto tensor = [&](std::size_t n) -> const Tensor& {
            return *graph_.value(graph_.nodes[n].inputs[operand]).data;
        };
        Shape shape = tensor(members[0]).shape;
        const std::int64_t rows = element_count(shape) / shape.back();
        shape.back() = 0;
        for (const std::size_t n : members) shape.back() += tensor(n).shape.back();
        Tensor all(tensor(members[0]).type, shape);
        auto to = all.bytes.begin();
        for (std::int64_t row = 0; row < rows; ++row)
            for (const std::size_t n : members) {
                const std::vector<std::byte>& from = tensor(n).bytes;
                const auto bytes = static_cast<std::ptrdiff_t>(from.size()) / rows;
                to = std::copy_n(from.begin() + row * bytes, bytes, to);
            }
        return all;
    }

    std::vector<Node> joined(const std::vector<std::size_t>& members) {
        const Node first = graph_.nodes[members[0]];
        std::string name;
        std::vector<std::int64_t> parts;
        for (const std::size_t n : members) {
            name += (name.empty() ? "" : "|") + graph_.nodes[n].name;
            parts.push_back(columns(n));
        }
        NodeWriter w(graph_);
        std::vector<ValueId> inputs = {first.inputs[0]};
        for (std::size_t i = 1; i < first.inputs.size() && first.inputs[i] != kNoValue; ++i) {
            inputs.push_back(
                w.constant(name + (i == 1 ? ".weight" : ".bias"), side_by_side(members, i)));
            graph_.values[inputs.back()].kind = graph_.value(first.inputs[i]).kind;
        }
        const ValueId all = w.add(Operator::kMatMul, name, inputs);
        const std::int64_t last = static_cast<std::int64_t>(w.shape(all).size()) - 1;
        w.add(Operator::kSplit, name + ".split", {all, w.integers(name + ".parts", parts)},
              {{"axis", last}}, static_cast<std::int64_t>(members.size()));
        std::vector<Node> nodes = w.take();
        for (std::size_t i = 0; i < members.size(); ++i)
            nodes.back().outputs[i] = graph_.nodes[members[i]].outputs[0];
        return nodes;
    }

    Graph& graph_;
    const Target& target_;
    const Precision precision_;
    const Uses uses_;
};

}  // namespace

int join_siblings(Graph& graph, const Target& target, Precision precision) {
    return Siblings(graph, target, precision).join();
}

}  // namespace lockstep::network::gpu
