// SPDX-License-Identifier: Apache-2.0
// Until opset 17 ONNX had no LayerNormalization, until 20 no Gelu; PyTorch writes them out. The
// forms below are those of its exporter and of the transformers library. The parts that nobody else
// reads go with remove_unused().
#include "workloads/network/reference/recognise.h"

#include <algorithm>
#include <cmath>

#include "workloads/network/reference/fold.h"
#include "workloads/network/shapes/shape_inference.h"

namespace lockstep::network {

namespace {

class Matcher {
  public:
    explicit Matcher(const Graph& graph) : graph_(graph), writer_(graph.values.size(), nullptr) {
        for (const Node& node : graph.nodes)
            for (const ValueId id : node.outputs)
                if (id != kNoValue) writer_[id] = &node;
    }

    /// The node that computes the value, where it is of this operator.
    const Node* made_by(ValueId id, Operator op) const {
        const Node* node = id == kNoValue ? nullptr : writer_[id];
        return node != nullptr && node->op == op ? node : nullptr;
    }
    /// The operand of a commutative node beside `one`, kNoValue where it has no such operand.
    static ValueId beside(const Node& node, ValueId one) {
        return node.inputs[0] == one   ? node.inputs[1]
               : node.inputs[1] == one ? node.inputs[0]
                                       : kNoValue;
    }
    /// The constant of one element of a node with another operand; NaN where there is none. `other`
    /// is then that operand.
    double constant(const Node& node, ValueId& other) const {
        for (const std::size_t i : {1, 0}) {
            const Value& value = graph_.value(node.inputs[i]);
            if (!value.is_known() || value.data->size() != 1 || !is_floating(value.type)) continue;
            other = node.inputs[1 - i];
            return to_doubles(*value.data)[0];
        }
        return NAN;
    }
    /// The operand that the node scales by `factor` (Mul by it, or Div by its inverse).
    ValueId scaled(ValueId id, double factor) const {
        ValueId x = kNoValue;
        if (const Node* mul = made_by(id, Operator::kMul); mul != nullptr)
            if (is_near(constant(*mul, x), factor)) return x;
        if (const Node* div = made_by(id, Operator::kDiv); div != nullptr)
            if (is_near(constant(*div, x), 1 / factor) && x == div->inputs[0]) return x;
        return kNoValue;
    }
    /// The operand that the node adds 1 to.
    ValueId plus_one(ValueId id) const {
        ValueId x = kNoValue;
        const Node* add = made_by(id, Operator::kAdd);
        return add != nullptr && is_near(constant(*add, x), 1) ? x : kNoValue;
    }
    /// The operand that is raised to a power.
    ValueId powered(ValueId id, double power) const {
        const Node* pow = made_by(id, Operator::kPow);
        ValueId x = kNoValue;
        if (pow != nullptr && constant(*pow, x) == power && x == pow->inputs[0]) return x;
        const Node* mul = made_by(id, Operator::kMul);
        return power == 2 && mul != nullptr && mul->inputs[0] == mul->inputs[1] ? mul->inputs[0]
                                                                                : kNoValue;
    }
    /// The operand that is reduced over one dimension, which is kept; that dimension.
    std::pair<ValueId, std::size_t> reduced(ValueId id, Operator op) const {
        const Node* node = made_by(id, op);
        if (node == nullptr || node->integer("keepdims", 1) == 0) return {kNoValue, 0};
        // Axes as an input need to be known before the run.
        if (node->input(1) != kNoValue && !graph_.value(node->inputs[1]).is_known())
            return {kNoValue, 0};
        bool given = false;
        const std::size_t rank = graph_.shape(node->inputs[0]).size();
        const std::vector<std::size_t> axes = axes_of(graph_, *node, rank, given);
        if (axes.size() != 1) return {kNoValue, 0};
        return {node->inputs[0], axes[0]};
    }
    /// The operand that is averaged over its last dimension, which is kept.
    ValueId averaged(ValueId id) const {
        const auto [x, axis] = reduced(id, Operator::kReduceMean);
        return x != kNoValue && axis + 1 == graph_.shape(x).size() ? x : kNoValue;
    }

