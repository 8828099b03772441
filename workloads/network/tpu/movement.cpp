// SPDX-License-Identifier: Apache-2.0
// Operators that move values: copies into a part of the result, or of a part of the operand.
#include <algorithm>

#include "sim/error/error.h"
#include "workloads/network/graph/given.h"
#include "workloads/network/shapes/shape_inference.h"
#include "workloads/network/tpu/copies.h"
#include "workloads/network/tpu/operators.h"

namespace lockstep::network::lowering {

namespace {

float filler_of(const Graph& graph, const Node& node) {
    if (node.input(2) == kNoValue) return 0;
    return scalar_of(graph.value(node.input(2))).value_or(1);
}

/// As the operand lies; but what gets neighbours within its rows (zeros between the pixels of a
/// line) would then be written element by element: as NHWC, whose pixels stay whole.
std::vector<std::int64_t> padded_strides(const Place& from, const Shape& to) {
    const std::size_t rank = to.size();
    const bool apart = rank > 4 && from.shape.back() == 1 && to.back() != 1 &&
                       from.strides[rank - 2] == 1 && from.shape[1] != 1;
    if (!apart) return strides_like(from, to);
    Shape order = to;
    std::rotate(order.begin() + 1, order.begin() + 2, order.end());
    std::vector<std::int64_t> strides = dense_strides(order);
    std::rotate(strides.begin() + 1, strides.end() - 1, strides.end());
    return strides;
}

}  // namespace

void lower_expand(Compilation& c, const Node& node) {
    const ValueId y = node.outputs[0];
    const Place from = c.places.of(node.inputs[0]);
    LOCKSTEP_CHECK(from.image.empty(), "{} reads a flattened image", node.name);
    const Shape& out = c.shape(y);
    // As many dimensions as the result; those that repeat have the stride 0.
    Place aligned = from, spread = from;
    const std::size_t more = out.size() - from.shape.size();
    aligned.shape.insert(aligned.shape.begin(), more, 1);
    aligned.strides.insert(aligned.strides.begin(), more, 0);
    spread = aligned;
    for (std::size_t d = 0; d < out.size(); ++d)
        if (aligned.shape[d] != out[d]) spread.strides[d] = 0;
    spread.shape = out;
    c.steps.begin(node.name);
    Place to = c.places.make(y, strides_like(aligned, out));
    copy(c, spread, to);
    c.places.set(y, std::move(to));
}

compile::Reason reason_pad(const Asked& a) {
    if (a.node.text("mode", "constant") != "constant") return "a mode that is not constant";
    if (filler_of(a.graph, a.node) != 0 && !is_floating(a.graph.value(a.node.outputs[0]).type))
        return "a filler of integers that is not 0";
    for (const std::int64_t pad : known_integers(a.graph, a.node, 1))
        if (pad < 0) return "padding below 0";
    return std::nullopt;
}

void lower_pad(Compilation& c, const Node& node) {
    const ValueId x = node.inputs[0], y = node.outputs[0];
    const std::vector<std::int64_t> pads = known_integers(c.graph, node, 1);
    const float filler = filler_of(c.graph, node);
    c.steps.begin(node.name);
    const Place from = c.places.of(x);
    const bool image = from.shape.size() == 4 && from.strides == image_strides(from.shape);
    // A buffer that holds the filler already; the values are put into its middle.
    Place to;
    to.space = c.places.backing();
    to.type = c.type_of(y);
    to.shape = c.shape(y);
    to.strides = image ? image_strides(to.shape) : padded_strides(from, to.shape);
    const std::uint64_t bytes = to.bytes_of(element_count(to.shape));
    const std::uint32_t buffer =
        c.places.add_buffer(c.value(y).name, to.space, tpu::Role::kScratch, to.type, bytes);
    to.address = c.builder.address(buffer);
    if (const std::int32_t zero = scaling_of(c.value(y)).zero; zero != 0)
        c.builder.add_data(buffer, 0,
                           std::vector<std::uint8_t>(bytes, static_cast<std::uint8_t>(zero)));
    if (filler != 0) {
        const Shape all = {element_count(to.shape)};
        const std::vector<float> fillers(static_cast<std::size_t>(all[0]), filler);
        std::vector<std::uint8_t> contents(bytes);
        write_port({.type = element_type_of(to.type), .view = {all, {1}, {}}},
                   make_tensor(all, std::span<const float>(fillers)), contents);
        c.builder.add_data(buffer, 0, contents);
    }
    Place middle = to;
    middle.shape = from.shape;
    for (std::size_t d = 0; d < from.shape.size(); ++d)
        middle.address += middle.bytes_of(pads.at(d) * to.strides[d]);
    copy(c, from, middle);
    c.places.set(y, std::move(to));
}

compile::Reason reason_concat(const Asked& a) {
    const Value& y = a.graph.value(a.node.outputs[0]);
    if (!y.quantisation) return std::nullopt;
    for (const ValueId x : a.node.inputs)
        if (!same_scale(a.graph.value(x), y)) return "parts of different scales";
    return std::nullopt;
}

void lower_concat(Compilation& c, const Node& node) {
    const ValueId y = node.outputs[0];
    const Place& first = c.places.of(node.inputs[0]);
    const std::int64_t axis = axis_of_concat(node, first.shape);
    c.steps.begin(node.name);
    const bool image = first.shape.size() == 4 && first.strides == image_strides(first.shape);
    const std::optional<Place> joined = c.places.take_joined(node);
    Place to =
        joined ? *joined
               : c.places.make(y, image ? image_strides(c.shape(y)) : dense_strides(c.shape(y)));
    std::int64_t at = 0;
    const auto d = static_cast<std::size_t>(axis);
    for (const ValueId x : node.inputs) {
        Place part = to;
        part.owner = nullptr;
        part.shape = c.shape(x);
        part.address += part.bytes_of(at * to.strides[d]);
        at += c.shape(x)[d];
        const Place& from = c.places.of(x);
        // It was made there.
        if (from.space == part.space && from.address == part.address) continue;
        copy(c, from, part);
    }
    c.places.set(y, std::move(to));
}

}  // namespace lockstep::network::lowering
