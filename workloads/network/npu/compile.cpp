// SPDX-License-Identifier: Apache-2.0
// The graph becomes steps (lower), the steps get places and cuts (plan), the plan becomes commands
// (program). What is refused on the way goes to the host, where it may, and all begins anew.
#include "workloads/network/npu/compile.h"

#include <algorithm>

#include "sim/error/error.h"
#include "workloads/network/graph/given.h"
#include "workloads/network/npu/lower.h"
#include "workloads/network/npu/narrow.h"
#include "workloads/network/npu/program.h"

namespace lockstep::network {

namespace {

using namespace npu_code;

/// Homes of what the host gives, takes or reads, and of constants.
std::map<ValueId, Home> fixed_homes(const Graph& graph, Values& values,
                                    const std::vector<Step>& steps) {
    std::map<ValueId, Home> homes;
    const auto put = [&](ValueId id, Home home) {
        const Value& value = graph.value(id);
        if (value.quantisation && value.type == ElementType::kInt8)
            homes.insert({values.root_of(id), home});
    };
    for (const ValueId id : graph.inputs) put(id, Home::kHost);
    for (const ValueId id : graph.outputs) put(id, Home::kHost);
    for (const Step& step : steps) {
        if (step.operand.value != kNoValue &&
            graph.value(step.operand.value).kind != ValueKind::kComputed &&
            graph.value(step.operand.value).kind != ValueKind::kInput)
            homes.insert({step.operand.value, Home::kMemory});
        if (!step.on_host) continue;
        for (const std::size_t n : step.nodes) {
            for (const ValueId id : graph.nodes[n].inputs)
                if (id != kNoValue && graph.value(id).kind == ValueKind::kComputed)
                    put(id, Home::kHost);
            for (const ValueId id : graph.nodes[n].outputs)
                if (id != kNoValue) put(id, Home::kHost);
        }
    }
    return homes;
}

std::map<ValueId, std::uint64_t> sizes_of(const Graph& graph, Values& values,
                                          const std::vector<Step>& steps) {
    std::map<ValueId, std::uint64_t> sizes;
    for (const Step& step : steps) {
        for (const Part* part : {&step.input, &step.operand, &step.output})
            if (part->value != kNoValue) sizes[part->value] = part->whole.bytes();
    }
    std::set<ValueId> made_on_host;
    for (const Step& step : steps)
        for (std::size_t n = 0; step.on_host && n < step.nodes.size(); ++n)
            for (const ValueId id : graph.nodes[step.nodes[n]].outputs) made_on_host.insert(id);
    for (const Step& step : steps) {
        if (!step.on_host) continue;
        // What only the host's nodes touch stays in its own memory; what it made and sees again in
        // another shape has a place.
        for (const std::size_t n : step.nodes)
            for (const ValueId id : graph.nodes[n].inputs)
                if (id != kNoValue && graph.value(id).quantisation &&
                    graph.value(id).type == ElementType::kInt8 && !is_given(graph.value(id)) &&
                    (sizes.contains(values.root_of(id)) || !made_on_host.contains(id)))
                    sizes[values.root_of(id)] = values.strided(id).whole.bytes();
    }
    // A result of the network may be part of what the host made.
    for (const ValueId id : graph.outputs) {
        const Value& value = graph.value(id);
        if (value.quantisation && value.type == ElementType::kInt8 && values.root_of(id) != id)
            sizes[values.root_of(id)] = values.strided(id).whole.bytes();
    }
    return sizes;
}

/// Steps that do not fit are cut in width until they do.
Plan plan_of(const Graph& graph, Values& values, std::vector<Step>& steps,
             const NpuTarget& target) {
    for (;;) try {
            return make_plan(steps, fixed_homes(graph, values, steps),
                             sizes_of(graph, values, steps), target);
        } catch (const TooLarge& large) {
            std::optional<std::pair<Step, Step>> halves = cut_in_width(steps[large.step]);
            if (!halves) throw;
            steps[large.step] = std::move(halves->second);
            steps.insert(steps.begin() + static_cast<std::ptrdiff_t>(large.step),
                         std::move(halves->first));
        }
}

[[noreturn]] void refuse_all(const Graph& graph, const Refused& refused, bool host) {
    std::string wrong;
    for (const std::size_t n : topological_order(graph))
        if (const auto found = refused.find(n); found != refused.end())
            wrong += fmt::format("\n  {} ({}): {}", graph.nodes[n].name, name_of(graph.nodes[n].op),
                                 found->second);
    throw InputError(fmt::format("{} cannot be compiled for an NPU{}:{}", graph.name,
                                 host ? "" : " (--host runs such nodes on the host)", wrong));
}

}  // namespace

NpuCompiled compile_for_npu(const Graph& graph, const NpuTarget& target, bool host) {
    std::set<std::size_t> on_host;
    Refused reasons;
    for (;;) {
        Values values(graph);
        Lowered lowered = lower(graph, values, target, on_host);
        Refused refused = lowered.refused;
        if (refused.empty()) {
            try {
                const Plan plan = plan_of(graph, values, lowered.steps, target);
                NpuCompiled compiled =
                    ProgramMaker(graph, values, lowered.steps, plan, target).make();
                for (NpuLayer& layer : compiled.layers)
                    for (const auto& [n, reason] : reasons)
                        if (layer.name.starts_with("host:") &&
                            layer.name.find(graph.nodes[n].name) != std::string::npos)
                            layer.note += fmt::format(" ({}: {})", graph.nodes[n].name, reason);
                return compiled;
            } catch (const command::FieldOverflow& overflow) {
                throw InputError(fmt::format("{} cannot be compiled for an NPU: {}", graph.name,
                                             overflow.what()));
            } catch (const compile::Refusal& refusal) {
                throw InputError(fmt::format("{} cannot be compiled for an NPU: {}", graph.name,
                                             refusal.what()));
            }
        }
        if (!host) refuse_all(graph, refused, host);
        reasons.insert(refused.begin(), refused.end());
        const std::size_t before = on_host.size();
        for (const auto& [n, reason] : refused) on_host.insert(n);
        if (on_host.size() == before) refuse_all(graph, refused, host);
    }
}

}  // namespace lockstep::network
