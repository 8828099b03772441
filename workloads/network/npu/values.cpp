// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/npu/values.h"

#include <algorithm>

#include "workloads/network/compile/refusal.h"
#include "workloads/network/graph/quantisation.h"

namespace lockstep::network::npu_code {

namespace {

constexpr std::int64_t kMaximumExtent = 65535;  ///< of an image's fields

}  // namespace

numerics::IntegerRange range_of_type(isa::ElementType type) {
    return network::range_of(ElementType::kInt8, static_cast<int>(isa::bits_of(type)));
}

Values::Values(const Graph& graph)
    : graph_(graph), seen_(graph.values.size()), readers_(graph.values.size(), 0) {
    for (const Node& node : graph.nodes) {
        const bool of_images = has_window(node.op) || node.op == Operator::kGlobalAveragePool ||
                               node.op == Operator::kGlobalMaxPool;
        has_images_ |= of_images && graph.shape(node.inputs.at(0)).size() == 4;
        for (const ValueId id : node.inputs)
            if (id != kNoValue) ++readers_[id];
    }
    for (const ValueId id : graph.outputs) ++readers_[id];
}

isa::ElementType Values::type_of(ValueId id) const {
    const Value& value = graph_.value(id);
    if (!value.quantisation || value.type != network::ElementType::kInt8)
        throw compile::Refusal(fmt::format("{} is {}, not int8", value.name, name_of(value.type)));
    switch (bits_of(value)) {
        case 4:
            return isa::ElementType::kInt4;
        case 2:
            return isa::ElementType::kInt2;
        default:
            return isa::ElementType::kInt8;
    }
}

Layout Values::layout_of(const Shape& shape, isa::ElementType type) const {
    Layout layout{1, 1, 1, 1, type};
    if (shape.size() == 4 && has_images_) {
        layout = {shape[0], shape[2], shape[3], shape[1], type};
    } else if (!shape.empty()) {
        layout.c = shape.back();
        for (std::size_t d = 0; d + 1 < shape.size(); ++d) layout.h *= shape[d];
    }
    for (const std::int64_t extent : {layout.n, layout.h, layout.w, layout.c})
        if (extent > kMaximumExtent)
            throw compile::Refusal(fmt::format("an extent of {} is over 65535", extent));
    return layout;
}

Layout Values::layout_of_operand(ValueId id, std::size_t rank) const {
    Shape shape = graph_.shape(id);
    while (shape.size() < rank) shape.insert(shape.begin(), 1);
    return layout_of(shape, type_of(id));
}

const Seen& Values::seen(ValueId id) {
    std::optional<Seen>& seen = seen_[id];
    if (!seen) {
        const Layout layout = layout_of(graph_.shape(id), type_of(id));
        seen = Seen{{id, layout, layout}, {}};
    }
    return *seen;
}

compile::View Values::view_of(ValueId id) {
    const Shape& shape = graph_.shape(id);
    const Seen& value = seen(id);
    compile::View view{shape, compile::dense_strides(shape), value.flat};
    const bool is_image = shape.size() == 4 && has_images_;
    if (is_image) view.strides = compile::image_strides(shape);
    const Layout& whole = value.part.whole;
    if (value.part.is_whole()) return view;
    if (is_image) {
        view.strides = {whole.h * whole.w * whole.c, 1, whole.w * whole.c, whole.c};
        return view;
    }
    // Rows of more channels than these.
    std::int64_t stride = whole.c;
    for (std::size_t d = shape.size() - 1; d-- > 0; stride *= shape[d]) view.strides[d] = stride;
    return view;
}

std::int64_t Values::offset_of(ValueId id) {
    const Part& part = seen(id).part;
    return (part.row * part.whole.w + part.column) * part.whole.c + part.channel;
}

}  // namespace lockstep::network::npu_code
