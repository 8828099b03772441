// SPDX-License-Identifier: Apache-2.0
// Runs the nodes in topological order and frees each value after its last reader. Floating values
// are held in the chosen precision, all others in int64, wrapped into their type at Cast alone:
// beside the quantised operators, integers are shapes and indices.
#include "workloads/network/reference/execute.h"

#include <chrono>
#include <utility>

#include "sim/error/error.h"
#include "workloads/network/graph/uses.h"
#include "workloads/network/reference/array.h"
#include "workloads/network/reference/integer.h"
#include "workloads/network/reference/threads.h"

namespace lockstep::network {

namespace reference {

std::vector<std::int64_t> strides_of(const Shape& shape) {
    std::vector<std::int64_t> strides(shape.size(), 1);
    for (std::size_t i = shape.size(); i-- > 1;) strides[i - 1] = strides[i] * shape[i];
    return strides;
}

std::vector<std::int64_t> broadcast_strides(const Shape& operand, const Shape& out) {
    const std::vector<std::int64_t> own = strides_of(operand);
    std::vector<std::int64_t> strides(out.size(), 0);
    for (std::size_t i = 0; i < operand.size(); ++i)
        if (operand[i] != 1) strides[out.size() - operand.size() + i] = own[i];
    return strides;
}

namespace {

template <class Real>
Array<Real> array_of(const Tensor& tensor) {
    Array<Real> array{tensor.shape, tensor.type, {}, {}};
    if (!is_floating(tensor.type))
        array.integer = to_integers(tensor);
    else if constexpr (std::is_same_v<Real, float>)
        array.real = to_floats(tensor);
    else
        array.real = to_doubles(tensor);
    return array;
}

template <class Real>
Tensor tensor_of(const Array<Real>& array) {
    if (!is_floating(array.type)) return from_integers(array.type, array.shape, array.integer);
    if constexpr (std::is_same_v<Real, float>)
        return from_floats(ElementType::kFp32, array.shape, array.real);
    else
        return from_doubles(ElementType::kFp64, array.shape, array.real);
}

/// FP32 is rounded to the narrower types; FP64 is the yardstick and is not.
template <class Real>
void round_to_type(Array<Real>& array) {
    const bool narrow = array.type == ElementType::kBf16 || array.type == ElementType::kFp16;
    if constexpr (std::is_same_v<Real, float>)
        if (narrow) array.real = to_floats(from_floats(array.type, array.shape, array.real));
}

template <class Real>
class Executor {
  public:
    Executor(const Graph& graph, const std::vector<ValueId>& wanted, Requantisation requantisation)
        : graph_(graph),
          wanted_(wanted),
          requantisation_(requantisation),
          arrays_(graph.values.size()),
          reads_(Uses(graph, wanted).counts()) {}

    /// Called with each floating value that is an input or computed.
    std::function<void(ValueId, std::span<const Real>)> visit;
    /// Takes the seconds of each node, where it is set.
    std::vector<double>* seconds = nullptr;

    std::vector<Tensor> run(const std::vector<Tensor>& inputs) {
        for (std::size_t i = 0; i < inputs.size(); ++i) {
            auto array = std::make_unique<Array<Real>>(array_of<Real>(inputs[i]));
            array->type = graph_.value(graph_.inputs[i]).type;
            round_to_type(*array);
            show(graph_.inputs[i], *array);
            arrays_[graph_.inputs[i]] = std::move(array);
        }
        for (const std::size_t n : topological_order(graph_)) {
            const auto begin = std::chrono::steady_clock::now();
            run_node(graph_.nodes[n]);
            if (seconds != nullptr)
                (*seconds)[n] =
                    std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
        }
        std::vector<Tensor> results;
        for (const ValueId id : wanted_) results.push_back(tensor_of(read(id)));
        return results;
    }

  private:
    const Array<Real>& read(ValueId id) {
        if (arrays_[id] == nullptr) {
            const Value& value = graph_.value(id);
            if (!value.is_known())
                throw InputError(fmt::format("value {} has no data to compute with", value.name));
            arrays_[id] = std::make_unique<Array<Real>>(array_of<Real>(*value.data));
        }
        return *arrays_[id];
    }