    static bool is_near(double a, double b) { return std::abs(a - b) <= 1e-5 * std::abs(b); }

  private:
    const Graph& graph_;
    std::vector<const Node*> writer_;
};

struct Gelu {
    ValueId x = kNoValue;
    const char* approximate = "none";
};

/// 1 + erf(x / sqrt 2) or 1 + tanh(...), as a value.
Gelu gate_of(const Matcher& match, ValueId gate) {
    const ValueId inner = match.plus_one(gate);
    if (const Node* erf = match.made_by(inner, Operator::kErf); erf != nullptr)
        return {match.scaled(erf->inputs[0], M_SQRT1_2), "none"};
    const Node* tanh = match.made_by(inner, Operator::kTanh);
    if (tanh == nullptr) return {};
    // sqrt(2 / pi) (x + 0.044715 x^3)
    const ValueId sum = match.scaled(tanh->inputs[0], std::sqrt(2 / M_PI));
    const Node* add = match.made_by(sum, Operator::kAdd);
    if (add == nullptr) return {};
    for (const ValueId x : add->inputs) {
        const ValueId cube = match.scaled(Matcher::beside(*add, x), 0.044715);
        if (cube != kNoValue && match.powered(cube, 3) == x) return {x, "tanh"};
    }
    return {};
}

/// y = x * gate / 2, whatever is multiplied first.
Gelu gelu_of(const Matcher& match, ValueId y) {
    const auto matches = [&](ValueId x, ValueId gate) {
        const Gelu found = gate_of(match, gate);
        return x != kNoValue && found.x == x ? found : Gelu{};
    };
    if (const ValueId whole = match.scaled(y, 0.5); whole != kNoValue)
        if (const Node* mul = match.made_by(whole, Operator::kMul); mul != nullptr)
            for (const ValueId x : mul->inputs)
                if (const Gelu g = matches(x, Matcher::beside(*mul, x)); g.x != kNoValue) return g;
    if (const Node* mul = match.made_by(y, Operator::kMul); mul != nullptr)
        for (const ValueId half : mul->inputs) {
            const ValueId rest = Matcher::beside(*mul, half);
            if (const Gelu g = matches(match.scaled(half, 0.5), rest); g.x != kNoValue) return g;
            if (const Gelu g = matches(half, match.scaled(rest, 0.5)); g.x != kNoValue) return g;
        }
    return {};
}

struct Normalisation {
    ValueId x = kNoValue, scale = kNoValue, bias = kNoValue;
    double epsilon = 0;
};

/// (x - mean) / sqrt(variance + epsilon)
Normalisation normalised(const Matcher& match, ValueId id) {
    Normalisation found;
    const Node* div = match.made_by(id, Operator::kDiv);
    if (div == nullptr) return {};
    const Node* sub = match.made_by(div->inputs[0], Operator::kSub);
    const Node* root = match.made_by(div->inputs[1], Operator::kSqrt);
    if (sub == nullptr || root == nullptr) return {};
    const Node* add = match.made_by(root->inputs[0], Operator::kAdd);
    if (add == nullptr) return {};
    ValueId variance = kNoValue;
    found.epsilon = match.constant(*add, variance);
    if (!(found.epsilon >= 0)) return {};
    const ValueId square = match.averaged(variance);
    if (square == kNoValue || match.powered(square, 2) != div->inputs[0]) return {};
    if (match.averaged(sub->inputs[1]) != sub->inputs[0]) return {};
    found.x = sub->inputs[0];
    return found;
}

bool is_vector(const Graph& graph, ValueId id, std::int64_t extent) {
    const ValueKind kind = graph.value(id).kind;
    return (kind == ValueKind::kParameter || kind == ValueKind::kConstant) &&
           graph.shape(id) == Shape{extent};
}

Normalisation scaled_normalisation(const Graph& graph, const Matcher& match, ValueId id) {
    const Node* mul = match.made_by(id, Operator::kMul);
    if (mul == nullptr) return {};
    for (const ValueId part : mul->inputs) {
        Normalisation found = normalised(match, part);
        if (found.x == kNoValue) continue;
        found.scale = Matcher::beside(*mul, part);
        const Shape& shape = graph.shape(found.x);
        if (is_vector(graph, found.scale, shape.back())) return found;
    }
    return {};
}

Normalisation normalisation_of(const Graph& graph, const Matcher& match, ValueId id) {
    if (const Node* add = match.made_by(id, Operator::kAdd); add != nullptr)
        for (const ValueId part : add->inputs) {
            Normalisation found = scaled_normalisation(graph, match, part);
            if (found.x == kNoValue) continue;
            found.bias = Matcher::beside(*add, part);
            if (is_vector(graph, found.bias, graph.shape(found.x).back())) return found;
        }
    return scaled_normalisation(graph, match, id);
}

struct Shares {
    ValueId x = kNoValue;
    std::size_t axis = 0;
};

/// exp(x - max x) over its sum
Shares softmax_of(const Matcher& match, ValueId id) {
    const Node* div = match.made_by(id, Operator::kDiv);
    if (div == nullptr) return {};
    const Node* exp = match.made_by(div->inputs[0], Operator::kExp);
    const auto [summed, axis] = match.reduced(div->inputs[1], Operator::kReduceSum);
    if (exp == nullptr || summed != div->inputs[0]) return {};
    const Node* sub = match.made_by(exp->inputs[0], Operator::kSub);
    if (sub == nullptr) return {};
    const auto [x, of_largest] = match.reduced(sub->inputs[1], Operator::kReduceMax);
    if (x == kNoValue || x != sub->inputs[0] || of_largest != axis) return {};
    return {x, axis};
}

/// Replaces each node for whose output `replace` gives a node; with its parts gone.
template <class F>
int replace_all(Graph& graph, F&& replace) {
    std::vector<std::pair<std::size_t, Node>> found;
    const Matcher match(graph);
    for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
        const Node& node = graph.nodes[n];
        if (node.outputs.size() != 1) continue;
        if (std::optional<Node> whole = replace(match, node.outputs[0])) {
            whole->name = node.name;
            whole->outputs = node.outputs;
            found.emplace_back(n, std::move(*whole));
        }
    }
    for (auto& [n, whole] : found) graph.nodes[n] = std::move(whole);
    if (!found.empty()) remove_unused(graph);
    return static_cast<int>(found.size());
}

}  // namespace

