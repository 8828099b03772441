// SPDX-License-Identifier: Apache-2.0
// The elementwise operators, a row each.
#include "workloads/network/gpu/chain.h"

#include <algorithm>
#include <cmath>

#include "sim/error/error.h"
#include "workloads/network/graph/given.h"
#include "workloads/network/graph/quantisation.h"
#include "workloads/network/quantise/fp8.h"
#include "workloads/network/shapes/shape_inference.h"

namespace lockstep::network::gpu {

namespace {

using kernels::Function;

struct Binary {
    Operator op;
    Function first;   ///< the chain's value is the first operand
    Function second;  ///< it is the second one
};
constexpr Binary kBinaries[] = {
    {Operator::kAdd, Function::kAdd, Function::kAdd},
    {Operator::kSum, Function::kAdd, Function::kAdd},
    {Operator::kSub, Function::kSubtract, Function::kSubtractFrom},
    {Operator::kMul, Function::kMultiply, Function::kMultiply},
    {Operator::kDiv, Function::kDivide, Function::kDivideInto},
    {Operator::kMax, Function::kMaximum, Function::kMaximum},
    {Operator::kMin, Function::kMinimum, Function::kMinimum},
    {Operator::kPow, Function::kPower, Function::kPowerOf},
    {Operator::kEqual, Function::kEqual, Function::kEqual},
    {Operator::kLess, Function::kLess, Function::kGreater},
    {Operator::kLessOrEqual, Function::kLessOrEqual, Function::kGreaterOrEqual},
    {Operator::kGreater, Function::kGreater, Function::kLess},
    {Operator::kGreaterOrEqual, Function::kGreaterOrEqual, Function::kLessOrEqual},
    {Operator::kAnd, Function::kAnd, Function::kAnd},
    {Operator::kOr, Function::kOr, Function::kOr},
    {Operator::kXor, Function::kXor, Function::kXor},
    {Operator::kPRelu, Function::kSlope, Function::kSlopeOf},
};

struct Unary {
    Operator op;
    Function function;
};
constexpr Unary kUnaries[] = {
    {Operator::kAbs, Function::kAbsolute},
    {Operator::kAcos, Function::kAcos},
    {Operator::kAsin, Function::kAsin},
    {Operator::kAtan, Function::kAtan},
    {Operator::kCeil, Function::kCeiling},
    {Operator::kCos, Function::kCos},
    {Operator::kCosh, Function::kCosh},
    {Operator::kErf, Function::kErf},
    {Operator::kExp, Function::kExp},
    {Operator::kFloor, Function::kFloor},
    {Operator::kHardSwish, Function::kHardSwish},
    {Operator::kIsNaN, Function::kIsNaN},
    {Operator::kLog, Function::kLog},
    {Operator::kNeg, Function::kNegate},
    {Operator::kNot, Function::kNot},
    {Operator::kReciprocal, Function::kReciprocal},
    {Operator::kRelu, Function::kRelu},
    {Operator::kRound, Function::kRound},
    {Operator::kSigmoid, Function::kSigmoid},
    {Operator::kSign, Function::kSign},
    {Operator::kSin, Function::kSin},
    {Operator::kSinh, Function::kSinh},
    {Operator::kSoftplus, Function::kSoftplus},
    {Operator::kSoftsign, Function::kSoftsign},
    {Operator::kSqrt, Function::kSquareRoot},
    {Operator::kTan, Function::kTan},
    {Operator::kTanh, Function::kTanh},
};

/// The one number of a given value that is known.
std::optional<double> number_of(const Graph& graph, ValueId id) {
    const Value& value = graph.value(id);
    if (!is_given(value) || !value.is_known() || value.data->size() != 1) return std::nullopt;
    return to_doubles(*value.data)[0];
}

/// x (or y) of a step: a number where it is one, else the value.
void set_x(const Graph& graph, ChainStep& step, ValueId id) {
    if (const auto number = number_of(graph, id))
        step.a = *number;
    else
        step.x = id;
}
void set_y(const Graph& graph, ChainStep& step, ValueId id) {
    if (const auto number = number_of(graph, id))
        step.b = *number;
    else
        step.y = id;
}

using Steps = std::vector<ChainStep>;

std::optional<Steps> binary_steps(const Graph& graph, const Node& node, std::size_t from) {
    Function first{}, second{};
    if (node.op == Operator::kMod) {
        const bool as_in_c = node.integer("fmod", 0) != 0;
        first = as_in_c ? Function::kTruncatedRemainder : Function::kRemainder;
        second = as_in_c ? Function::kTruncatedRemainderOf : Function::kRemainderOf;
    } else {
        const auto* row = std::ranges::find(kBinaries, node.op, &Binary::op);
        if (row == std::end(kBinaries)) return std::nullopt;
        first = row->first;
        second = row->second;
    }
    Steps steps;
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
        if (i == from) continue;
        ChainStep step{.function = from == 0 ? first : second};
        set_x(graph, step, node.inputs[i]);
        steps.push_back(step);
    }
    return steps;
}

Steps clip_steps(const Graph& graph, const Node& node) {
    ChainStep both{.function = Function::kClip, .a = -INFINITY, .b = INFINITY};
    if (!is_floating(graph.value(node.inputs[0]).type)) both.a = -0x1p63, both.b = 0x1p63;
    Steps steps;
    for (const std::size_t bound : {1, 2}) {
        const ValueId id = node.input(bound);
        if (id == kNoValue) continue;
        if (const auto number = number_of(graph, id))
            (bound == 1 ? both.a : both.b) = *number;
        else
            steps.push_back(
                {.function = bound == 1 ? Function::kMaximum : Function::kMinimum, .x = id});
    }
    steps.insert(steps.begin(), both);
    return steps;
}

std::optional<Steps> choice_steps(const Graph& graph, const Node& node, std::size_t from) {
    ChainStep step{.function = from == 0   ? Function::kChoose
                               : from == 1 ? Function::kChooseThen
                                           : Function::kChooseElse};
    set_x(graph, step, node.inputs[from == 0 ? 1 : 0]);
    set_y(graph, step, node.inputs[from == 2 ? 1 : 2]);
    return Steps{step};
}

/// Scales and zero points are one for all, or one for each slice along the axis.
std::optional<std::size_t> scale_axis(const Graph& graph, const Node& node) {
    if (element_count(graph.shape(node.inputs[1])) == 1) return std::nullopt;
    return axis_of(node, node.integer("axis", 1), graph.shape(node.inputs[0]).size());
}

Steps quantise_steps(const Graph& graph, const Node& node) {
    const numerics::IntegerRange range = range_of(graph.value(node.outputs[0]).type);
    const auto axis = scale_axis(graph, node);
    // y is read as a number or an operand, so the limits are a step of their own.
    ChainStep scale{.function = Function::kDivide, .axis = axis};
    set_x(graph, scale, node.inputs[1]);
    Steps steps = {scale, {.function = Function::kRound}};
    if (node.input(2) != kNoValue) {
        ChainStep zero{.function = Function::kAdd, .axis = axis};
        set_x(graph, zero, node.inputs[2]);
        steps.push_back(zero);
    }
    steps.push_back({.function = Function::kClip,
                     .a = static_cast<double>(range.low),
                     .b = static_cast<double>(range.high)});
    return steps;
}

Steps dequantise_steps(const Graph& graph, const Node& node) {
    const auto axis = scale_axis(graph, node);
    Steps steps;
    if (node.input(2) != kNoValue) {
        ChainStep zero{.function = Function::kSubtract, .axis = axis};
        set_x(graph, zero, node.inputs[2]);
        steps.push_back(zero);
    }
    ChainStep scale{.function = Function::kMultiply, .axis = axis};
    set_x(graph, scale, node.inputs[1]);
    steps.push_back(scale);
    return steps;
}

}  // namespace