    void show(ValueId id, const Array<Real>& array) const {
        if (visit && is_floating(array.type)) visit(id, array.real);
    }

    void run_node(const Node& node) {
        Step<Real> step{graph_, node, {}, {}, requantisation_};
        for (const ValueId id : node.inputs)
            step.in.push_back(id == kNoValue ? nullptr : &read(id));
        for (const ValueId id : node.outputs) {
            step.out.push_back(nullptr);
            if (id == kNoValue) continue;
            auto array = std::make_unique<Array<Real>>();
            array->shape = graph_.shape(id);
            array->type = graph_.value(id).type;
            const auto count = static_cast<std::size_t>(element_count(array->shape));
            is_floating(array->type) ? array->real.resize(count) : array->integer.resize(count);
            step.out.back() = array.get();
            arrays_[id] = std::move(array);
        }
        if (!run_quantised(step) && !run_kernel(step))
            throw InputError(fmt::format("node {}: {} cannot be computed in {}", node.name,
                                         name_of(node.op),
                                         step.in.empty() ? "" : name_of(step.in[0]->type)));
        for (std::size_t i = 0; i < step.out.size(); ++i) {
            if (step.out[i] == nullptr) continue;
            round_to_type(*step.out[i]);
            show(node.outputs[i], *step.out[i]);
        }
        for (const ValueId id : node.inputs)
            if (id != kNoValue && --reads_[id] == 0) arrays_[id] = nullptr;
        for (const ValueId id : node.outputs)
            if (id != kNoValue && reads_[id] == 0) arrays_[id] = nullptr;
    }

    const Graph& graph_;
    const std::vector<ValueId>& wanted_;
    Requantisation requantisation_;
    std::vector<std::unique_ptr<Array<Real>>> arrays_;
    std::vector<std::size_t> reads_;  ///< to come, by value
};

}  // namespace
}  // namespace reference

namespace {

void check_inputs(const Graph& graph, const std::vector<Tensor>& inputs) {
    if (inputs.size() != graph.inputs.size())
        throw InputError(fmt::format("network {} has {} inputs, not {}", graph.name,
                                     graph.inputs.size(), inputs.size()));
    for (std::size_t i = 0; i < inputs.size(); ++i) {
        const Value& value = graph.value(graph.inputs[i]);
        const bool fits =
            is_floating(value.type) ? is_floating(inputs[i].type) : inputs[i].type == value.type;
        if (!fits || inputs[i].shape != value.shape)
            throw InputError(fmt::format("input {} is given as {}{}", value.name,
                                         name_of(inputs[i].type), to_string(inputs[i].shape)));
    }
}

}  // namespace

std::vector<Tensor> execute(const Graph& graph, const std::vector<Tensor>& inputs,
                            Precision precision, const std::vector<ValueId>& wanted,
                            Requantisation requantisation) {
    check_inputs(graph, inputs);
    const std::vector<ValueId>& results = wanted.empty() ? graph.outputs : wanted;
    if (precision == Precision::kFp32)
        return reference::Executor<float>(graph, results, requantisation).run(inputs);
    return reference::Executor<double>(graph, results, requantisation).run(inputs);
}

TimedRun execute_timed(const Graph& graph, const std::vector<Tensor>& inputs, unsigned threads) {
    check_inputs(graph, inputs);
    TimedRun run;
    run.seconds.resize(graph.nodes.size());
    reference::Executor<float> executor(graph, graph.outputs, Requantisation::kFixedPoint);
    executor.seconds = &run.seconds;
    const unsigned before = std::exchange(reference::own_threads, threads);
    try {
        run.outputs = executor.run(inputs);
    } catch (...) {
        reference::own_threads = before;
        throw;
    }
    reference::own_threads = before;
    return run;
}

void execute_visiting(const Graph& graph, const std::vector<Tensor>& inputs, const Visitor& visit) {
    check_inputs(graph, inputs);
    const std::vector<ValueId> none;
    reference::Executor<float> executor(graph, none, Requantisation::kFixedPoint);
    executor.visit = visit;
    executor.run(inputs);
}

}  // namespace lockstep::network
