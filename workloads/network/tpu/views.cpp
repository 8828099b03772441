// SPDX-License-Identifier: Apache-2.0
// Operators that only see a value in another way: they cost nothing where the next reader can
// follow the strides; else a copy is made.
#include <algorithm>

#include "sim/error/error.h"
#include "workloads/network/shapes/shape_inference.h"
#include "workloads/network/tpu/copies.h"
#include "workloads/network/tpu/operators.h"

namespace lockstep::network::lowering {

namespace {

/// Whether all that read the rows of a flattened image can take its pixels as they lie.
bool may_stay_image(const Compilation& c, ValueId id) {
    return std::ranges::all_of(c.places.uses().readers(id), [&](std::size_t n) {
        const Node& reader = c.graph.nodes[n];
        if (c.places.is_on_host(reader)) return true;  // its port says how it lies
        if (reader.inputs[0] != id || std::ranges::count(reader.inputs, id) != 1) return false;
        // The weights of a product are packed in the order of its rows' elements.
        if (reader.op == Operator::kGemm || reader.op == Operator::kMatMul)
            return has_constant_weights(c.graph, reader);
        const bool is_unary = reader.op == Operator::kClip || reader.op == Operator::kCast ||
                              reader.op == Operator::kQuantizeLinear ||
                              reader.op == Operator::kDequantizeLinear ||
                              (reader.inputs.size() == 1 && function_of(c.graph, reader));
        return is_unary && may_stay_image(c, reader.outputs[0]);
    });
}

}  // namespace

compile::Reason reason_view(const Asked& a) {
    if (a.node.op != Operator::kSlice) return std::nullopt;
    for (const SliceRange& range : slice_ranges(a.graph, a.node))
        if (range.step < 1 && range.count > 1) return "a slice that goes backwards";
    return std::nullopt;
}

void lower_view(Compilation& c, const Node& node) {
    const ValueId x = node.inputs[0];
    Place from = c.places.of(x);
    const auto give = [&](ValueId y, std::optional<Place> view) {
        if (!view) {
            c.steps.begin(node.name);
            view = compile::reshaped(dense_copy(c, from, node.name), c.shape(y));
        }
        c.places.set(y, std::move(*view));
    };
    const auto rank = static_cast<std::int64_t>(from.shape.size());
    switch (node.op) {
        case Operator::kTranspose: {
            std::vector<std::int64_t> perm = node.integers("perm");
            if (perm.empty())
                for (std::int64_t d = rank; d-- > 0;) perm.push_back(d);
            return c.places.set(node.outputs[0], compile::permuted(from, perm));
        }
        case Operator::kSplit: {
            std::int64_t axis = node.integer("axis", 0), at = 0;
            if (axis < 0) axis += rank;
            for (const ValueId y : node.outputs) {
                Place part = from;
                const auto d = static_cast<std::size_t>(axis);
                part.address += part.bytes_of(at * part.strides[d]);
                part.shape = c.shape(y);
                at += c.shape(y)[d];
                c.places.set(y, std::move(part));
            }
            return;
        }
        case Operator::kSlice: {
            Place part = from;
            const std::vector<SliceRange> ranges = slice_ranges(c.graph, node);
            for (std::size_t d = 0; d < ranges.size(); ++d) {
                part.address += part.bytes_of(ranges[d].start * part.strides[d]);
                if (ranges[d].count > 1) part.strides[d] *= ranges[d].step;
            }
            part.shape = c.shape(node.outputs[0]);
            return c.places.set(node.outputs[0], std::move(part));
        }
        default:
            break;
    }
    const ValueId y = node.outputs[0];
    const Shape& to = c.shape(y);
    // An image in NHWC that becomes rows: its columns keep their order where all readers know.
    const bool flattens = from.shape.size() == 4 && to.size() == 2 && to[0] == from.shape[0] &&
                          from.strides == image_strides(from.shape) && from.shape[1] != 1 &&
                          from.shape[2] * from.shape[3] != 1 && may_stay_image(c, y);
    if (flattens) {
        Place rows = from;
        rows.image = {from.shape[1], from.shape[2], from.shape[3]};
        rows.shape = to;
        rows.strides = dense_strides(to);
        return c.places.set(y, std::move(rows));
    }
    LOCKSTEP_CHECK(from.image.empty(), "{} reads a flattened image", node.name);
    give(y, compile::reshaped(from, to));
}

}  // namespace lockstep::network::lowering
