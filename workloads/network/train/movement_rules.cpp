// SPDX-License-Identifier: Apache-2.0
// Gradients of what moves elements: they move back. What was copied is summed, what was dropped
// gets zeros; elements taken by indices are added where they came from.
#include <algorithm>
#include <numeric>

#include "workloads/network/graph/onnx_type.h"
#include "workloads/network/shapes/shape_inference.h"
#include "workloads/network/train/rule.h"

namespace lockstep::network::training {

namespace {

using Integers = std::vector<std::int64_t>;

void reshape(Rule& r) {
    r.give(0, r.w.reshape(r.name("x"), r.dy(), r.shape(r.in(0))));
}

void transpose(Rule& r) {
    const std::size_t rank = r.shape(r.in(0)).size();
    Integers perm = r.node.integers("perm"), back(rank);
    if (perm.empty())
        for (std::size_t d = rank; d-- > 0;) perm.push_back(static_cast<std::int64_t>(d));
    for (std::size_t d = 0; d < rank; ++d)
        back[static_cast<std::size_t>(perm[d])] = static_cast<std::int64_t>(d);
    r.give(0, r.w.transpose(r.name("x"), r.dy(), back));
}

/// Elements [from, from + count) along each dimension.
ValueId part_of(Rule& r, const std::string& part, ValueId x, const Integers& from,
                const Shape& count) {
    Integers to(from.size());
    for (std::size_t d = 0; d < to.size(); ++d) to[d] = from[d] + count[d];
    return r.op(
        kSlice, part,
        {x, r.w.integers(r.name(part + ".from"), from), r.w.integers(r.name(part + ".to"), to)});
}

/// Zeros before and after.
ValueId padded(Rule& r, const std::string& part, ValueId x, Integers before,
               const Integers& after) {
    before.insert(before.end(), after.begin(), after.end());
    if (std::all_of(before.begin(), before.end(), [](std::int64_t p) { return p == 0; })) return x;
    return r.op(kPad, part, {x, r.w.integers(r.name(part + ".pads"), before)});
}

void concatenate(Rule& r) {
    const Shape all = r.shape(r.out());
    const std::size_t axis = axis_of(r.node, r.node.integer("axis", 0), all.size());
    Integers from(all.size(), 0);
    for (std::size_t i = 0; i < r.node.inputs.size(); ++i) {
        const Shape count = r.shape(r.in(i));
        if (r.needs(i)) r.give(i, part_of(r, fmt::format("part{}", i), r.dy(), from, count));
        from[axis] += count[axis];
    }
}

ValueId zeros(Rule& r, const std::string& part, ValueId like) {
    return r.w.constant(
        r.name(part),
        from_doubles(r.type(like), r.shape(like),
                     std::vector<double>(static_cast<std::size_t>(element_count(r.shape(like))))));
}

void split(Rule& r) {
    std::vector<ValueId> parts;
    for (std::size_t i = 0; i < r.node.outputs.size(); ++i) {
        const ValueId g = r.dy(i);
        parts.push_back(g != kNoValue ? g : zeros(r, fmt::format("zeros{}", i), r.out(i)));
    }
    r.give(0, r.op(kConcat, "x", parts, {{"axis", r.node.integer("axis", 0)}}));
}

void slice(Rule& r) {
    const Shape in = r.shape(r.in(0));
    const std::vector<SliceRange> ranges = slice_ranges(r.graph(), r.node);
    ValueId g = r.dy();
    Integers before, after, turned;
    Shape spread;
    bool steps = false;
    for (std::size_t d = 0; d < in.size(); ++d) {
        const SliceRange& range = ranges[d];
        const std::int64_t size = std::abs(range.step),
                           last = range.start + (range.count - 1) * range.step;
        const std::int64_t low = std::min(range.start, last), reach = (range.count - 1) * size + 1;
        if (range.count == 0) r.fail("it takes nothing");
        if (range.step < 0) turned.push_back(static_cast<std::int64_t>(d));
        steps |= size > 1 && range.count > 1;
        before.push_back(low);
        after.push_back(in[d] - low - reach);
    }
    if (!turned.empty())
        g = r.op(kSlice, "turned",
                 {g, r.w.integers(r.name("turned.from"), Integers(turned.size(), -1)),
                  r.w.integers(r.name("turned.to"), Integers(turned.size(), INT64_MIN)),
                  r.w.integers(r.name("turned.axes"), turned),
                  r.w.integers(r.name("turned.steps"), Integers(turned.size(), -1))});
    if (steps) {  // size - 1 zeros after each element but the last
        const Shape small = r.w.shape(g);
        Shape apart, wide;
        Integers none, gaps;
        for (std::size_t d = 0; d < small.size(); ++d) {
            const std::int64_t size = small[d] == 1 ? 1 : std::abs(ranges[d].step);
            apart.insert(apart.end(), {small[d], 1});
            none.insert(none.end(), {0, 0});
            gaps.insert(gaps.end(), {0, size - 1});
            wide.push_back(small[d] * size);
        }
        g = padded(r, "gaps", r.w.reshape(r.name("apart"), g, apart), none, gaps);
        g = r.w.reshape(r.name("together"), g, wide);
        Shape reach = wide;
        for (std::size_t d = 0; d < wide.size(); ++d) reach[d] = in[d] - before[d] - after[d];
        g = part_of(r, "reach", g, Integers(wide.size(), 0), reach);
    }
    r.give(0, padded(r, "x", g, before, after));
}

void pad(Rule& r) {
    if (r.node.text("mode", "constant") != "constant") r.fail("a mode that is not constant");
    Integers pads = known_integers(r.graph(), r.node, 1);
    const Shape in = r.shape(r.in(0));
    pads.resize(in.size());
    if (std::any_of(pads.begin(), pads.end(), [](std::int64_t p) { return p < 0; }))
        r.fail("padding below 0");
    r.give(0, part_of(r, "x", r.dy(), pads, in));
    if (r.needs(2)) r.fail("its filler is computed");
}

/// give() sums what was repeated.
void expand(Rule& r) {
    r.give(0, r.dy());
}

void tile(Rule& r) {
    const Shape in = r.shape(r.in(0)), out = r.shape(r.out());
    Shape apart;
    Integers copies;
    for (std::size_t d = 0; d < in.size(); ++d) {
        if (in[d] == 0) r.fail("it has no elements");
        copies.push_back(static_cast<std::int64_t>(apart.size()));
        apart.insert(apart.end(), {out[d] / in[d], in[d]});
    }
    const ValueId sum = r.sum("sum", r.w.reshape(r.name("apart"), r.dy(), apart), copies);
    r.give(0, r.w.reshape(r.name("x"), sum, in));
}

void triangle(Rule& r) {
    std::vector<ValueId> operands = {r.dy()};
    if (r.has(1)) operands.push_back(r.in(1));
    r.give(0, r.op(kTrilu, "x", operands, {{"upper", r.node.integer("upper", 1)}}));
}

void cast(Rule& r) {
    const ElementType type = r.type(r.in(0));
    if (!is_floating(type)) return;
    r.give(0, r.op(kCast, "x", {r.dy()}, {{"to", onnx_type_of(type)}}));
}

/// Rows of a table: each gradient is added to its row. By known indices that is a product with a
/// matrix of ones and zeros, or a padding where the rows follow each other.
void gather(Rule& r) {
    const Shape table = r.shape(r.in(0)), which = r.shape(r.in(1)), out = r.shape(r.out());
    const std::size_t axis = axis_of(r.node, r.node.integer("axis", 0), table.size());
    const auto before = static_cast<std::ptrdiff_t>(axis);
    const std::int64_t extent = table[axis], count = element_count(which);
    const std::int64_t outer = element_count(Shape(table.begin(), table.begin() + before)),
                       inner = element_count(Shape(table.begin() + before + 1, table.end()));
    const Value& indices = r.graph().value(r.in(1));
    if (indices.is_known()) {
        Integers at = to_integers(*indices.data);
        for (std::int64_t& i : at) i += i < 0 ? extent : 0;
        bool follow = count > 0;
        for (std::size_t i = 1; i < at.size(); ++i)
            follow = follow && at[i] == at[0] + static_cast<std::int64_t>(i);
        Shape along = table;
        along[axis] = count;
        if (follow) {
            const ValueId g = r.w.reshape(r.name("rows"), r.dy(), along);
            Integers low(table.size(), 0), high = low;
            low[axis] = at[0];
            high[axis] = extent - at[0] - count;
            return r.give(0, padded(r, "x", g, low, high));
        }
        std::vector<double> ones(static_cast<std::size_t>(extent * count), 0);
        for (std::size_t i = 0; i < at.size(); ++i)
            ones.at(static_cast<std::size_t>(at[i]) * at.size() + i) = 1;
        const ValueId matrix = r.w.reals(r.name("ones"), r.type(r.out()), {extent, count}, ones);
        ValueId g = r.w.reshape(r.name("rows"), r.dy(), {outer, count, inner});
        if (outer == 1) g = r.w.reshape(r.name("matrix"), g, {count, inner});
        return r.give(0, r.w.reshape(r.name("x"), r.op(kMatMul, "sum", {matrix, g}), table));
    }
    if (outer != 1) {
        // Each index stands for a row of elements.
        Shape spread = table, apart(table.size(), 1);
        spread[axis] = apart[axis] = count;
        const ValueId list = r.w.reshape(r.name("list"), r.in(1), apart);
        const ValueId all = r.op(
            kExpand, "spread",
            {list, r.w.integers(r.name("spread.shape"), Integers(spread.begin(), spread.end()))});
        const ValueId rows = r.w.reshape(r.name("rows"), r.dy(), spread);
        return r.give(0, r.op(kScatterElements, "x", {zeros(r, "empty", r.in(0)), all, rows},
                              {{"axis", static_cast<std::int64_t>(axis)},
                               {"reduction", std::string("add")}}));
    }
    const ValueId list = r.w.reshape(r.name("list"), r.in(1), {count, 1});
    const ValueId rows = r.w.reshape(r.name("rows"), r.dy(), {count, inner});
    const ValueId empty = r.w.constant(r.name("empty"), Tensor(r.type(r.out()), {extent, inner}));
    const ValueId sum =
        r.op(kScatterND, "sum", {empty, list, rows}, {{"reduction", std::string("add")}});
    r.give(0, sum == kNoValue ? sum : r.w.reshape(r.name("x"), sum, table));
}

constexpr RuleRow kRows[] = {
    {kCast, cast},       {kConcat, concatenate}, {kExpand, expand},
    {kFlatten, reshape}, {kGather, gather},      {kPad, pad},
    {kReshape, reshape}, {kSlice, slice},        {kSplit, split},
    {kSqueeze, reshape}, {kTile, tile},          {kTranspose, transpose},
    {kTrilu, triangle},  {kUnsqueeze, reshape},
};

}  // namespace

std::span<const RuleRow> movement_rules() {
    return kRows;
}

}  // namespace lockstep::network::training
