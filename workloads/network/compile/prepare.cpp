// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/compile/prepare.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "sim/error/error.h"
#include "workloads/network/builtin/inputs.h"
#include "workloads/network/graph/quantisation.h"
#include "workloads/network/quantise/from_onnx.h"
#include "workloads/network/reference/execute.h"

namespace lockstep::network::compile {

namespace {

Tensor to_input(const Graph& graph, ValueId id, const Tensor& real) {
    const Value& value = graph.value(id);
    if (value.quantisation && real.type != value.type)
        return quantise(real, *value.quantisation, value.type);
    const bool is_short = value.type == ElementType::kBf16 || value.type == ElementType::kFp16;
    if (value.type != real.type && is_short && is_floating(real.type))
        return from_floats(value.type, real.shape, to_floats(real));
    return real;
}

/// What a softmax in integers makes 0 need not have a place among the integers that it reads: a
/// mask of -10000 would else leave one step for all scores.
class SoftmaxScores {
  public:
    explicit SoftmaxScores(const Graph& graph) : rows_(graph.values.size(), 0) {
        std::vector<bool> others(graph.values.size(), false);
        for (const ValueId id : graph.outputs) others[id] = true;
        for (const Node& node : graph.nodes)
            for (const ValueId id : node.inputs) {
                if (id == kNoValue) continue;
                const auto rank = static_cast<std::int64_t>(graph.shape(id).size());
                const std::int64_t axis = node.integer("axis", -1);
                if (node.op == Operator::kSoftmax && (axis == -1 || axis == rank - 1))
                    rows_[id] = static_cast<std::size_t>(graph.shape(id).back());
                else
                    others[id] = true;
            }
        for (std::size_t id = 0; id < others.size(); ++id)
            if (others[id]) rows_[id] = 0;
        lows_.assign(rows_.size(), std::numeric_limits<float>::max());
    }

    void visit(ValueId id, std::span<const float> values) {
        // exp(-d) is below half a step of 1/256.
        static const float kReach = std::log(512.0f);
        for (std::size_t row = 0; rows_[id] != 0 && row < values.size(); row += rows_[id]) {
            const auto scores = values.subspan(row, rows_[id]);
            const float most = *std::max_element(scores.begin(), scores.end());
            for (const float score : scores)
                lows_[id] = std::min(lows_[id], std::max(score, most - kReach));
        }
    }

    void narrow(Ranges& ranges) const {
        for (std::size_t id = 0; id < lows_.size(); ++id)
            if (rows_[id] != 0) ranges[id].low = std::max(ranges[id].low, lows_[id]);
    }

  private:
    std::vector<std::size_t> rows_;  ///< elements of a row; 0: others read it, too
    std::vector<float> lows_;
};

std::vector<Tensor> to_inputs(const Graph& graph, const std::vector<Tensor>& real) {
    std::vector<Tensor> inputs;
    for (std::size_t i = 0; i < real.size(); ++i)
        inputs.push_back(to_input(graph, graph.inputs[i], real[i]));
    return inputs;
}

}  // namespace

/// There is nothing to compute with a value that has no elements.
void refuse_empty_values(const Graph& graph) {
    std::string wrong;
    const auto check = [&](const std::string& what, ValueId id) {
        if (id != kNoValue && element_count(graph.shape(id)) == 0)
            wrong += fmt::format("\n  {}: {} is {}", what, graph.value(id).name,
                                 to_string(graph.shape(id)));
    };
    for (const ValueId id : graph.inputs) check("input", id);
    for (const Node& node : graph.nodes)
        for (const ValueId id : node.outputs) check("node " + node.name, id);
    if (!wrong.empty()) throw InputError(graph.name + " has values without elements:" + wrong);
}

Prepared prepare_integers(const Graph& graph, const QuantiseOptions& options,
                          const std::vector<std::vector<Tensor>>& samples,
                          const std::vector<Tensor>& inputs) {
    Prepared prepared;
    if (is_quantised_model(graph)) {
        prepared.graph = integers_from_onnx(graph, options);
    } else {
        Ranges ranges;
        if (!inputs.empty()) {
            SoftmaxScores scores(graph);
            ranges = calibrate(graph, samples, 1, [&](ValueId id, std::span<const float> values) {
                scores.visit(id, values);
            });
            if (options.rows) scores.narrow(ranges);
            share_concat_ranges(graph, ranges);
            for (const Tensor& output : execute(graph, inputs))
                prepared.real_outputs.push_back(to_floats(output));
        }
        prepared.graph = quantise(graph, ranges, options);
    }
    prepared.inputs = to_inputs(prepared.graph, inputs);
    return prepared;
}

Prepared prepare_integers(const Graph& graph, const QuantiseOptions& options, std::uint64_t seed,
                          bool with_values) {
    Prepared prepared;
    std::vector<Tensor> real;
    if (with_values) real = seeded_inputs(graph, seed);
    if (is_quantised_model(graph)) return prepare_integers(graph, options, {}, real);
    Ranges ranges;
    if (with_values) {
        prepared.real_outputs.resize(graph.outputs.size());
        SoftmaxScores scores(graph);
        ranges = calibrate(graph, {real}, 1, [&](ValueId id, std::span<const float> values) {
            scores.visit(id, values);
            for (std::size_t i = 0; i < graph.outputs.size(); ++i)
                if (graph.outputs[i] == id)
                    prepared.real_outputs[i].assign(values.begin(), values.end());
        });
        if (options.rows) scores.narrow(ranges);
        share_concat_ranges(graph, ranges);
    }
    prepared.graph = quantise(graph, ranges, options);
    prepared.inputs = to_inputs(prepared.graph, real);
    return prepared;
}

Prepared prepare_floats(Graph graph, std::uint64_t seed, bool with_values) {
    Prepared prepared;
    prepared.graph = std::move(graph);
    if (with_values)
        prepared.inputs = to_inputs(prepared.graph, seeded_inputs(prepared.graph, seed));
    return prepared;
}

}  // namespace lockstep::network::compile
