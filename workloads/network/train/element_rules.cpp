// SPDX-License-Identifier: Apache-2.0
// Gradients of functions of one element and of arithmetic with broadcasting. Where a function has a
// corner its slope there is PyTorch's: 0 for Relu and Abs, half each for Max and Min of equals.
#include <cmath>
#include <numbers>

#include "workloads/network/train/rule.h"

namespace lockstep::network::training {

namespace {

/// dx = dy * slope
void give_slope(Rule& r, ValueId slope) {
    r.give(0, r.times("product", r.dy(), slope));
}

ValueId above(Rule& r, ValueId x, double bound) {
    return r.op(kGreater, fmt::format("above{}", bound), {x, r.scalar("bound", bound)});
}

void identity(Rule& r) {
    r.give(0, r.dy());
}

void sum(Rule& r) {
    for (std::size_t i = 0; i < r.node.inputs.size(); ++i) r.give(i, r.dy());
}

void subtract(Rule& r) {
    r.give(0, r.dy());
    if (r.needs(1)) r.give(1, r.op(kNeg, "negative", {r.dy()}));
}

void multiply(Rule& r) {
    if (r.needs(0)) r.give(0, r.times("left", r.dy(), r.in(1)));
    if (r.needs(1)) r.give(1, r.times("right", r.dy(), r.in(0)));
}

void divide(Rule& r) {
    const ValueId share = r.op(kDiv, "left", {r.dy(), r.in(1)});
    r.give(0, share);
    if (r.needs(1)) r.give(1, r.op(kNeg, "right", {r.times("right.size", share, r.out())}));
}

void power(Rule& r) {
    const ValueId x = r.in(0), p = r.in(1);
    if (r.needs(0)) {
        // By p x^(p-1), not y / x: x may be 0.
        const ValueId exponent =
            r.op(kSub, "exponent", {p, r.w.scalar(r.name("one"), r.type(p), 1)});
        const ValueId less = r.op(kPow, "less", {x, exponent});
        r.give(0, r.times("left", r.dy(), r.times("slope", p, less)));
    }
    if (r.needs(1))
        r.give(1, r.times("right", r.times("weighted", r.dy(), r.out()), r.op(kLog, "log", {x})));
}

template <Operator kCompare>
void extreme(Rule& r) {
    if (r.node.inputs.size() == 1) return r.give(0, r.dy());
    if (r.node.inputs.size() != 2) r.fail("of more than two operands");
    const ValueId a = r.in(0), b = r.in(1);
    const ValueId same =
        r.times("half", r.where("equal.part", r.op(kEqual, "equal", {a, b}), r.dy()), 0.5);
    for (const std::size_t i : {0, 1}) {
        if (!r.needs(i)) continue;
        const std::string part = i == 0 ? "left" : "right";
        const ValueId wins = r.op(kCompare, part + ".wins", {i == 0 ? a : b, i == 0 ? b : a});
        r.give(i, r.op(kAdd, part, {r.where(part + ".part", wins, r.dy()), same}));
    }
}

void choose(Rule& r) {
    if (r.needs(1)) r.give(1, r.where("then", r.in(0), r.dy()));
    if (r.needs(2)) r.give(2, r.op(kWhere, "else", {r.in(0), r.scalar("else.zero", 0), r.dy()}));
}

void clip(Rule& r) {
    ValueId g = r.dy();
    if (r.has(1))
        g = r.op(kWhere, "low",
                 {r.op(kLess, "low.if", {r.in(0), r.in(1)}), r.scalar("low.zero", 0), g});
    if (r.has(2))
        g = r.op(kWhere, "high",
                 {r.op(kGreater, "high.if", {r.in(0), r.in(2)}), r.scalar("high.zero", 0), g});
    r.give(0, g);
}

void absolute(Rule& r) {
    give_slope(r, r.op(kSign, "slope", {r.in(0)}));
}
void negative(Rule& r) {
    r.give(0, r.op(kNeg, "negative", {r.dy()}));
}
void exponential(Rule& r) {
    give_slope(r, r.out());
}
void logarithm(Rule& r) {
    r.give(0, r.op(kDiv, "share", {r.dy(), r.in(0)}));
}

void square_root(Rule& r) {
    r.give(0, r.op(kDiv, "share", {r.times("half", r.dy(), 0.5), r.out()}));
}

void reciprocal(Rule& r) {
    give_slope(r, r.op(kNeg, "slope", {r.times("square", r.out(), r.out())}));
}

void sine(Rule& r) {
    give_slope(r, r.op(kCos, "slope", {r.in(0)}));
}
void cosine(Rule& r) {
    give_slope(r, r.op(kNeg, "slope", {r.op(kSin, "sine", {r.in(0)})}));
}

void relu(Rule& r) {
    r.give(0, r.where("x", above(r, r.out(), 0), r.dy()));
}

/// dy where x > 0, else dy * slope.
void give_two_slopes(Rule& r, ValueId below) {
    r.give(0, r.op(kWhere, "x", {above(r, r.in(0), 0), r.dy(), below}));
}

void leaky_relu(Rule& r) {
    give_two_slopes(r, r.times("below", r.dy(), double{r.node.real("alpha", 0.01f)}));
}

void sloped_relu(Rule& r) {
    if (r.needs(0)) give_two_slopes(r, r.times("below", r.dy(), r.in(1)));
    if (r.needs(1)) {
        const ValueId low = r.op(kMin, "low", {r.in(0), r.scalar("zero", 0)});
        r.give(1, r.times("slope", r.dy(), low));
    }
}

void elu(Rule& r) {
    // alpha e^x = y + alpha below 0
    const ValueId slope =
        r.op(kAdd, "slope", {r.out(), r.scalar("alpha", double{r.node.real("alpha", 1)})});
    give_two_slopes(r, r.times("below", r.dy(), slope));
}

void sigmoid(Rule& r) {
    const ValueId rest = r.op(kSub, "rest", {r.scalar("one", 1), r.out()});
    give_slope(r, r.times("slope", r.out(), rest));
}

void tangent(Rule& r) {  // hyperbolic
    const ValueId square = r.times("square", r.out(), r.out());
    give_slope(r, r.op(kSub, "slope", {r.scalar("one", 1), square}));
}

void softplus(Rule& r) {
    give_slope(r, r.op(kSigmoid, "slope", {r.in(0)}));
}

void softsign(Rule& r) {  // 1 / (1 + |x|)^2
    const ValueId rest = r.op(kAdd, "size", {r.op(kAbs, "abs", {r.in(0)}), r.scalar("one", 1)});
    r.give(0, r.op(kDiv, "share", {r.dy(), r.times("square", rest, rest)}));
}

void error_function(Rule& r) {  // 2 / sqrt(pi) e^(-x^2)
    const ValueId square = r.times("square", r.in(0), r.in(0));
    const ValueId bell = r.op(kExp, "bell", {r.op(kNeg, "negative", {square})});
    give_slope(r, r.times("slope", bell, 2 * std::numbers::inv_sqrtpi));
}

/// Where the line alpha x + beta is between 0 and 1.
ValueId on_the_line(Rule& r, double low, double high, ValueId g) {
    const ValueId up = r.where("above.part", above(r, r.in(0), low), g);
    return r.where("line", r.op(kLess, "below", {r.in(0), r.scalar("high", high)}), up);
}

void hard_sigmoid(Rule& r) {
    const double alpha = r.node.real("alpha", 0.2f), beta = r.node.real("beta", 0.5f);
    if (alpha <= 0) r.fail("alpha is not above 0");
    r.give(0, on_the_line(r, -beta / alpha, (1 - beta) / alpha, r.times("slope", r.dy(), alpha)));
}

void hard_swish(Rule& r) {
    // x (x + 3) / 6 between -3 and 3, x above.
    const ValueId line =
        r.op(kAdd, "steep", {r.times("third", r.in(0), 1.0 / 3), r.scalar("half", 0.5)});
    const ValueId inner = on_the_line(r, -3, 3, r.times("inner", r.dy(), line));
    const ValueId outer = r.where(
        "outer", r.op(kGreaterOrEqual, "outer.if", {r.in(0), r.scalar("three", 3)}), r.dy());
    r.give(0, r.op(kAdd, "x", {inner, outer}));
}

void gelu(Rule& r) {
    const ValueId x = r.in(0), half = r.scalar("half", 0.5);
    const ValueId square = r.times("square", x, x);
    if (r.node.text("approximate", "none") == "tanh") {
        // y = x/2 (1 + t), t = tanh(a (x + b x^3)); y' = (1 + t)/2 + x/2 (1 - t^2) a (1 + 3 b x^2)
        const double a = std::sqrt(2 / std::numbers::pi), b = 0.044715;
        const ValueId one = r.scalar("one", 1);
        const ValueId cube = r.op(kAdd, "cube", {one, r.times("cubic", square, b)});
        const ValueId t = r.op(kTanh, "tanh", {r.times("inside", r.times("scaled", x, a), cube)});
        const ValueId inner = r.times(
            "inner", r.op(kAdd, "inner.sum", {one, r.times("inner.square", square, 3 * b)}), a);
        const ValueId fall = r.op(kSub, "fall", {one, r.times("tanh.square", t, t)});
        const ValueId second = r.times("second", r.times("second.x", x, fall), inner);
        const ValueId all = r.op(kAdd, "sum", {r.op(kAdd, "first", {one, t}), second});
        return give_slope(r, r.times("slope", all, half));
    }
    // y = x P(x); y' = P(x) + x p(x), P and p the normal distribution's.
    const ValueId e = r.op(kErf, "erf", {r.times("scaled", x, std::numbers::sqrt2 / 2)});
    const ValueId share = r.times("share", r.op(kAdd, "share.sum", {e, r.scalar("one", 1)}), half);
    const ValueId bell = r.op(kExp, "bell", {r.times("exponent", square, -0.5)});
    const ValueId density =
        r.times("density", bell, std::numbers::inv_sqrtpi / std::numbers::sqrt2);
    give_slope(r, r.op(kAdd, "slope", {share, r.times("rest", x, density)}));
}

constexpr RuleRow kRows[] = {
    {kAbs, absolute},
    {kAdd, sum},
    {kClip, clip},
    {kCos, cosine},
    {kDiv, divide},
    {kElu, elu},
    {kErf, error_function},
    {kExp, exponential},
    {kGelu, gelu},
    {kHardSigmoid, hard_sigmoid},
    {kHardSwish, hard_swish},
    {kIdentity, identity},
    {kLeakyRelu, leaky_relu},
    {kLog, logarithm},
    {kMax, extreme<kGreater>},
    {kMin, extreme<kLess>},
    {kMul, multiply},
    {kNeg, negative},
    {kPRelu, sloped_relu},
    {kPow, power},
    {kReciprocal, reciprocal},
    {kRelu, relu},
    {kSigmoid, sigmoid},
    {kSin, sine},
    {kSoftplus, softplus},
    {kSoftsign, softsign},
    {kSqrt, square_root},
    {kSub, subtract},
    {kSum, sum},
    {kTanh, tangent},
    {kWhere, choose},
};

}  // namespace

std::span<const RuleRow> element_rules() {
    return kRows;
}

}  // namespace lockstep::network::training