std::optional<Steps> chain_steps(const Graph& graph, const Node& node, std::size_t from) {
    if (node.op == Operator::kWhere) return choice_steps(graph, node, from);
    if (auto steps = binary_steps(graph, node, from)) return steps;
    if (from != 0) return std::nullopt;
    if (const auto* row = std::ranges::find(kUnaries, node.op, &Unary::op);
        row != std::end(kUnaries))
        return Steps{{.function = row->function}};
    const auto one = [](Function function, double a = 0, double b = 0) {
        return Steps{{.function = function, .a = a, .b = b}};
    };
    switch (node.op) {
        case Operator::kCast:
            if (e4m3_scale_of(node)) return std::nullopt;
            return Steps{};
        case Operator::kDropout:
        case Operator::kIdentity:
            return Steps{};
        case Operator::kClip:
            return clip_steps(graph, node);
        case Operator::kElu:
            return one(Function::kElu, node.real("alpha", 1));
        case Operator::kGelu:
            return one(node.text("approximate", "none") == "tanh" ? Function::kGeluTanh
                                                                  : Function::kGelu);
        case Operator::kHardSigmoid:
            return one(Function::kHardSigmoid, node.real("alpha", 0.2f), node.real("beta", 0.5f));
        case Operator::kIsInf:
            return one(Function::kIsInfinite,
                       static_cast<double>(node.integer("detect_negative", 1)),
                       static_cast<double>(node.integer("detect_positive", 1)));
        case Operator::kLeakyRelu:
            return one(Function::kLeakyRelu, node.real("alpha", 0.01f));
        case Operator::kQuantizeLinear:
            return quantise_steps(graph, node);
        case Operator::kDequantizeLinear:
            return dequantise_steps(graph, node);
        default:
            return std::nullopt;
    }
}

bool is_integer_step(const Graph& graph, const Node& node) {
    const auto integer = [&](ValueId id) {
        return id == kNoValue || !is_floating(graph.value(id).type);
    };
    return std::ranges::all_of(node.inputs, integer) && integer(node.outputs[0]);
}

}  // namespace lockstep::network::gpu
