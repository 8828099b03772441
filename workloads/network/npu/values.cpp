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
    : graph_(graph), image_(graph.values.size(), false), seen_(graph.values.size()), uses_(graph) {
    find_images();
}

/// What nodes with windows touch, and what others make of it, forwards and backwards.
void Values::find_images() {
    const auto of_windows = [](Operator op) {
        return has_window(op) || op == Operator::kGlobalAveragePool ||
               op == Operator::kGlobalMaxPool || op == Operator::kResizeBilinear ||
               op == Operator::kLRN;
    };
    const auto turns = [](Operator op) {
        return (is_view(op) && op != Operator::kIdentity) || op == Operator::kExpand ||
               info_of(op).product == ProductForm::kMatrices;
    };
    for (bool changed = true; changed;) {
        changed = false;
        const auto mark = [&](ValueId id, std::size_t rank) {
            if (id == kNoValue || image_[id] || graph_.shape(id).size() != rank) return;
            image_[id] = changed = true;
        };
        for (const Node& node : graph_.nodes) {
            const ValueId x = node.input(0), y = node.outputs.at(0);
            if (x == kNoValue || y == kNoValue) continue;
            // As an image is resized to its nearest pixels.
            const bool resizes = node.op == Operator::kGather && node.integer("axis", 0) >= 2 &&
                                 graph_.shape(node.inputs.at(1)).size() == 1 &&
                                 graph_.value(node.inputs[1]).is_known();
            if (of_windows(node.op) || resizes) {
                mark(x, 4);
                mark(y, 4);
                continue;
            }
            if (turns(node.op)) continue;
            bool any = false;
            const auto see = [&](ValueId id) { any = any || (id != kNoValue && image_[id]); };
            for (const ValueId id : node.inputs) see(id);
            for (const ValueId id : node.outputs) see(id);
            if (!any) continue;
            for (const ValueId id : node.outputs) mark(id, 4);
            for (const ValueId id : node.inputs) mark(id, 4);
        }
    }
    // An operand of an image without its first dimension.
    for (const Node& node : graph_.nodes)
        for (const ValueId id : node.inputs)
            if (id != kNoValue && node.outputs[0] != kNoValue && image_[node.outputs[0]] &&
                info_of(node.op).integers == IntegerForm::kCombination &&
                graph_.shape(id).size() == 3)
                image_[id] = true;
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

Layout Values::layout_of(const Shape& shape, isa::ElementType type, bool image) const {
    Layout layout{1, 1, 1, 1, type};
    if (image && shape.size() == 4) {
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

Layout Values::layout_of_operand(ValueId id, std::size_t rank, bool image) const {
    Shape shape = graph_.shape(id);
    while (shape.size() < rank) shape.insert(shape.begin(), 1);
    return layout_of(shape, type_of(id), image);
}

Strided Values::strided(ValueId id) {
    if (const auto found = strided_.find(id); found != strided_.end()) return found->second;
    const Part& part = seen(id).part;
    return {part.value, part.whole, view_of(id), offset_of(id)};
}

const Seen& Values::seen(ValueId id) {
    if (is_strided(id)) throw compile::Refusal("a value whose dimensions are in another order");
    std::optional<Seen>& seen = seen_[id];
    if (!seen) {
        const Layout layout = layout_of(id);
        seen = Seen{{id, layout, layout}, {}};
    }
    return *seen;
}

compile::View Values::view_of(ValueId id) {
    if (const auto found = strided_.find(id); found != strided_.end()) return found->second.view;
    const Shape& shape = graph_.shape(id);
    const Seen& value = seen(id);
    compile::View view{shape, compile::dense_strides(shape), value.flat};
    const bool nhwc = shape.size() == 4 && is_image(id);
    if (nhwc) view.strides = compile::image_strides(shape);
    const Layout& whole = value.part.whole;
    if (value.part.is_whole()) return view;
    if (nhwc) {
        view.strides = {whole.h * whole.w * whole.c, 1, whole.w * whole.c, whole.c};
        return view;
    }
    // Rows of more channels than these.
    std::int64_t stride = whole.c;
    for (std::size_t d = shape.size() - 1; d-- > 0; stride *= shape[d]) view.strides[d] = stride;
    return view;
}

std::int64_t Values::offset_of(ValueId id) {
    if (const auto found = strided_.find(id); found != strided_.end()) return found->second.offset;
    const Part& part = seen(id).part;
    return (part.row * part.whole.w + part.column) * part.whole.c + part.channel;
}

}  // namespace lockstep::network::npu_code
