// SPDX-License-Identifier: Apache-2.0
// Operators that are no products, each a step; views of values; the order of all.
#include "workloads/network/npu/lower.h"

#include <algorithm>

#include "workloads/network/graph/fusion.h"
#include "workloads/network/graph/given.h"
#include "workloads/network/graph/quantisation.h"
#include "workloads/network/reference/tflite.h"
#include "workloads/network/shapes/shape_inference.h"
#include "workloads/network/shapes/window.h"

namespace lockstep::network::npu_code {

namespace {

[[noreturn]] void refuse(const std::string& reason) {
    throw compile::Refusal(reason);
}

constexpr std::size_t kTableEntries = 256;

std::vector<std::uint8_t> bytes_of(const std::vector<std::int32_t>& table) {
    std::vector<std::uint8_t> bytes(kTableEntries, 0);
    for (std::size_t i = 0; i < table.size(); ++i) bytes[i] = static_cast<std::uint8_t>(table[i]);
    return bytes;
}

isa::Broadcast broadcast_of(const Layout& operand, const Layout& out) {
    const auto same = [](std::int64_t a, std::int64_t b) { return a == b; };
    const bool one_pixel = operand.h == 1 && operand.w == 1 && operand.n == 1;
    const bool all_pixels =
        same(operand.h, out.h) && same(operand.w, out.w) && same(operand.n, out.n);
    if (all_pixels && operand.c == out.c) return isa::Broadcast::kNone;
    if (one_pixel && operand.c == 1) return isa::Broadcast::kScalar;
    if (one_pixel && operand.c == out.c) return isa::Broadcast::kChannel;
    if (all_pixels && operand.c == 1) return isa::Broadcast::kPixel;
    refuse("an operand that is repeated along some dimensions");
}

}  // namespace

bool Lowering::absorb_activation(Step& step, const Node& node) {
    const ValueId from = node.inputs[0], to = node.outputs[0];
    if (values_.type_of(from) != values_.type_of(to)) return false;
    const std::vector<std::int32_t> table = activation_table(graph_, node, target_.requantisation);
    const std::int32_t least = range_of_type(values_.type_of(from)).low;
    bool clamps = true;
    for (std::size_t i = 0; i < table.size(); ++i)
        clamps =
            clamps && table[i] == std::clamp(least + static_cast<std::int32_t>(i), table.front(),
                                             std::max(table.front(), table.back()));
    if (step.table_at == isa::TableAt::kSum && !clamps) return false;
    if (step.table_at == isa::TableAt::kResult) {
        for (std::size_t i = 0; i < table.size(); ++i) {
            const auto stored = static_cast<std::int8_t>(step.table[i]);
            step.table[i] =
                static_cast<std::uint8_t>(table.at(static_cast<std::size_t>(stored - least)));
        }
        return true;
    }
    if (clamps) {
        step.low = std::clamp(step.low, table.front(), table.back());
        step.high = std::clamp(step.high, table.front(), table.back());
        return true;
    }
    step.table_at = isa::TableAt::kResult;
    step.table = bytes_of(table);
    return true;
}

/// Sets what is made of `first`, one of the node's inputs, and the other; false where the other
/// cannot be the second operand.
bool Lowering::set_combination(Step& step, const Node& node, ValueId first) {
    const bool swapped = node.inputs[1] == first && node.inputs[0] != first;
    if (swapped && node.op == Operator::kSub) return false;
    const ValueId other = node.inputs[swapped ? 0 : 1], out = node.outputs[0];
    const bool fused = step.is_product();
    // The sum's zero point is also that of what is added, which a table may have changed.
    if (fused &&
        (zero(first) != step.output_zero || values_.type_of(first) != values_.type_of(out)))
        return false;
    if (!graph_.value(other).quantisation || graph_.value(other).quantisation->axis) return false;
    const std::size_t rank = graph_.shape(out).size();
    Part operand;
    if (is_given(graph_.value(other)) || graph_.shape(other).size() != rank) {
        const Layout layout = values_.layout_of_operand(other, rank);
        operand = {other, layout, layout};
        if (!is_given(graph_.value(other))) {
            if (!values_.seen(other).part.is_whole()) return false;
            operand.value = values_.own(other).value;
        }
    } else {
        operand = values_.own(other);
    }
    const Layout result = values_.own(out).box;
    if (fused && step.output.box.h * step.output.box.w != result.h * result.w) return false;
    step.broadcast = broadcast_of(operand.box, result);
    step.operand = operand;
    step.operand_zero = zero(other);
    step.combine = node.op == Operator::kMul   ? isa::Combine::kMultiply
                   : node.op == Operator::kSub ? isa::Combine::kSubtract
                                               : isa::Combine::kAdd;
    if (fused) {
        step.sum_zero = step.output_zero;
        step.sum_low = step.low;
        step.sum_high = step.high;
        if (step.table_at == isa::TableAt::kResult) step.table_at = isa::TableAt::kSum;
    }
    step.addition = numerics::addition_scales(scale(first), scale(other), scale(out));
    step.result = node.op == Operator::kMul
                      ? numerics::fixed_point_scale(double{static_cast<float>(scale(first)) *
                                                           static_cast<float>(scale(other)) /
                                                           static_cast<float>(scale(out))})
                      : step.addition.sum;
    step.output_zero = zero(out);
    const numerics::IntegerRange range = range_of_type(values_.type_of(out));
    step.low = range.low;
    step.high = range.high;
    return true;
}

Step Lowering::begin(std::size_t index, isa::Opcode opcode) {
    const Node& node = graph_.nodes[index];
    Step step;
    step.name = node.name;
    step.nodes = {index};
    step.opcode = opcode;
    step.input = values_.own(node.inputs.at(0));
    step.input_zero = zero(node.inputs[0]);
    set_output(step, node.outputs.at(0));
    step.window.rows = step.output.box.h;
    step.window.columns = step.output.box.w;
    return step;
}

/// The stored values as they are.
void Lowering::identity(Step& step, ValueId from) {
    step.result = {1 << 30, 30};
    step.output_zero = zero(from);
}

Step Lowering::activation(std::size_t index) {
    const Node& node = graph_.nodes[index];
    const ValueId from = node.inputs[0], to = node.outputs[0];
    Step step = begin(index, isa::Opcode::kElementwise);
    identity(step, from);
    if (absorb_activation(step, node)) return step;
    // Of another width: a rescaling, clamped.
    if (node.op != Operator::kRelu && node.op != Operator::kClip)
        refuse(fmt::format("a table from {} to {} bits", bits_of(graph_.value(from)),
                           bits_of(graph_.value(to))));
    const std::vector<std::int32_t> table = activation_table(graph_, node, target_.requantisation);
    step.result = numerics::fixed_point_scale(
        double{static_cast<float>(scale(from)) / static_cast<float>(scale(to))});
    step.output_zero = zero(to);
    step.low = *std::min_element(table.begin(), table.end());
    step.high = *std::max_element(table.begin(), table.end());
    return step;
}

Step Lowering::combination(std::size_t index) {
    const Node& node = graph_.nodes[index];
    Layout out = values_.own(node.outputs.at(0)).box;
    for (const std::size_t i : {0, 1}) {
        const ValueId first = node.inputs[i];
        if (is_given(graph_.value(first)) ||
            graph_.shape(first).size() != graph_.shape(node.outputs[0]).size())
            continue;
        Layout box = values_.own(first).box;
        box.type = out.type;
        if (box != out) continue;
        Step step = begin(index, isa::Opcode::kElementwise);
        step.input = values_.own(first);
        step.input_zero = zero(first);
        if (set_combination(step, node, first)) return step;
    }
    refuse("neither operand has the shape of the result, or the second is subtracted from");
}

Step Lowering::pooling(std::size_t index) {
    const Node& node = graph_.nodes[index];
    Step step = begin(index, isa::Opcode::kPool);
    const bool global =
        node.op == Operator::kGlobalAveragePool || node.op == Operator::kGlobalMaxPool;
    const Shape& x = graph_.shape(node.inputs[0]);
    if (x.size() != 4) refuse("windows that are not over two dimensions");
    if (global) {
        step.window = {x[2], x[3]};
    } else {
        const SlidingWindow window = window_of(node, x);
        if (window.dilation != std::vector<std::int64_t>{1, 1}) refuse("dilated pooling windows");
        step.window = {
            window.kernel[0],    window.kernel[1],    window.stride[0], window.stride[1], 1, 1,
            window.pad_begin[0], window.pad_begin[1], window.output[0], window.output[1]};
    }
    if (info_of(node.op).integers == IntegerForm::kSameScale) {
        step.pooling = isa::PoolMode::kMax;
        identity(step, node.inputs[0]);
        return step;
    }
    if (divides_stored_values(graph_, node)) {
        if (node.integer("count_include_pad", 0) != 0 &&
            step.window.pad_top + step.window.pad_left != 0)
            refuse("an average that counts padding, of the same scale");
        step.pooling = isa::PoolMode::kAverage;
        return step;
    }
    step.pooling = isa::PoolMode::kMean;
    const double ratio = scale(node.inputs[0]) / scale(node.outputs[0]);
    const std::int64_t most = step.window.height * step.window.width;
    const bool all = node.integer("count_include_pad", 0) != 0;
    if (all && node.integer("ceil_mode", 0) != 0)
        refuse("an average that counts padding by ceil_mode");
    std::vector<std::uint8_t> shifts;
    for (std::int64_t count = 1; count <= most; ++count) {
        const numerics::FixedPointScale s = numerics::mean_scale(ratio, all ? most : count);
        for (int byte = 0; byte < 4; ++byte)
            step.parameters.push_back(static_cast<std::uint8_t>(s.multiplier >> (8 * byte)));
        shifts.push_back(static_cast<std::uint8_t>(s.shift));
    }
    step.parameters.insert(step.parameters.end(), shifts.begin(), shifts.end());
    return step;
}

Step Lowering::softmax(std::size_t index) {
    const Node& node = graph_.nodes[index];
    const Shape& shape = graph_.shape(node.inputs[0]);
    const std::size_t axis = axis_of(node, node.integer("axis", -1), shape.size());
    Step step = begin(index, isa::Opcode::kSoftmax);
    std::int64_t others = 1;
    for (std::size_t d = axis + 1; d < shape.size() && node.integer("flatten", 0) != 0; ++d)
        others *= shape[d];
    if (shape[axis] != step.input.box.c || others != 1)
        refuse("over another dimension than the channels");
    if (step.input.box.type != isa::ElementType::kInt8 ||
        step.output.box.type != isa::ElementType::kInt8)
        refuse("of fewer than 8 bits");
    step.softmax = softmax_scale_of(graph_, node);
    return step;
}

/// Rows or columns that are chosen as a nearest-neighbour resize does.
Step Lowering::gather(std::size_t index) {
    const Node& node = graph_.nodes[index];
    const Value& indices = graph_.value(node.inputs[1]);
    const Shape& shape = graph_.shape(node.inputs[0]);
    const std::size_t axis = axis_of(node, node.integer("axis", 0), shape.size());
    Step step = begin(index, isa::Opcode::kResize);
    if (!indices.is_known() || shape.size() != 4 || axis < 2 || step.input.box.c != shape[1])
        refuse("elements chosen by indices");
    const std::vector<std::int64_t> wanted = to_integers(*indices.data);
    const std::int64_t in = shape[axis], out = static_cast<std::int64_t>(wanted.size());
    const auto is = [&](auto&& rule) {
        for (std::int64_t o = 0; o < out; ++o)
            if (wanted[static_cast<std::size_t>(o)] != std::min(in - 1, rule(o))) return false;
        return true;
    };
    if (is([&](std::int64_t o) { return o * in / out; }))
        step.interpolation = isa::Interpolation::kNearest;
    else if (is([&](std::int64_t o) { return (2 * o + 1) * in / (2 * out); }))
        step.interpolation = isa::Interpolation::kNearestHalfPixel;
    else
        refuse("elements chosen by indices");
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
        graph_.shape(node.inputs[0]).size() != 4 || from.box.c != graph_.shape(node.inputs[0])[1])
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

/// Reshapes, and transpositions that move nothing.
bool Lowering::see_otherwise(const Node& node) {
    const ValueId from = node.inputs.at(0), to = node.outputs.at(0);
    const Seen seen = values_.seen(from);
    const Layout target = values_.layout_of(graph_.shape(to), values_.type_of(to));
    const Shape &old = graph_.shape(from), &shape = graph_.shape(to);
    const Layout& box = seen.part.box;
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
        (old.size() != 4 || shape.size() != 4 || box == target) &&
        (box.h * box.w == 1 || old.size() != 4 || old[1] != box.c || old[1] == 1 ||
         old[0] * old[2] * old[3] == 1))
        return see(seen.flat);
    if (shape.size() == 2 && rows(target) == box.n && target.c == box.h * box.w * box.c) {
        if (box.pixel() * 8 != static_cast<std::uint64_t>(box.c) * isa::bits_of(box.type))
            refuse("a flattened image whose pixels do not fill bytes");
        const bool image = old.size() == 4 && old[1] == box.c && box.h * box.w != 1;
        return see(image && box.c != 1 ? Shape{box.c, box.h, box.w} : Shape{});
    }
    if (rows(box) == rows(target) && box.c == target.c) return see(seen.flat);
    const bool in_order = seen.flat.empty() &&
                          (old.size() != 4 || box.c == 1 || box.h * box.w == 1) &&
                          (shape.size() != 4 || target.c == 1 || target.h * target.w == 1);
    if (in_order && isa::bits_of(box.type) == 8) return see({});
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
    const bool image = begins.size() == 4 && seen.part.box.c == graph_.shape(node.inputs[0])[1];
    if (!seen.flat.empty()) refuse("a part of a flattened image");
    for (const ValueId id : node.outputs) {
        if (id == kNoValue) continue;
        if (node.op == Operator::kSplit) begins[split_axis] = split_at;
        Part part = seen.part;
        part.box = values_.layout_of(graph_.shape(id), part.box.type);
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

std::vector<Step> Lowering::node(std::size_t index, std::vector<Step>& before) {
    const Node& node = graph_.nodes[index];
    const bool quantised = is_quantised(graph_, node);
    if (!quantised) refuse("it computes floats");
    if (is_given(graph_.value(node.inputs.at(0))) &&
        info_of(node.op).integers != IntegerForm::kCombination)
        refuse("its operand is a constant");
    switch (node.op) {
        case Operator::kConcat:
            return concatenation(index, before);
        case Operator::kPad:
            return padding(index);
        case Operator::kGather:
            return {gather(index)};
        case Operator::kSlice:
        case Operator::kSplit:
            see_slice(node);
            return {};
        case Operator::kAdd:
        case Operator::kSub:
        case Operator::kMul:
            return {combination(index)};
        case Operator::kSoftmax:
            return {softmax(index)};
        default:
            break;
    }
    if (info_of(node.op).role == LayerRole::kPooling) return {pooling(index)};
    if (info_of(node.op).integers == IntegerForm::kTable) return {activation(index)};
    if (info_of(node.op).integers == IntegerForm::kSameValues && node.op != Operator::kExpand) {
        see_otherwise(node);
        return {};
    }
    refuse("the NPU has no command for it");
}

Lowered lower(const Graph& graph, Values& values, const NpuTarget& target,
              const std::set<std::size_t>& on_host) {
    Lowering lowering(graph, values, target);
    Lowered result;
    const auto try_nodes = [&](const std::vector<std::size_t>& nodes, auto&& make) {
        try {
            make();
        } catch (const compile::Refusal& refusal) {
            result.refused.emplace(nodes.front(), refusal.what());
        } catch (const InputError& error) {
            result.refused.emplace(nodes.front(), error.what());
        }
    };
    const auto add_node = [&](std::size_t n) {
        try_nodes({n}, [&] {
            for (Step& step : lowering.node(n, result.steps))
                result.steps.push_back(std::move(step));
        });
    };
    for (const Layer& layer : layers_of(graph)) {
        std::vector<std::size_t> nodes = layer.nodes;
        const bool hosts = on_host.contains(nodes.front());
        if (!hosts && info_of(graph.nodes[nodes.front()].op).role == LayerRole::kProduct) {
            std::erase_if(nodes, [&](std::size_t n) { return on_host.contains(n); });
            std::size_t taken = 1;
            try_nodes(nodes, [&] {
                Step step = lowering.product(nodes);
                taken = step.nodes.size();
                result.steps.push_back(std::move(step));
            });
            nodes = layer.nodes;
            nodes.erase(nodes.begin(), nodes.begin() + static_cast<std::int64_t>(taken));
        }
        for (const std::size_t n : nodes) {
            if (!on_host.contains(n)) {
                add_node(n);
                continue;
            }
            if (result.steps.empty() || !result.steps.back().on_host) {
                result.steps.emplace_back();
                result.steps.back().on_host = true;
            }
            result.steps.back().nodes.push_back(n);
        }
    }
    return result;
}

}  // namespace lockstep::network::npu_code
