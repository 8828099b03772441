// SPDX-License-Identifier: Apache-2.0
// Reshapes, means, resizes, padding: what moves values more than it computes.
#include <algorithm>

#include "sim/numerics/resize.h"
#include "workloads/network/tflite/operators.h"

namespace lockstep::network::tflite {

namespace {

/// Height and width of a result, which stand in a constant and in the result's shape.
Shape resized(Model& m, std::int32_t x, std::int32_t size, std::int32_t y) {
    const Shape in = m.tensor(x).shape, out = m.tensor(y).shape;
    if (in.size() != 4 || out.size() != 4) refuse("a resize of no image");
    if (m.integers(size) != std::vector<std::int64_t>{out[1], out[2]} || in[0] != out[0] ||
        in[3] != out[3])
        refuse("a size that is not its result's");
    return to_graph(out);
}

}  // namespace

void read_reshape(Model& m, std::int32_t x, std::int32_t y) {
    const Shape from = m.tensor(x).shape, to = m.tensor(y).shape;
    if (element_count(from) != element_count(to)) refuse("a reshape to another size");
    if (!m.tensor(x).flat.empty() && to.size() == 4) refuse("a flattened image as an image again");
    const bool image = from.size() == 4 && from[1] * from[2] > 1 && from[3] > 1;
    if (image && to.size() == 2 && to[0] == from[0]) {
        TensorInfo& out = m.tensor(y);
        out.value = m.flatten(x, out.name);
        out.flat = {from[3], from[1], from[2]};
        return;
    }
    const bool to_image = to.size() == 4 && to[1] * to[2] > 1 && to[3] > 1;
    if (image || to_image) refuse("a reshape that moves an image's channels");
    const Shape shape = to_graph(to);
    const ValueId out = m.add_value(y, ValueKind::kComputed);
    m.tensor(y).flat = m.tensor(x).flat;
    m.add_node(Operator::kReshape,
               {m.value_of(x), m.constant(fmt::format("shape{}", m.graph().values.size()),
                                          make_tensor({static_cast<std::int64_t>(shape.size())},
                                                      std::span<const std::int64_t>(shape)))},
               out);
}

void read_mean(Model& m, const Table& options, std::int32_t x, std::int32_t axes_tensor,
               std::int32_t y) {
    std::vector<std::int64_t> axes = m.integers(axes_tensor);
    for (std::int64_t& axis : axes) axis = axis < 0 ? axis + 4 : axis;
    std::sort(axes.begin(), axes.end());
    if (m.tensor(x).shape.size() != 4 || axes != std::vector<std::int64_t>{1, 2})
        refuse("a mean that is not over an image");
    const Shape in = to_graph(m.tensor(x).shape);
    const ValueId result = m.add_value(y, ValueKind::kComputed);
    if (options.scalar<std::uint8_t>(0, 0) != 0)
        return m.add_node(Operator::kGlobalAveragePool, {m.value_of(x)}, result);
    Value value = m.graph().value(result);
    value.name += ".mean";
    value.shape = Shape{in[0], in[1], 1, 1};
    const ValueId mean = m.graph().add(std::move(value));
    m.add_node(Operator::kGlobalAveragePool, {m.value_of(x)}, mean);
    m.add_node(Operator::kFlatten, {mean}, result, {{"axis", std::int64_t{1}}});
}

/// Rows, then columns.
void read_resize_nearest(Model& m, const Table& options, std::int32_t x, std::int32_t size,
                         std::int32_t y) {
    const numerics::ResizeAxis::Mode mode{.half_pixels = options.scalar<std::uint8_t>(1, 0) != 0,
                                          .corners = options.scalar<std::uint8_t>(0, 0) != 0};
    const Shape out = resized(m, x, size, y), in = to_graph(m.tensor(x).shape);
    ValueId from = m.value_of(x);
    const ValueId result = m.add_value(y, ValueKind::kComputed);
    for (const std::size_t d : {2, 3}) {
        const numerics::ResizeAxis axis(in[d], out[d], mode);
        std::vector<std::int64_t> indices;
        for (std::int64_t o = 0; o < out[d]; ++o) indices.push_back(axis.at(o).low);
        Value value = m.graph().value(result);
        value.name += ".rows";
        value.shape = Shape{in[0], in[1], out[2], in[3]};
        const ValueId to = d == 3 ? result : m.graph().add(std::move(value));
        m.add_node(
            Operator::kGather,
            {from, m.constant(fmt::format("indices{}", m.graph().values.size()),
                              make_tensor({out[d]}, std::span<const std::int64_t>(indices)))},
            to, {{"axis", static_cast<std::int64_t>(d)}});
        from = to;
    }
}

void read_resize_bilinear(Model& m, const Table& options, std::int32_t x, std::int32_t size,
                          std::int32_t y) {
    const Shape out = resized(m, x, size, y);
    const bool corners = options.scalar<std::uint8_t>(2, 0) != 0,
               half = options.scalar<std::uint8_t>(3, 0) != 0;
    if (corners && half) refuse("half_pixel_centers with align_corners");
    const ValueId from = m.value_of(x);
    m.add_node(Operator::kResizeBilinear, {from}, m.add_value(y, ValueKind::kComputed),
               {{"size", std::vector<std::int64_t>{out[2], out[3]}},
                {"align_corners", std::int64_t{corners}},
                {"half_pixel_centers", std::int64_t{half}}});
}

void read_pad(Model& m, std::int32_t x, std::int32_t amounts, std::int32_t y) {
    const std::vector<std::int64_t> by = m.integers(amounts);
    if (m.tensor(x).shape.size() != 4 || by.size() != 8) refuse("padding of no image");
    std::vector<std::int64_t> pads(8);
    for (std::int64_t d = 0; d < 4; ++d)
        for (std::int64_t side = 0; side < 2; ++side)
            pads[static_cast<std::size_t>(side * 4 + axis_to_graph(d, 4))] =
                by[static_cast<std::size_t>(2 * d + side)];
    m.add_node(Operator::kPad,
               {m.value_of(x), m.constant(fmt::format("pads{}", m.graph().values.size()),
                                          make_tensor({8}, std::span<const std::int64_t>(pads)))},
               m.add_value(y, ValueKind::kComputed));
}

}  // namespace lockstep::network::tflite
