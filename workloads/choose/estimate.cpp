// SPDX-License-Identifier: Apache-2.0
#include "workloads/choose/estimate.h"

#include <algorithm>
#include <map>

#include "models/roofline/bound.h"
#include "sim/error/error.h"
#include "workloads/network/compile/layer_work.h"
#include "workloads/network/graph/fusion.h"
#include "workloads/network/reference/fold.h"

namespace lockstep::choose {

namespace {

using network::Graph;
using network::ValueId;
using network::ValueKind;

constexpr double kFp32Bytes = 4, kAdamBytes = 16;

double elements(const Graph& graph, ValueId id) {
    return static_cast<double>(network::element_count(graph.shape(id)));
}

/// Elements of weights: floating values that are given, not computed.
double parameters_of(const Graph& graph) {
    std::vector<bool> is_read(graph.values.size());
    for (const network::Node& node : graph.nodes)
        for (const ValueId id : node.inputs)
            if (id != network::kNoValue) is_read[id] = true;
    double count = 0;
    for (ValueId id = 0; id < graph.values.size(); ++id) {
        const network::Value& value = graph.value(id);
        // Batch norm that is folded makes constants of weights.
        const bool is_given =
            value.kind == ValueKind::kParameter || value.kind == ValueKind::kConstant;
        if (is_given && network::is_floating(value.type) && is_read[id])
            count += elements(graph, id);
    }
    return count;
}

bool is_view(const network::Node& node) {
    return network::info_of(node.op).work == network::Work::kView;
}

double bytes_of_value(const Graph& graph, ValueId id, double bytes) {
    const network::Value& value = graph.value(id);
    return elements(graph, id) * (network::is_floating(value.type)
                                      ? bytes
                                      : static_cast<double>(network::size_of(value.type)));
}

/// What is computed, all of it, and the inputs.
double kept_for_backward(const Graph& graph, double bytes) {
    double sum = 0;
    for (const ValueId id : graph.inputs) sum += bytes_of_value(graph, id, bytes);
    for (const network::Node& node : graph.nodes)
        if (!is_view(node))
            for (const ValueId id : node.outputs)
                if (id != network::kNoValue) sum += bytes_of_value(graph, id, bytes);
    return sum;
}

/// The most that lives at once when layers run in their order.
double live_at_once(const Graph& graph, double bytes) {
    const std::vector<network::Layer> layers = network::layers_of(graph);
    std::map<ValueId, std::size_t> last;
    for (std::size_t i = 0; i < layers.size(); ++i)
        for (const ValueId id : layers[i].inputs) last[id] = i;
    for (const ValueId id : graph.outputs) last[id] = layers.size();
    const auto is_activation = [&](ValueId id) {
        const ValueKind kind = graph.value(id).kind;
        return kind == ValueKind::kInput || kind == ValueKind::kComputed;
    };
    double live = 0, most = 0;
    for (const ValueId id : graph.inputs) live += bytes_of_value(graph, id, bytes);
    for (std::size_t i = 0; i < layers.size(); ++i) {
        for (const ValueId id : layers[i].outputs) live += bytes_of_value(graph, id, bytes);
        most = std::max(most, live);
        for (const ValueId id : layers[i].inputs)
            if (is_activation(id) && last[id] == i) live -= bytes_of_value(graph, id, bytes);
    }
    return most;
}

}  // namespace

std::string_view name_of(Phase phase) {
    return phase == Phase::kTraining ? "training" : "inference";
}

Estimate estimate(Graph graph, const DataSheet& sheet, std::string_view precision, Phase phase) {
    const bool trains = phase == Phase::kTraining;
    if (trains)
        network::infer_and_fold(graph);
    else
        network::simplify(graph);
    const double bytes = network::compile::bytes_of(precision), peak = sheet.peak(precision),
                 passes = trains ? 3 : 1;
    LOCKSTEP_CHECK(sheet.bandwidth > 0, "a data sheet without a bandwidth");
    Estimate made;
    double by_memory = 0;
    for (const network::compile::LayerWork& work : network::compile::layer_works(graph, bytes)) {
        const roofline::Bound bound = roofline::bound(
            peak, sheet.bandwidth, passes * work.operations, passes * (work.read + work.written));
        made.seconds += bound.seconds;
        if (bound.by_memory) by_memory += bound.seconds;
    }
    made.parameters = parameters_of(graph);
    made.weights = made.parameters * bytes;
    if (trains) {
        made.weights = made.parameters * std::max(bytes, 2.0);
        made.states = made.parameters * kAdamBytes - made.weights;
        made.activations = kept_for_backward(graph, bytes);
        // Weight and two moments are read and written, the gradient is read: seven passes.
        constexpr double kPasses = 7;
        const double update = kPasses * kFp32Bytes * made.parameters / sheet.bandwidth;
        made.seconds += update;
        by_memory += update;
    } else {
        made.activations = live_at_once(graph, bytes);
    }
    made.memory_share = made.seconds > 0 ? by_memory / made.seconds : 0;
    return made;
}

std::string usual_precision(const DataSheet& sheet, Phase phase) {
    const std::string_view usual = sheet.usual_float();
    if (!usual.empty()) return std::string(usual);
    if (phase == Phase::kInference && sheet.peak("int8") > 0) return "int8";
    return "";
}

}  // namespace lockstep::choose
