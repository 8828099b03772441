// SPDX-License-Identifier: Apache-2.0
// Operators that only move values: chosen rows, copies into places of another value, borders; and
// views, which move nothing.
#include <algorithm>

#include "workloads/network/graph/given.h"
#include "workloads/network/graph/quantisation.h"
#include "workloads/network/npu/lower.h"
#include "workloads/network/shapes/shape_inference.h"

namespace lockstep::network::npu_code {

/// Rows or columns that are chosen as a nearest-neighbour resize does.
Step Lowering::gather(std::size_t index) {
    const Node& node = graph_.nodes[index];
    const Value& indices = graph_.value(node.inputs[1]);
    const Shape& shape = graph_.shape(node.inputs[0]);
    const std::size_t axis = axis_of(node, node.integer("axis", 0), shape.size());
    Step step = begin(index, isa::Opcode::kResize);
    if (!indices.is_known() || axis < 2 || !values_.is_image(node.inputs[0]))
        refuse("elements chosen by indices");
    const std::vector<std::int64_t> wanted = to_integers(*indices.data);
    const std::int64_t in = shape[axis], out = static_cast<std::int64_t>(wanted.size());
    const auto is = [&](numerics::ResizeAxis::Mode mode) {
        const numerics::ResizeAxis rule(in, out, mode);
        for (std::int64_t o = 0; o < out; ++o)
            if (wanted[static_cast<std::size_t>(o)] != rule.at(o).low) return false;
        return true;
    };
    // The other dimension stays as it is in any mode.
    if (is({}))
        step.interpolation = isa::Interpolation::kNearest;
    else if (is({.half_pixels = true}))
        step.interpolation = isa::Interpolation::kNearestHalfPixel;
    else if (is({.corners = true}))
        step.interpolation = isa::Interpolation::kNearestCorners;
    else
        refuse("elements chosen by indices");
    return step;
}

Step Lowering::resize(std::size_t index) {
    const Node& node = graph_.nodes[index];
    Step step = begin(index, isa::Opcode::kResize);
    if (step.input.box.type != step.output.box.type) refuse("from one width to another");
    step.interpolation =
        node.integer("align_corners", 0) != 0        ? isa::Interpolation::kBilinearCorners
        : node.integer("half_pixel_centers", 0) != 0 ? isa::Interpolation::kBilinearHalfPixel
                                                     : isa::Interpolation::kBilinear;
    return step;
}

/// A part of a value into a part of another, rescaled where their scales differ.
Step Lowering::copy(std::size_t index, const Part& from, ValueId from_value, const Part& to) {
    const Node& node = graph_.nodes[index];
    Step step;
    step.name = node.name;
    step.nodes = {index};
    step.opcode = isa::Opcode::kElementwise;
    step.input = from;
    step.input_zero = zero(from_value);
    step.output = to;
    step.output_zero = zero(node.outputs[0]);
    const double ratio = scale(from_value) / scale(node.outputs[0]);
    step.result =
        ratio == 1 ? numerics::FixedPointScale{1 << 30, 30} : numerics::fixed_point_scale(ratio);
    const numerics::IntegerRange range = range_of_type(to.box.type);
    step.low = range.low;
    step.high = range.high;
    step.window.rows = to.box.h;
    step.window.columns = to.box.w;
    return step;
}

std::vector<Step> Lowering::concatenation(std::size_t index, std::vector<Step>& before) {
    const Node& node = graph_.nodes[index];
    const ValueId out = node.outputs[0];
    const Part whole = values_.own(out);
    const Shape& shape = graph_.shape(out);
    const std::size_t axis = axis_of(node, node.integer("axis", 0), shape.size());
    if (!values_.is_image(out) && axis + 1 != shape.size() &&
        element_count(Shape(shape.begin(), shape.begin() + static_cast<std::ptrdiff_t>(axis))) != 1)
        refuse("rows of several parts in turn");
    std::vector<Step> steps;
    Part place = whole;
    for (const ValueId id : node.inputs) {
        if (is_given(graph_.value(id))) refuse("a constant part");
        const Part from = values_.own(id);
        const Layout &a = from.box, &b = whole.box;
        const bool channels = a.n == b.n && a.h == b.h && a.w == b.w;
        const bool columns = a.n == b.n && a.h == b.h && a.c == b.c;
        const bool rows = a.n == b.n && a.w == b.w && a.c == b.c;
        if (!channels && !columns && !rows)
            refuse("parts that are not beside each other in images");
        place.box = a;
        place.box.type = b.type;
        if ((place.channel * isa::bits_of(b.type)) % 8 != 0)
            refuse("a part that does not begin at a byte");
        // Who makes the part may as well put it there.
        const auto maker = std::find_if(before.begin(), before.end(), [&](const Step& s) {
            return s.output.value == from.value && !s.on_host;
        });
        const bool direct =
            maker != before.end() && values_.readers(id) == 1 && from.is_whole() &&
            from.value == id && maker->output == from && quantisation(id) == quantisation(out) &&
            std::count_if(before.begin(), before.end(), [&](const Step& s) {
                return s.output.value == id || s.input.value == id || s.operand.value == id;
            }) == 1;
        if (direct)
            maker->output = place;
        else
            steps.push_back(copy(index, from, id, place));
        (channels  ? place.channel
         : columns ? place.column
                   : place.row) += channels  ? a.c
                                   : columns ? a.w
                                             : a.h;
    }
    return steps;
}

std::vector<Step> Lowering::padding(std::size_t index) {
    const Node& node = graph_.nodes[index];
    const Part from = values_.own(node.inputs[0]), whole = values_.own(node.outputs[0]);
    const Value& amounts = graph_.value(node.inputs[1]);
    if (!amounts.is_known() || node.text("mode", "constant") != "constant" ||
        !values_.is_image(node.inputs[0]))
        refuse("padding of other than images by a constant");
    const std::vector<std::int64_t> pads = to_integers(*amounts.data);
    for (const std::size_t i : {0, 1, 4, 5})
        if (pads.at(i) != 0) refuse("padding of channels or images");
    for (const std::int64_t pad : pads)
        if (pad < 0) refuse("negative padding");
    if (whole.box.pixel() * 8 !=
        static_cast<std::uint64_t>(whole.box.c) * isa::bits_of(whole.box.type))
        refuse("padding of pixels that do not fill bytes");
    Step fill;
    fill.name = node.name;
    fill.nodes = {index};
    fill.opcode = isa::Opcode::kFill;
    fill.output = whole;
    fill.output_zero = zero(node.outputs[0]);
    fill.window.rows = whole.box.h;
    fill.window.columns = whole.box.w;
    Part place = whole;
    place.box = from.box;
    place.row = pads[2];
    place.column = pads[3];
    return {fill, copy(index, from, node.inputs[0], place)};
}

/// As images are, or with any strides where only products of values read it.
void Lowering::see(const Node& node, std::vector<Step>& before) {
    const ValueId from = node.inputs.at(0), to = node.outputs.at(0);
    if (node.op == Operator::kTranspose && place_transposed(node, before)) return;
    std::string reason = "a value whose dimensions are in another order";
    if (!values_.is_strided(from)) try {
            see_otherwise(node);
            return;
        } catch (const compile::Refusal& refusal) {
            reason = refusal.what();
        }
    if (!read_by_products(to)) refuse(reason);
    Strided strided = values_.strided(from);
    if (!strided.view.image.empty()) refuse(reason);
    if (node.op == Operator::kTranspose) {
        strided.view = compile::permuted_view(strided.view, node.integers("perm"));
    } else {
        std::optional<compile::View> view = compile::reshaped_view(strided.view, graph_.shape(to));
        if (!view) refuse(reason);
        strided.view = *std::move(view);
    }
    values_.set(to, std::move(strided));
}

/// Reshapes, and transpositions that move nothing.
bool Lowering::see_otherwise(const Node& node) {
    const ValueId from = node.inputs.at(0), to = node.outputs.at(0);
    const Seen seen = values_.seen(from);
    const Layout target = values_.layout_of(to);
    const Shape &old = graph_.shape(from), &shape = graph_.shape(to);
    const Layout& box = seen.part.box;
    const bool was_image = values_.is_image(from), becomes_image = values_.is_image(to);
    const auto see = [&](Shape flat) {
        if (!seen.part.is_whole()) refuse("a part of a value in another shape");
        values_.set(to, {{seen.part.value, target, target}, std::move(flat)});
        return true;
    };
    if (node.op == Operator::kTranspose) {
        std::vector<std::int64_t> kept, perm = node.integers("perm");
        for (const std::int64_t d : perm)
            if (old.at(static_cast<std::size_t>(d)) != 1) kept.push_back(d);
        if (std::is_sorted(kept.begin(), kept.end()) && box.h * box.w == 1) return see(seen.flat);
        refuse("a transposition");
    }
    if (old == shape) return see(seen.flat);
    const auto rows = [](const Layout& l) { return l.n * l.h * l.w; };
    // The channels stay together, or all of an image becomes channels.
    if (box.c == target.c && rows(box) == rows(target) &&
        (!was_image || !becomes_image || box == target) &&
        (box.h * box.w == 1 || !was_image || old[1] != box.c || old[1] == 1 ||
         old[0] * old[2] * old[3] == 1))
        return see(seen.flat);
    if (shape.size() == 2 && rows(target) == box.n && target.c == box.h * box.w * box.c) {
        if (box.pixel() * 8 != static_cast<std::uint64_t>(box.c) * isa::bits_of(box.type))
            refuse("a flattened image whose pixels do not fill bytes");
        const bool image = was_image && old[1] == box.c && box.h * box.w != 1;
        return see(image && box.c != 1 ? Shape{box.c, box.h, box.w} : Shape{});
    }
    if (rows(box) == rows(target) && box.c == target.c) return see(seen.flat);
    const bool in_order = seen.flat.empty() && (!was_image || box.c == 1 || box.h * box.w == 1) &&
                          (!becomes_image || target.c == 1 || target.h * target.w == 1);
    const auto fills_bytes = [](const Layout& l) {
        return l.pixel() * 8 == static_cast<std::uint64_t>(l.c) * isa::bits_of(l.type);
    };
    if (in_order && fills_bytes(box) && fills_bytes(target)) return see({});
    refuse(fmt::format("{} as {}, which would have to be moved", to_string(old), to_string(shape)));
}

bool Lowering::see_slice(const Node& node) {
    std::vector<std::int64_t> begins(graph_.shape(node.inputs[0]).size(), 0);
    const Seen seen = values_.seen(node.inputs[0]);
    std::int64_t split_at = 0;
    std::size_t split_axis = 0;
    if (node.op == Operator::kSlice) {
        const auto list = [&](std::size_t i) {
            if (node.input(i) == kNoValue) return std::vector<std::int64_t>{};
            const Value& value = graph_.value(node.inputs[i]);
            if (!value.is_known()) refuse("a slice by computed indices");
            return to_integers(*value.data);
        };
        const std::vector<std::int64_t> from = list(1), axes = list(3), steps = list(4);
        for (std::size_t i = 0; i < from.size(); ++i) {
            if (!steps.empty() && steps[i] != 1) refuse("a slice with steps");
            const std::size_t axis =
                axis_of(node, axes.empty() ? static_cast<std::int64_t>(i) : axes[i], begins.size());
            const std::int64_t extent = graph_.shape(node.inputs[0])[axis];
            begins[axis] =
                std::clamp<std::int64_t>(from[i] < 0 ? from[i] + extent : from[i], 0, extent);
        }
    } else {
        split_axis = axis_of(node, node.integer("axis", 0), begins.size());
    }
    const bool image = begins.size() == 4 && values_.is_image(node.inputs[0]);
    if (!seen.flat.empty()) refuse("a part of a flattened image");
    for (const ValueId id : node.outputs) {
        if (id == kNoValue) continue;
        if (node.op == Operator::kSplit) begins[split_axis] = split_at;
        Part part = seen.part;
        part.box = values_.layout_of(graph_.shape(id), part.box.type, image);
        if (image) {
            if (begins[0] != 0 || part.box.n != seen.part.box.n) refuse("some of the images");
            part.channel += begins[1];
            part.row += begins[2];
            part.column += begins[3];
        } else {
            part.channel += begins.back();
            std::int64_t row = 0;
            for (std::size_t d = 0; d + 1 < begins.size(); ++d) {
                row = row * graph_.shape(node.inputs[0])[d] + begins[d];
                if (d > 0 && graph_.shape(id)[d] != graph_.shape(node.inputs[0])[d])
                    refuse("a part of some of the rows");
            }
            part.row += row;
        }
        if (part.channel * isa::bits_of(part.box.type) % 8 != 0)
            refuse("a part that does not begin at a byte");
        values_.set(id, {part, {}});
        if (node.op == Operator::kSplit) split_at += graph_.shape(id)[split_axis];
    }
    return true;
}

}  // namespace lockstep::network::npu_code
