// SPDX-License-Identifier: Apache-2.0
// Chains of elementwise nodes as one kernel: each operand is read once and only the last value is
// stored. The result lies as the first operand of its shape does.
#include <algorithm>
#include <cmath>

#include "workloads/network/gpu/chain.h"
#include "workloads/network/gpu/map_arguments.h"
#include "workloads/network/graph/given.h"
#include "workloads/network/graph/quantisation.h"

namespace lockstep::network::gpu {

namespace {

/// The value that a node takes from the chain: one that was computed and has the result's shape, if
/// there is one.
std::size_t chained_input(const Graph& graph, const Node& node, ValueId chain) {
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
        if (chain != kNoValue && node.inputs[i] == chain) return i;
    const Shape& shape = graph.shape(node.outputs[0]);
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
        if (node.inputs[i] != kNoValue && graph.shape(node.inputs[i]) == shape &&
            chain_steps(graph, node, i))
            return i;
    return 0;
}

/// What a chain reads: a value, along one dimension of the result where it says so.
struct Source {
    ValueId value = kNoValue;
    std::optional<std::size_t> axis;
    bool operator==(const Source&) const = default;
};

class Chain {
  public:
    explicit Chain(Lowering& l) : l_(l), graph_(l.graph()) {}

    bool empty() const { return last_ == kNoValue; }
    ValueId last() const { return last_; }

    /// False where the chain is full, or of another kind: it has to be stored first.
    bool append(const Node& node) {
        const bool integers = is_integer_step(graph_, node);
        if (!empty()) {
            const ElementType between = graph_.value(last_).type;
            if (integers != integers_ || graph_.shape(node.outputs[0]) != graph_.shape(last_) ||
                std::ranges::count(node.inputs, last_) != 1 ||
                (!integers && !is_floating(between) && between != ElementType::kBool))
                return false;
        }
        const std::size_t from = chained_input(graph_, node, last_);
        const auto steps = chain_steps(graph_, node, from);
        LOCKSTEP_CHECK(steps.has_value(), "{} is not elementwise", node.name);
        std::vector<Source> sources = sources_;
        if (empty()) sources.push_back({node.inputs[from], {}});
        const auto slot = [&](ValueId value, std::optional<std::size_t> axis) {
            if (value == kNoValue) return -1;
            const Source source{value, axis};
            const auto found = std::ranges::find(sources, source);
            if (found != sources.end()) return static_cast<int>(found - sources.begin());
            sources.push_back(source);
            return static_cast<int>(sources.size() - 1);
        };
        std::vector<std::pair<int, int>> slots;
        for (const ChainStep& step : *steps)
            slots.emplace_back(slot(step.x, step.axis), slot(step.y, step.axis));
        if (sources.size() > kernels::kOperands ||
            steps_.size() + steps->size() > kernels::kSteps) {
            LOCKSTEP_CHECK(!empty(), "{}: more operands than a kernel takes", node.name);
            return false;
        }
        sources_ = std::move(sources);
        steps_.insert(steps_.end(), steps->begin(), steps->end());
        slots_.insert(slots_.end(), slots.begin(), slots.end());
        integers_ = integers;
        last_ = node.outputs[0];
        return true;
    }

    void store() {
        const Shape& shape = graph_.shape(last_);
        std::vector<Place> places;
        for (const Source& source : sources_) places.push_back(l_.place(source.value));
        std::vector<std::int64_t> strides = compile::dense_strides(shape);
        for (const Place& place : places)
            if (place.shape == shape && element_count(shape) > 1) {
                strides = compile::strides_like(place, shape);
                break;
            }
        const Place out = l_.create(last_, strides);
        Loops loops{shape, {}};
        loops.add(out.strides);
        for (std::size_t i = 0; i < places.size(); ++i) {
            compile::View view = places[i];
            if (const auto axis = sources_[i].axis) view = along_axis(view, *axis, shape);
            loops.add(broadcast_strides(view, shape));
        }
        loops = loops.sorted().joined();
        if (integers_)
            emit<kernels::IntegerStep>(out, places, loops, "map_integer");
        else
            emit<kernels::Step>(out, places, loops, "map_real");
        *this = Chain(l_);
    }

