// SPDX-License-Identifier: Apache-2.0
// Operators that move elements, or place constants by index, as simpler movements. Source: the ONNX
// operator reference.
#include <algorithm>

#include "workloads/network/decompose/parts.h"

namespace lockstep::network::decomposing {

namespace {

constexpr std::int64_t kMaximumExtent = std::int64_t{1} << 24;

/// The input element that stands at place i, which may lie outside of the input.
std::int64_t source_of(std::int64_t i, std::int64_t extent, bool reflects) {
    if (!reflects) return std::clamp<std::int64_t>(i, 0, extent - 1);
    return i < 0 ? -i : i >= extent ? 2 * (extent - 1) - i : i;
}

}  // namespace

void write_pad(NodeWriter& w, const Graph& graph, const Node& node) {
    ValueId x = node.inputs.at(0);
    const Shape in = w.shape(x);
    const std::vector<std::int64_t> pads = known_integers(graph, node, 1);
    const std::string mode = node.text("mode", "constant");
    if (pads.size() != 2 * in.size()) fail(node, fmt::format("{} pads", pads.size()));
    if (mode != "constant" && mode != "reflect" && mode != "edge")
        fail(node, "mode " + mode + " is not supported");
    std::vector<std::int64_t> from, to, axes, rest = pads;
    bool cuts = false, adds = false;
    for (std::size_t d = 0; d < in.size(); ++d) {
        for (std::int64_t* pad : {&rest[d], &rest[d + in.size()]}) {
            if (*pad < -kMaximumExtent || *pad > kMaximumExtent)
                fail(node, fmt::format("pad {}", *pad));
            cuts |= *pad < 0;
            adds |= *pad > 0;
        }
        from.push_back(std::max<std::int64_t>(0, -pads[d]));
        to.push_back(in[d] - std::max<std::int64_t>(0, -pads[d + in.size()]));
        axes.push_back(static_cast<std::int64_t>(d));
        if (from.back() > to.back()) fail(node, "cuts off more than there is");
        rest[d] = std::max<std::int64_t>(0, pads[d]);
        rest[d + in.size()] = std::max<std::int64_t>(0, pads[d + in.size()]);
    }
    if (cuts) {
        const std::string name = node.name + ".cut";
        x = w.add(Operator::kSlice, name,
                  {x, w.integers(name + ".from", from), w.integers(name + ".to", to),
                   w.integers(name + ".axes", axes)});
    }
    if (mode == "constant" && adds) {
        std::vector<ValueId> operands = {x, w.integers(node.name + ".pads", rest)};
        if (node.input(2) != kNoValue) operands.push_back(node.inputs[2]);
        x = w.add(Operator::kPad, node.name + ".rest", operands);
    }
    for (std::size_t d = 0; d < in.size() && mode != "constant"; ++d) {
        const std::int64_t extent = w.shape(x)[d], before = rest[d], after = rest[d + in.size()];
        if (before == 0 && after == 0) continue;
        const std::int64_t most = mode == "reflect" ? extent - 1 : extent == 0 ? 0 : kMaximumExtent;
        if (before > most || after > most || extent > kMaximumExtent)
            fail(node, fmt::format("{} and {} elements around {}", before, after, extent));
        std::vector<std::int64_t> indices;
        for (std::int64_t i = -before; i < extent + after; ++i)
            indices.push_back(source_of(i, extent, mode == "reflect"));
        const std::string name = fmt::format("{}.axis{}", node.name, d);
        x = w.add(Operator::kGather, name, {x, w.integers(name + ".indices", indices)},
                  {{"axis", static_cast<std::int64_t>(d)}});
    }
    w.give(x, node.outputs.at(0));
}

void write_block_movement(NodeWriter& w, const Graph&, const Node& node) {
    const ValueId x = node.inputs.at(0);
    const Shape in = w.shape(x);
    const std::int64_t block = node.integer("blocksize", 0);
    const bool to_space = node.op == Operator::kDepthToSpace;
    if (in.size() != 4 || block < 1 || block > (1 << 15))
        fail(node, fmt::format("{} in blocks of {}", to_string(in), block));
    const std::int64_t n = in[0], c = in[1], h = in[2], v = in[3];
    const bool fits = to_space ? c % (block * block) == 0 : h % block == 0 && v % block == 0;
    if (!fits) fail(node, fmt::format("{} in blocks of {}", to_string(in), block));
    Shape apart, together;
    std::vector<std::int64_t> perm;
    if (to_space) {
        const std::int64_t depth = c / (block * block);
        const std::string mode = node.text("mode", "DCR");
        if (mode != "DCR" && mode != "CRD") fail(node, "mode " + mode);
        const bool depth_last = mode == "DCR";
        apart =
            depth_last ? Shape{n, block, block, depth, h, v} : Shape{n, depth, block, block, h, v};
        perm = depth_last ? Shape{0, 3, 4, 1, 5, 2} : Shape{0, 1, 4, 2, 5, 3};
        together = {n, depth, h * block, v * block};
    } else {
        apart = {n, c, h / block, block, v / block, block};
        perm = {0, 3, 5, 1, 2, 4};
        together = {n, c * block * block, h / block, v / block};
    }
    const ValueId parts = w.reshape(node.name + ".apart", x, apart);
    w.reshape(node.name, w.transpose(node.name + ".turn", parts, perm), together,
              node.outputs.at(0));
}

void write_one_hot(NodeWriter& w, const Graph& graph, const Node& node) {
    const ValueId indices = node.inputs.at(0), values = node.inputs.at(2);
    const Value& depth_value = graph.value(node.inputs.at(1));
    if (!depth_value.is_known() || depth_value.data->size() != 1)
        fail(node, "a depth that is not known before the run");
    const double depth = to_doubles(*depth_value.data)[0];
    if (!(depth >= 1 && depth < 0x1p24)) fail(node, fmt::format("a depth of {}", depth));
    if (w.shape(values) != Shape{2}) fail(node, "values " + to_string(w.shape(values)));
    if (is_floating(w.type(indices))) fail(node, "floating indices");
    Shape shape = w.shape(indices);
    const auto axis =
        static_cast<std::int64_t>(axis_of(node, node.integer("axis", -1), shape.size() + 1));
    const auto count = static_cast<std::int64_t>(depth);
    shape.insert(shape.begin() + axis, 1);
    const ValueId apart = w.reshape(node.name + ".indices", indices, shape);
    Shape along(shape.size(), 1);
    along[static_cast<std::size_t>(axis)] = count;
    std::vector<double> places, from_end;
    for (std::int64_t i = 0; i < count; ++i) {
        places.push_back(static_cast<double>(i));
        from_end.push_back(static_cast<double>(i - count));
    }
    const ElementType type = w.type(indices);
    const std::string& name = node.name;
    const ValueId hit = w.add(Operator::kEqual, name + ".hit",
                              {apart, w.reals(name + ".places", type, along, places)}),
                  hit_from_end = w.add(Operator::kEqual, name + ".from_end",
                                       {apart, w.reals(name + ".ends", type, along, from_end)});
    const auto value = [&](std::int64_t i) {
        const std::string part = name + (i == 0 ? ".off" : ".on");
        return w.add(Operator::kGather, part,
                     {values, w.constant(part + ".index", make_tensor({}, std::span(&i, 1)))},
                     {{"axis", std::int64_t{0}}});
    };
    w.add(Operator::kWhere, name,
          {w.add(Operator::kOr, name + ".set", {hit, hit_from_end}), value(1), value(0)}, {}, 1,
          node.outputs.at(0));
}

}  // namespace lockstep::network::decomposing
