// SPDX-License-Identifier: Apache-2.0
// Operations on elements by themselves.
#include <cmath>

#include "workloads/network/graph/onnx_type.h"
#include "workloads/network/stablehlo/lowering.h"

namespace lockstep::network::stablehlo {

namespace {

template <Operator kOperator>
void unary(Lowering& to, const Operation& op) {
    to.set(op, to.make(kOperator, "", {to.operand(op, 0).id}));
}

template <Operator kOperator>
void binary(Lowering& to, const Operation& op) {
    to.set(op, to.make(kOperator, "", {to.operand(op, 0).id, to.operand(op, 1).id}));
}

/// Of bools; integers' bits have no operator.
template <Operator kOperator>
void logic(Lowering& to, const Operation& op) {
    if (to.type_of(to.operand(op, 0)) != ElementType::kBool)
        throw Refusal{"is supported for i1 only"};
    op.operands.size() == 1 ? unary<kOperator>(to, op) : binary<kOperator>(to, op);
}

/// The operand that is not this number in all its elements, where the other one is.
std::optional<ValueId> without(Lowering& to, const Operation& op, double neutral) {
    for (const std::size_t i : {0, 1}) {
        const Wide &one = to.operand(op, i), &other = to.operand(op, 1 - i);
        if (to.splat(one.id) == neutral && to.shape(other.id).size() == one.shape.size())
            return other.id;
    }
    return std::nullopt;
}

/// max(x, 0) is a Relu; the reduction of an empty softmax begins at -infinity.
void maximum(Lowering& to, const Operation& op) {
    const bool real = is_floating(to.type_of(to.operand(op, 0)));
    if (const auto x = without(to, op, 0); x && real)
        return to.set(op, to.make(Operator::kRelu, "", {*x}));
    if (const auto x = without(to, op, -INFINITY); x && real) return to.set(op, *x);
    binary<Operator::kMax>(to, op);
}

/// Sums over the number of their elements are averages.
void divide(Lowering& to, const Operation& op) {
    const Wide &dividend = to.operand(op, 0), &by = to.operand(op, 1);
    const auto pool = to.sums.find(dividend.id);
    const auto counts = to.known(by.id);
    if (pool == to.sums.end() || !counts) return binary<Operator::kDiv>(to, op);
    if (to.splat(by.id) == pool->second.window) return to.set(op, pool->second.averages(true));
    if (!pool->second.counts.shape.empty() && to.shape(by.id) == pool->second.counts.shape &&
        *counts == to_doubles(pool->second.counts))
        return to.set(op, pool->second.averages(false));
    binary<Operator::kDiv>(to, op);
}

/// x^2 and x^0.5 have operators of their own on every machine.
void power(Lowering& to, const Operation& op) {
    const ValueId x = to.operand(op, 0).id;
    const std::optional<double> exponent = to.splat(to.operand(op, 1).id);
    if (exponent == 2) return to.set(op, to.make(Operator::kMul, "", {x, x}));
    if (exponent == 0.5) return to.set(op, to.make(Operator::kSqrt, "", {x}));
    binary<Operator::kPow>(to, op);
}

void remainder(Lowering& to, const Operation& op) {
    to.set(op, to.make(Operator::kMod, "", {to.operand(op, 0).id, to.operand(op, 1).id},
                       {{"fmod", std::int64_t{1}}}));
}

/// A function of x and a number: Operator(x, number) or, with `first`, Operator(number, x).
ValueId with_number(Lowering& to, Operator op, ValueId x, double number, bool first = false) {
    const ValueId other = to.number(to.type(x), number);
    return first ? to.make(op, "", {other, x}) : to.make(op, "", {x, other});
}

void exponential_minus_one(Lowering& to, const Operation& op) {
    const ValueId e = to.make(Operator::kExp, "", {to.operand(op, 0).id});
    to.set(op, with_number(to, Operator::kSub, e, 1));
}
void log_plus_one(Lowering& to, const Operation& op) {
    const ValueId sum = with_number(to, Operator::kAdd, to.operand(op, 0).id, 1);
    to.set(op, to.make(Operator::kLog, "", {sum}));
}
void reciprocal_root(Lowering& to, const Operation& op) {
    const ValueId root = to.make(Operator::kSqrt, "root", {to.operand(op, 0).id});
    to.set(op, to.make(Operator::kReciprocal, "", {root}));
}
void cube_root(Lowering& to, const Operation& op) {
    const ValueId x = to.operand(op, 0).id;
    const ValueId magnitude =
        with_number(to, Operator::kPow, to.make(Operator::kAbs, "", {x}), 1.0 / 3);
    to.set(op, to.make(Operator::kMul, "", {to.make(Operator::kSign, "", {x}), magnitude}));
}
void round_half_away(Lowering& to, const Operation& op) {
    const ValueId x = to.operand(op, 0).id;
    const ValueId half = with_number(to, Operator::kAdd, to.make(Operator::kAbs, "", {x}), 0.5);
    const ValueId whole = to.make(Operator::kFloor, "", {half});
    to.set(op, to.make(Operator::kMul, "", {to.make(Operator::kSign, "", {x}), whole}));
}
void is_finite(Lowering& to, const Operation& op) {
    const ValueId x = to.operand(op, 0).id;
    const ValueId either =
        to.make(Operator::kOr, "",
                {to.make(Operator::kIsInf, "", {x}), to.make(Operator::kIsNaN, "", {x})});
    to.set(op, to.make(Operator::kNot, "", {either}));
}

void compare(Lowering& to, const Operation& op) {
    std::string direction = op.words.empty() ? text(op, "comparison_direction") : op.words.front();
    constexpr std::pair<std::string_view, Operator> kDirections[] = {
        {"EQ", Operator::kEqual},   {"NE", Operator::kEqual},
        {"LT", Operator::kLess},    {"LE", Operator::kLessOrEqual},
        {"GT", Operator::kGreater}, {"GE", Operator::kGreaterOrEqual}};
    for (const auto& [name, comparison] : kDirections) {
        if (name != direction) continue;
        ValueId result = to.make(comparison, "", {to.operand(op, 0).id, to.operand(op, 1).id});
        if (name == "NE") result = to.make(Operator::kNot, "", {result});
        return to.set(op, result);
    }
    throw Refusal{"the direction " + direction};
}

void select(Lowering& to, const Operation& op) {
    to.set(op, to.make(Operator::kWhere, "",
                       {to.operand(op, 0).id, to.operand(op, 1).id, to.operand(op, 2).id}));
}

/// Numbers as bounds are a Clip's.
void clamp(Lowering& to, const Operation& op) {
    const Wide &low = to.operand(op, 0), &x = to.operand(op, 1), &high = to.operand(op, 2);
    const auto least = to.splat(low.id), most = to.splat(high.id);
    if (least && most)
        return to.set(
            op, to.make(Operator::kClip, "",
                        {x.id, to.number(to.type_of(x), *least), to.number(to.type_of(x), *most)}));
    const ValueId above = to.make(Operator::kMax, "", {x.id, low.id});
    to.set(op, to.make(Operator::kMin, "", {above, high.id}));
}

void convert(Lowering& to, const Operation& op) {
    const ValueId x = to.operand(op, 0).id;
    const ElementType wanted = op.result_types.at(0).type;
    if (to.type(x) == wanted) return to.set(op, x);
    if (onnx_type_of(wanted) == 0)
        throw Refusal{"no operator converts to " + std::string(name_of(wanted))};
    to.set(op, to.make(Operator::kCast, "", {x}, {{"to", onnx_type_of(wanted)}}));
}

}  // namespace

const Family& elementwise_family() {
    static const Family kFamily{
        {"stablehlo.abs", unary<Operator::kAbs>},
        {"stablehlo.add", binary<Operator::kAdd>},
        {"stablehlo.and", logic<Operator::kAnd>},
        {"stablehlo.cbrt", cube_root},
        {"stablehlo.ceil", unary<Operator::kCeil>},
        {"stablehlo.clamp", clamp},
        {"stablehlo.compare", compare},
        {"stablehlo.convert", convert},
        {"stablehlo.cosine", unary<Operator::kCos>},
        {"stablehlo.divide", divide},
        {"stablehlo.exponential", unary<Operator::kExp>},
        {"stablehlo.exponential_minus_one", exponential_minus_one},
        {"stablehlo.floor", unary<Operator::kFloor>},
        {"stablehlo.is_finite", is_finite},
        {"stablehlo.log", unary<Operator::kLog>},
        {"stablehlo.log_plus_one", log_plus_one},
        {"stablehlo.logistic", unary<Operator::kSigmoid>},
        {"stablehlo.maximum", maximum},
        {"stablehlo.minimum", binary<Operator::kMin>},
        {"stablehlo.multiply", binary<Operator::kMul>},
        {"stablehlo.negate", unary<Operator::kNeg>},
        {"stablehlo.not", logic<Operator::kNot>},
        {"stablehlo.or", logic<Operator::kOr>},
        {"stablehlo.power", power},
        {"stablehlo.remainder", remainder},
        {"stablehlo.round_nearest_afz", round_half_away},
        {"stablehlo.round_nearest_even", unary<Operator::kRound>},
        {"stablehlo.rsqrt", reciprocal_root},
        {"stablehlo.select", select},
        {"stablehlo.sign", unary<Operator::kSign>},
        {"stablehlo.sine", unary<Operator::kSin>},
        {"stablehlo.sqrt", unary<Operator::kSqrt>},
        {"stablehlo.subtract", binary<Operator::kSub>},
        {"stablehlo.tan", unary<Operator::kTan>},
        {"stablehlo.tanh", unary<Operator::kTanh>},
        {"stablehlo.xor", logic<Operator::kXor>},
        {"chlo.erf", unary<Operator::kErf>},
        {"chlo.sinh", unary<Operator::kSinh>},
        {"chlo.cosh", unary<Operator::kCosh>},
        {"chlo.asin", unary<Operator::kAsin>},
        {"chlo.acos", unary<Operator::kAcos>},
        {"chlo.atan", unary<Operator::kAtan>},
        {"chlo.square",
         [](Lowering& to, const Operation& op) {
             const ValueId x = to.operand(op, 0).id;
             to.set(op, to.make(Operator::kMul, "", {x, x}));
         }},
    };
    return kFamily;
}

}  // namespace lockstep::network::stablehlo