    Chain& operator=(Chain&& other) noexcept {
        sources_ = std::move(other.sources_);
        steps_ = std::move(other.steps_);
        slots_ = std::move(other.slots_);
        integers_ = other.integers_;
        last_ = other.last_;
        return *this;
    }

  private:
    template <class StepType>
    void emit(const Place& out, const std::vector<Place>& places, const Loops& loops,
              std::string_view kernel) {
        auto p = map_over<kernels::MapOf<StepType>>(l_, loops, out, places);
        std::uint64_t bytes = static_cast<std::uint64_t>(loops.count()) * size_of(out.type);
        for (const Place& place : places)
            bytes += static_cast<std::uint64_t>(element_count(place.shape)) * size_of(place.type);
        p.steps = static_cast<std::int32_t>(steps_.size());
        for (std::size_t i = 0; i < steps_.size(); ++i) {
            StepType& step = p.step[i];
            step.function = steps_[i].function;
            step.x = static_cast<std::int8_t>(slots_[i].first);
            step.y = static_cast<std::int8_t>(slots_[i].second);
            set_number(step.a, steps_[i].a);
            set_number(step.b, steps_[i].b);
        }
        const bool fours = kernel == "map_real" && loops.extents.back() % 4 == 0 &&
                           (p.out.vector != 0 || out.strides.empty());
        Launch& launch =
            l_.emit({"map", fours ? "map_real4" : kernel},
                    Lowering::threads_for(fours ? loops.count() / 4 : loops.count()), p);
        launch.bytes = bytes;
    }

    static void set_number(float& to, double number) { to = static_cast<float>(number); }
    static void set_number(std::int64_t& to, double number) {
        to = number >= 0x1p63    ? INT64_MAX
             : number <= -0x1p63 ? INT64_MIN
                                 : static_cast<std::int64_t>(number);
    }

    Lowering& l_;
    const Graph& graph_;
    std::vector<Source> sources_;
    std::vector<ChainStep> steps_;
    std::vector<std::pair<int, int>> slots_;
    bool integers_ = false;
    ValueId last_ = kNoValue;
};

}  // namespace

bool is_elementwise(const Graph& graph, const Node& node) {
    if (node.inputs.empty() || node.outputs.size() != 1) return false;
    if (is_quantised(graph, node)) return false;
    return chain_steps(graph, node, chained_input(graph, node, kNoValue)).has_value();
}

void lower_chain(Lowering& l, const Group& nodes) {
    Chain chain(l);
    for (const std::size_t n : nodes) {
        const Node& node = l.graph().nodes[n];
        if (!chain.append(node)) {
            chain.store();
            LOCKSTEP_CHECK(chain.append(node), "{} begins no chain", node.name);
        }
    }
    chain.store();
}

void Lowering::copy(const Place& from, const Place& to) {
    Loops loops{to.shape, {}};
    loops.add(to.strides);
    loops.add(broadcast_strides(from, to.shape));
    loops = loops.sorted().joined();
    const std::uint64_t bytes =
        static_cast<std::uint64_t>(loops.count()) * (size_of(from.type) + size_of(to.type));
    if (is_floating(from.type)) {
        const auto p = map_over<kernels::Map>(*this, loops, to, {&from, 1});
        const bool fours = loops.extents.back() % 4 == 0 && p.out.vector != 0;
        emit({"map", fours ? "map_real4" : "map_real"},
             threads_for(fours ? loops.count() / 4 : loops.count()), p)
            .bytes = bytes;
    } else {
        const auto p = map_over<kernels::IntegerMap>(*this, loops, to, {&from, 1});
        emit({"map", "map_integer"}, threads_for(loops.count()), p).bytes = bytes;
    }
}

}  // namespace lockstep::network::gpu
