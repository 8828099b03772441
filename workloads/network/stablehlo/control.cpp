// SPDX-License-Identifier: Apache-2.0
// Calls and composites are lowered in their place; loops and choices as far as they do not depend
// on the network's inputs: a loop over layers or time steps is written out.
#include <fmt/format.h>

#include "workloads/network/stablehlo/lowering.h"

namespace lockstep::network::stablehlo {

namespace {

constexpr int kMaximumTurns = 10'000;

std::vector<Wide> operands_of(Lowering& to, const Operation& op) {
    std::vector<Wide> values;
    for (std::size_t i = 0; i < op.operands.size(); ++i) values.push_back(to.operand(op, i));
    return values;
}

void call(Lowering& to, const Operation& op) {
    to.set_all(op, to.inline_function(text(op, "callee"), operands_of(to, op)));
}

/// An operation of another dialect with its meaning as a function.
void composite(Lowering& to, const Operation& op) {
    const std::string function = text(op, "decomposition");
    if (function.empty()) throw Refusal{"a composite without a decomposition"};
    to.set_all(op, to.inline_function(function, operands_of(to, op)));
}

void custom_call(Lowering& to, const Operation& op) {
    std::string target = text(op, "callee");
    if (target.empty()) target = text(op, "call_target_name");
    if (target == "Sharding" || target == "annotate_device_placement" ||
        target == "SPMDFullToShardShape" || target == "SPMDShardToFullShape")
        return to.set_all(op, operands_of(to, op));
    if (target == "mhlo.erf")
        return to.set(op, to.make(Operator::kErf, "", {to.operand(op, 0).id}));
    throw Refusal{fmt::format("a call of {}", target)};
}

void loop(Lowering& to, const Operation& op) {
    if (op.regions.size() != 2) throw Refusal{"a loop without a condition and a body"};
    std::vector<Wide> values = operands_of(to, op);
    for (int turn = 0;; ++turn) {
        const std::vector<Wide> condition = to.inline_region(op.regions[0], values);
        if (condition.size() != 1 || condition[0].id == kNoValue) throw Refusal{};
        const std::optional<double> goes_on = to.splat(condition[0].id);
        if (!goes_on) throw Refusal{"a loop whose number of turns depends on the inputs"};
        if (*goes_on == 0) break;
        if (turn == kMaximumTurns)
            throw Refusal{fmt::format("a loop of more than {} turns", kMaximumTurns)};
        values = to.inline_region(op.regions[1], values);
        for (const Wide& value : values)
            if (value.id == kNoValue) throw Refusal{};
    }
    to.set_all(op, values);
}

void choice(Lowering& to, const Operation& op) {
    const std::optional<double> chosen = to.splat(to.operand(op, 0).id);
    if (!chosen || op.regions.empty()) throw Refusal{"a choice that depends on the inputs"};
    const bool is_if = op.name == "stablehlo.if";
    std::size_t region = op.regions.size() - 1;  // of a case whose index is out of range
    if (is_if)
        region = *chosen != 0 ? 0 : 1;
    else if (*chosen >= 0 && *chosen < static_cast<double>(op.regions.size()))
        region = static_cast<std::size_t>(*chosen);
    if (region >= op.regions.size()) throw Refusal{"a choice without its branch"};
    to.set_all(op, to.inline_region(op.regions[region], {}));
}

}  // namespace

const Family& control_family() {
    static const Family kFamily{{"call", call},
                                {"stablehlo.case", choice},
                                {"stablehlo.composite", composite},
                                {"stablehlo.custom_call", custom_call},
                                {"stablehlo.if", choice},
                                {"stablehlo.while", loop}};
    return kFamily;
}

}  // namespace lockstep::network::stablehlo
