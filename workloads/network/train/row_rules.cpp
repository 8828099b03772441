// SPDX-License-Identifier: Apache-2.0
// Gradients of reductions, softmax and normalisations. What the forward pass does not keep (a row's
// mean and deviation) is computed again.
#include <algorithm>

#include "workloads/network/shapes/shape_inference.h"
#include "workloads/network/train/rule.h"

namespace lockstep::network::training {

namespace {

using Axes = std::vector<std::int64_t>;

/// The axes that a reduction goes along.
Axes reduced(Rule& r) {
    bool given = false;
    Axes axes;
    const std::size_t rank = r.shape(r.in(0)).size();
    for (const std::size_t axis : axes_of(r.graph(), r.node, rank, given))
        axes.push_back(static_cast<std::int64_t>(axis));
    if (axes.empty() && r.node.integer("noop_with_empty_axes", 0) == 0)
        for (std::size_t d = 0; d < rank; ++d) axes.push_back(static_cast<std::int64_t>(d));
    return axes;
}

/// A result with the reduced extents as 1, so that it broadcasts over the operand.
ValueId kept(Rule& r, const std::string& part, ValueId y, const Axes& axes) {
    Shape shape = r.shape(r.in(0));
    for (const std::int64_t axis : axes) shape[static_cast<std::size_t>(axis)] = 1;
    return r.w.shape(y) == shape ? y : r.w.reshape(r.name(part + ".kept"), y, shape);
}

ValueId spread(Rule& r, ValueId g) {
    return r.op(kExpand, "spread", {g, r.w.integers(r.name("extents"), r.shape(r.in(0)))});
}

double count_of(Rule& r, const Axes& axes) {
    double count = 1;
    for (const std::int64_t axis : axes)
        count *= static_cast<double>(r.shape(r.in(0))[static_cast<std::size_t>(axis)]);
    return count;
}

void reduce_sum(Rule& r) {
    r.give(0, spread(r, kept(r, "dy", r.dy(), reduced(r))));
}

void reduce_mean(Rule& r) {
    const Axes axes = reduced(r);
    const ValueId share = r.times("share", r.dy(), 1 / count_of(r, axes));
    r.give(0, spread(r, kept(r, "dy", share, axes)));
}

void reduce_squares(Rule& r) {
    const ValueId twice = r.times("twice", r.dy(), 2.0);
    r.give(0, r.times("x", r.in(0), kept(r, "dy", twice, reduced(r))));
}

void reduce_length(Rule& r) {  // x / |x|
    const ValueId share = r.op(kDiv, "share", {r.dy(), r.out()});
    r.give(0, r.times("x", r.in(0), kept(r, "dy", share, reduced(r))));
}

/// Equal ones share the gradient, as PyTorch's amax and amin have it.
void reduce_extreme(Rule& r) {
    const Axes axes = reduced(r);
    const ValueId equal = r.op(kEqual, "equal", {r.in(0), kept(r, "y", r.out(), axes)});
    const ValueId ones = r.op(kWhere, "ones", {equal, r.scalar("one", 1), r.scalar("zero", 0)});
    const ValueId share =
        r.op(kDiv, "share", {kept(r, "dy", r.dy(), axes), r.sum("count", ones, axes)});
    r.give(0, r.times("x", ones, share));
}

/// The axes that softmax normalises together.
Axes softmax_axes(Rule& r) {
    const std::size_t rank = r.shape(r.in(0)).size();
    const std::size_t first = axis_of(r.node, r.node.integer("axis", -1), rank);
    Axes axes = {static_cast<std::int64_t>(first)};
    if (r.node.integer("flatten", 0) != 0)
        for (std::size_t d = first + 1; d < rank; ++d) axes.push_back(static_cast<std::int64_t>(d));
    return axes;
}

void softmax(Rule& r) {  // y (dy - sum(y dy))
    const ValueId weighted = r.times("weighted", r.out(), r.dy());
    const ValueId sum = r.sum("sum", weighted, softmax_axes(r));
    r.give(0, r.times("x", r.out(), r.op(kSub, "less", {r.dy(), sum})));
}

void log_softmax(Rule& r) {  // dy - e^y sum(dy)
    const ValueId sum = r.sum("sum", r.dy(), softmax_axes(r));
    const ValueId part = r.times("part", r.op(kExp, "probabilities", {r.out()}), sum);
    r.give(0, r.op(kSub, "x", {r.dy(), part}));
}

/// What a normalisation of x along `axes` divides by, and what it gives before scale and shift.
struct Normalised {
    ValueId inverse, value;  ///< 1 / deviation; (x - mean) / deviation
};

Normalised normalise(Rule& r, const Axes& axes, double epsilon) {
    const NodeAttributes along = {{"axes", axes}, {"keepdims", std::int64_t{1}}};
    const ValueId mean = r.op(kReduceMean, "mean", {r.in(0)}, along);
    const ValueId centred = r.op(kSub, "centred", {r.in(0), mean});
    const ValueId squares = r.times("squares", centred, centred);
    const ValueId variance = r.op(kReduceMean, "variance", {squares}, along);
    const ValueId deviation =
        r.op(kSqrt, "deviation", {r.op(kAdd, "padded", {variance, r.scalar("epsilon", epsilon)})});
    const ValueId inverse = r.op(kReciprocal, "inverse", {deviation});
    return {inverse, r.times("normal", centred, inverse)};
}

/// dx = (g - mean(g) - n mean(g n)) / deviation, of the gradient g of the normalised values n.
ValueId through(Rule& r, const Normalised& n, ValueId g, const Axes& axes) {
    const NodeAttributes along = {{"axes", axes}, {"keepdims", std::int64_t{1}}};
    const ValueId mean = r.op(kReduceMean, "g.mean", {g}, along);
    const ValueId slope = r.op(kReduceMean, "g.slope", {r.times("g.n", g, n.value)}, along);
    const ValueId rest = r.op(
        kSub, "g.less", {r.op(kSub, "g.centred", {g, mean}), r.times("g.along", n.value, slope)});
    return r.times("through", rest, n.inverse);
}

void layer_normalisation(Rule& r) {
    const std::size_t rank = r.shape(r.in(0)).size();
    Axes axes;
    for (std::size_t d = axis_of(r.node, r.node.integer("axis", -1), rank); d < rank; ++d)
        axes.push_back(static_cast<std::int64_t>(d));
    if (r.needs(2)) r.give(2, r.dy());
    if (!r.needs(0) && !r.needs(1)) return;
    const Normalised n = normalise(r, axes, double{r.node.real("epsilon", 1e-5f)});
    if (r.needs(1)) r.give(1, r.times("scale", r.dy(), n.value));
    if (r.needs(0)) r.give(0, through(r, n, r.times("scaled", r.dy(), r.in(1)), axes));
}

void instance_normalisation(Rule& r) {
    const Shape x = r.shape(r.in(0));
    Axes axes;
    Shape channels(x.size(), 1);
    channels[1] = x[1];
    for (std::size_t d = 2; d < x.size(); ++d) axes.push_back(static_cast<std::int64_t>(d));
    Axes others = axes;
    others.insert(others.begin(), 0);
    const auto by_channel = [&](std::string_view part, ValueId g) {
        return r.w.reshape(r.name(part), r.sum(std::string(part) + ".sum", g, others), {x[1]});
    };
    const Normalised n = normalise(r, axes, double{r.node.real("epsilon", 1e-5f)});
    if (r.needs(2)) r.give(2, by_channel("shift", r.dy()));
    if (r.needs(1)) r.give(1, by_channel("scale", r.times("scale.n", r.dy(), n.value)));
    if (r.needs(0)) {
        const ValueId scale = r.w.reshape(r.name("scale.row"), r.in(1), channels);
        r.give(0, through(r, n, r.times("scaled", r.dy(), scale), axes));
    }
}

/// By given statistics: a factor and an addend a channel. In training the statistics are those of
/// the batch, and the node is written with others (prepare.h).
void batch_normalisation(Rule& r) {
    const Shape x = r.shape(r.in(0));
    if (r.needs(3) || r.needs(4)) r.fail("its statistics are computed");
    Shape channels(x.size(), 1);
    channels[1] = x[1];
    Axes others = {0};
    for (std::size_t d = 2; d < x.size(); ++d) others.push_back(static_cast<std::int64_t>(d));
    const auto row = [&](std::string_view part, std::size_t i) {
        return r.w.reshape(r.name(part), r.in(i), channels);
    };
    const auto by_channel = [&](std::string_view part, ValueId g) {
        return r.w.reshape(r.name(part), r.sum(std::string(part) + ".sum", g, others), {x[1]});
    };
    const ValueId deviation = r.op(
        kSqrt, "deviation",
        {r.op(kAdd, "padded",
              {row("variance", 4), r.scalar("epsilon", double{r.node.real("epsilon", 1e-5f)})})});
    if (r.needs(2)) r.give(2, by_channel("shift", r.dy()));
    if (r.needs(1)) {
        const ValueId centred = r.op(kSub, "centred", {r.in(0), row("mean", 3)});
        const ValueId normal = r.op(kDiv, "normal", {centred, deviation});
        r.give(1, by_channel("scale", r.times("scale.n", r.dy(), normal)));
    }
    if (r.needs(0)) {
        const ValueId factor = r.op(kDiv, "factor", {row("scale.row", 1), deviation});
        r.give(0, r.times("x", r.dy(), factor));
    }
}

constexpr RuleRow kRows[] = {
    {kBatchNormalization, batch_normalisation},
    {kInstanceNormalization, instance_normalisation},
    {kLayerNormalization, layer_normalisation},
    {kLogSoftmax, log_softmax},
    {kReduceL2, reduce_length},
    {kReduceMax, reduce_extreme},
    {kReduceMean, reduce_mean},
    {kReduceMin, reduce_extreme},
    {kReduceSum, reduce_sum},
    {kReduceSumSquare, reduce_squares},
    {kSoftmax, softmax},
};

}  // namespace

std::span<const RuleRow> row_rules() {
    return kRows;
}

}  // namespace lockstep::network::training
