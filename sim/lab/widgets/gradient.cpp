// SPDX-License-Identifier: Apache-2.0
// Backpropagation through a network of two inputs, two hidden neurons and one output: every value,
// every gradient, and the graph that computes them, which is the one that networks train by.
#include "workloads/network/train/gradient.h"

#include <fmt/format.h>

#include <cmath>

#include "sim/error/error.h"
#include "sim/lab/widgets/request.h"
#include "sim/lab/widgets/widgets.h"
#include "workloads/network/graph/builder.h"
#include "workloads/network/reference/execute.h"

namespace lockstep::lab {

namespace {

using Json = nlohmann::ordered_json;
using namespace network;

constexpr std::int64_t kInputs = 2, kHidden = 2;
constexpr double kMost = 1000, kStep = 1e-5;

Tensor tensor(Shape shape, const std::vector<double>& values) {
    Tensor result(ElementType::kFp64, std::move(shape));
    std::copy(values.begin(), values.end(), result.as<double>().begin());
    return result;
}

std::vector<double> numbers_of(const Tensor& tensor) {
    const auto values = tensor.as<double>();
    return {values.begin(), values.end()};
}

/// y = relu(x W1) W2, loss = (y - target)^2.
struct Network {
    struct Named {
        const char* name;
        ValueId value, gradient = kNoValue;
    };
    Graph graph;
    std::vector<Named> named;
    std::size_t forward_nodes = 0;

    Network() {
        Builder b("by_hand", 0);
        const auto input = [&](const char* name, Shape shape) {
            return b.input(name, ElementType::kFp64, std::move(shape));
        };
        const ValueId x = input("x", {1, kInputs}), w1 = input("w1", {kInputs, kHidden});
        const ValueId w2 = input("w2", {kHidden, 1}), target = input("target", {1, 1});
        const ValueId one = input("dloss", {1, 1});
        const ValueId h = b.node(Operator::kMatMul, "h", {x, w1});
        const ValueId a = b.node(Operator::kRelu, "a", {h});
        const ValueId y = b.node(Operator::kMatMul, "y", {a, w2});
        const ValueId error = b.node(Operator::kSub, "error", {y, target});
        const ValueId loss = b.node(Operator::kMul, "loss", {error, error});
        graph = b.finish({loss});
        forward_nodes = graph.nodes.size();
        named = {{"x", x}, {"w1", w1}, {"h", h}, {"a", a}, {"w2", w2}, {"y", y}, {"loss", loss}};
        std::vector<ValueId> wanted;
        for (const Named& each : named)
            if (each.value != loss) wanted.push_back(each.value);
        const Seed seed{loss, one};
        const auto gradients = add_gradients(graph, std::span(&seed, 1), wanted);
        for (std::size_t i = 0; i < gradients.size(); ++i) named[i].gradient = gradients[i];
    }
};

struct Setting {
    std::vector<double> x, w1, w2;
    double target = 0;
    std::vector<Tensor> inputs() const {
        return {tensor({1, kInputs}, x), tensor({kInputs, kHidden}, w1), tensor({kHidden, 1}, w2),
                tensor({1, 1}, {target}), tensor({1, 1}, {1})};
    }
};

double loss_of(const Network& network, const Setting& setting) {
    return numbers_of(
        execute(network.graph, setting.inputs(), Precision::kFp64, network.graph.outputs)[0])[0];
}

/// (loss(w + step) - loss(w - step)) / (2 step), for each weight.
std::vector<double> differences(const Network& network, Setting setting,
                                std::vector<double> Setting::*weights) {
    std::vector<double> result;
    for (std::size_t i = 0; i < (setting.*weights).size(); ++i) {
        const double before = (setting.*weights)[i];
        (setting.*weights)[i] = before + kStep;
        const double above = loss_of(network, setting);
        (setting.*weights)[i] = before - kStep;
        const double below = loss_of(network, setting);
        (setting.*weights)[i] = before;
        result.push_back((above - below) / (2 * kStep));
    }
    return result;
}

std::vector<double> updated(const std::vector<double>& weights, const Json& gradient, double rate) {
    std::vector<double> result;
    for (std::size_t i = 0; i < weights.size(); ++i)
        result.push_back(weights[i] - rate * gradient[i].get<double>());
    return result;
}

/// The nodes in order, with what each computed.
Json nodes_of(const Network& network, const std::vector<Tensor>& inputs) {
    const Graph& graph = network.graph;
    std::vector<ValueId> outputs;
    for (const Node& node : graph.nodes) outputs.push_back(node.outputs.at(0));
    const std::vector<Tensor> values = execute(graph, inputs, Precision::kFp64, outputs);
    Json list = Json::array();
    for (const std::size_t i : topological_order(graph)) {
        const Node& node = graph.nodes[i];
        Json names = Json::array();
        for (const ValueId id : node.inputs)
            if (id != kNoValue) names.push_back(graph.value(id).name);
        const bool is_real = values[i].type == ElementType::kFp64;
        list.push_back({{"name", node.name},
                        {"op", name_of(node.op)},
                        {"inputs", std::move(names)},
                        {"shape", values[i].shape},
                        {"values", is_real ? Json(numbers_of(values[i])) : Json()},
                        {"forward", i < network.forward_nodes}});
    }
    return list;
}

std::vector<double> read_numbers(WidgetRequest& request, const char* name,
                                 const std::vector<double>& usual) {
    std::vector<double> numbers = request.numbers(name, usual, usual.size());
    if (numbers.size() != usual.size())
        throw InputError(fmt::format("{}: wanted {} numbers", name, usual.size()));
    for (const double number : numbers)
        if (!(std::abs(number) <= kMost))
            throw InputError(fmt::format("{}: numbers of -{} to {}", name, kMost, kMost));
    return numbers;
}

}  // namespace

Json gradients_by_hand(const nlohmann::json& json) {
    WidgetRequest request(json);
    Setting setting;
    setting.x = read_numbers(request, "x", {1, 2});
    setting.w1 = read_numbers(request, "w1", {1, 1, 1, -1});
    setting.w2 = read_numbers(request, "w2", {2, 3});
    setting.target = read_numbers(request, "target", {4})[0];
    const double rate = read_numbers(request, "rate", {0.01})[0];
    request.finish();
    const Network network;
    const std::vector<Tensor> inputs = setting.inputs();
    Json values, gradients;
    for (const Network::Named& each : network.named) {
        values[each.name] =
            numbers_of(execute(network.graph, inputs, Precision::kFp64, {each.value})[0]);
        if (each.gradient != kNoValue)
            gradients[each.name] =
                numbers_of(execute(network.graph, inputs, Precision::kFp64, {each.gradient})[0]);
    }
    Setting next = setting;
    next.w1 = updated(setting.w1, gradients["w1"], rate);
    next.w2 = updated(setting.w2, gradients["w2"], rate);
    return {{"values", std::move(values)},
            {"gradients", std::move(gradients)},
            {"differences",
             {{"w1", differences(network, setting, &Setting::w1)},
              {"w2", differences(network, setting, &Setting::w2)}}},
            {"next", {{"w1", next.w1}, {"w2", next.w2}, {"loss", loss_of(network, next)}}},
            {"nodes", nodes_of(network, inputs)}};
}

}  // namespace lockstep::lab