int recognise_gelu(Graph& graph) {
    return replace_all(graph, [](const Matcher& match, ValueId y) -> std::optional<Node> {
        const Gelu found = gelu_of(match, y);
        if (found.x == kNoValue) return std::nullopt;
        return Node{
            "", Operator::kGelu, {found.x}, {}, {{"approximate", std::string(found.approximate)}}};
    });
}

int recognise_softmax(Graph& graph) {
    return replace_all(graph, [](const Matcher& match, ValueId y) -> std::optional<Node> {
        const Shares found = softmax_of(match, y);
        if (found.x == kNoValue) return std::nullopt;
        return Node{"",
                    Operator::kSoftmax,
                    {found.x},
                    {},
                    {{"axis", static_cast<std::int64_t>(found.axis)}}};
    });
}

int recognise_layer_normalisation(Graph& graph) {
    int count = 0;
    // With the bias first: else the scaled part of one with a bias would be taken by itself.
    for (const bool biased : {true, false})
        count += replace_all(graph, [&](const Matcher& match, ValueId y) -> std::optional<Node> {
            const Normalisation found = normalisation_of(graph, match, y);
            if (found.x == kNoValue || (found.bias != kNoValue) != biased) return std::nullopt;
            Node node{"",
                      Operator::kLayerNormalization,
                      {found.x, found.scale},
                      {},
                      {{"axis", std::int64_t{-1}}, {"epsilon", static_cast<float>(found.epsilon)}}};
            if (biased) node.inputs.push_back(found.bias);
            return node;
        });
    return count;
}

}  // namespace lockstep::network
