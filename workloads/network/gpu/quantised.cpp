// SPDX-License-Identifier: Apache-2.0
// Nodes on int8 values with scales, to the bit as reference/quantised.h has them in fixed point:
// sums of products on Tensor Cores, and their requantisation, in integers. Zero points of products'
// operands are 0, so that padding is.
#include "workloads/network/reference/quantised.h"

#include <algorithm>
#include <array>

#include "sim/numerics/integer.h"
#include "workloads/network/gpu/lowering.h"
#include "workloads/network/graph/given.h"
#include "workloads/network/graph/quantisation.h"
#include "workloads/network/shapes/shape_inference.h"

namespace lockstep::network::gpu {

namespace {

const Quantisation& scale_of(const Graph& graph, ValueId id) {
    const Value& value = graph.value(id);
    LOCKSTEP_CHECK(value.quantisation, "{} has no scale", value.name);
    return *value.quantisation;
}

bool has_zero_point(const Graph& graph, ValueId id) {
    return std::ranges::any_of(scale_of(graph, id).zero_point,
                               [](std::int32_t zero) { return zero != 0; });
}

bool is_pooling(Operator op) {
    return op == Operator::kAveragePool || op == Operator::kGlobalAveragePool;
}

void set_range(const Graph& graph, ValueId out, std::int32_t& low, std::int32_t& high) {
    const numerics::IntegerRange range = range_of(graph.value(out).type, scale_of(graph, out).bits);
    low = range.low;
    high = range.high;
}

/// One kernel over the elements of `out`; in[1] may be missing.
void launch_map(Lowering& l, kernels::QuantisedMap p, const Place& out,
                const std::vector<Place>& in) {
    Loops loops{out.shape, {}};
    loops.add(out.strides);
    for (const Place& place : in) loops.add(broadcast_strides(place, out.shape));
    loops = loops.sorted().joined();
    LOCKSTEP_CHECK(loops.extents.size() <= kernels::kDims, "{}: its dimensions", l.layer());
    p.count = static_cast<std::int32_t>(loops.count());
    p.first = static_cast<std::int32_t>(kernels::kDims - loops.extents.size());
    put_last(p.extent, loops.extents);
    p.out.data = l.pointer(out);
    put_last(p.out.stride, loops.strides[0], 0);
    for (std::size_t i = 0; i < in.size(); ++i) {
        p.in[i].data = l.pointer(in[i]);
        put_last(p.in[i].stride, loops.strides[i + 1], 0);
    }
    l.emit({"quantised", "map_quantised"}, Lowering::threads_for(p.count), p).bytes =
        static_cast<std::uint64_t>(p.count) * (1 + in.size());
}

void lower_combination(Lowering& l, const Node& node) {
    const Graph& graph = l.graph();
    const Quantisation &a = scale_of(graph, node.inputs[0]), &b = scale_of(graph, node.inputs[1]),
                       &y = scale_of(graph, node.outputs[0]);
    kernels::QuantisedMap p;
    p.zero_in[0] = a.zero_point[0], p.zero_in[1] = b.zero_point[0];
    p.zero = y.zero_point[0];
    set_range(graph, node.outputs[0], p.low, p.high);
    const double to = y.scale[0];
    if (node.op == Operator::kMul) {
        p.work = kernels::QuantisedWork::kProduct;
        const auto fixed =
            numerics::fixed_point_scale(double{a.scale[0]} * double{b.scale[0]} / to);
        p.factor[0] = fixed.multiplier;
        p.shift = fixed.shift;
    } else {
        p.work = kernels::QuantisedWork::kSum;
        const double sign = node.op == Operator::kSub ? -1 : 1;
        const auto fixed =
            numerics::fixed_point_pair(a.scale[0] / to, sign * double{b.scale[0]} / to);
        p.factor[0] = fixed.first, p.factor[1] = fixed.second;
        p.shift = fixed.shift;
    }
    const Shape& shape = graph.shape(node.outputs[0]);
    const std::vector<Place> in = {l.place(node.inputs[0]), l.place(node.inputs[1])};
    const Place& first = in[0].shape == shape ? in[0] : in[1];
    const Place out = first.shape == shape
                          ? l.create(node.outputs[0], compile::strides_like(first, shape))
                          : l.create(node.outputs[0]);
    launch_map(l, p, out, in);
}

void lower_table(Lowering& l, const Node& node) {
    const Graph& graph = l.graph();
    const std::vector<std::int32_t> table = activation_table(graph, node);
    std::array<std::int64_t, 256> entries{};
    const std::int32_t low =
        range_of(graph.value(node.inputs[0]).type, scale_of(graph, node.inputs[0]).bits).low;
    for (std::size_t i = 0; i < table.size(); ++i)
        entries.at(i + static_cast<std::size_t>(low + 128)) = table[i];
    const Place in = l.place(node.inputs[0]);
    kernels::QuantisedMap p;
    p.work = kernels::QuantisedWork::kTable;
    p.table = l.pointer(
        l.constant(node.name + ".table", from_integers(ElementType::kInt8, {256}, entries)));
    launch_map(l, p, l.create(node.outputs[0], compile::strides_like(in, in.shape)), {in});
}

/// Values that are joined, each brought to the result's scale.
void lower_concat(Lowering& l, const Node& node) {
    const Graph& graph = l.graph();
    const Shape& shape = graph.shape(node.outputs[0]);
    const std::size_t axis = axis_of(node, node.integer("axis", 0), shape.size());
    const Quantisation& y = scale_of(graph, node.outputs[0]);
    Place to = l.create(node.outputs[0], compile::strides_like(l.place(node.inputs[0]), shape));
    for (const ValueId id : node.inputs) {
        const Place from = l.place(id);
        const Quantisation& x = scale_of(graph, id);
        to.shape = from.shape;
        kernels::QuantisedMap p;
        p.work = kernels::QuantisedWork::kRequantise;
        p.zero_in[0] = x.zero_point[0];
        p.zero = y.zero_point[0];
        set_range(graph, node.outputs[0], p.low, p.high);
        // As it is where the scales agree: 1 by a shift of 1.
        const auto fixed = numerics::fixed_point_scale(double{x.scale[0]} / double{y.scale[0]});
        const bool same = x.scale[0] == y.scale[0];
        p.factor[0] = same ? 2 : fixed.multiplier;
        p.shift = same ? 1 : fixed.shift;
        launch_map(l, p, to, {from});
        to.offset += from.shape[axis] * to.strides[axis];
    }
}

void lower_mean(Lowering& l, const Node& node) {
    const Graph& graph = l.graph();
    const Quantisation &x = scale_of(graph, node.inputs[0]), &y = scale_of(graph, node.outputs[0]);
    kernels::Pool p = pool_parameters(l, node);
    const auto taps = static_cast<std::int64_t>(p.taps_y) * p.taps_x;
    std::vector<std::int64_t> multipliers(1, 0), shifts(1, 1);
    for (std::int64_t count = 1; count <= taps; ++count) {
        const auto fixed = numerics::fixed_point_scale(
            double{x.scale[0]} / (double{y.scale[0]} * static_cast<double>(count)));
        multipliers.push_back(fixed.multiplier);
        shifts.push_back(fixed.shift);
    }
    const auto table = [&](const char* name, const std::vector<std::int64_t>& numbers) {
        return l.pointer(
            l.constant(node.name + name, from_integers(ElementType::kInt32, {taps + 1}, numbers)));
    };
    p.multipliers = table(".multipliers", multipliers);
    p.shifts = table(".shifts", shifts);
    p.zero_in = x.zero_point[0];
    p.zero = y.zero_point[0];
    set_range(graph, node.outputs[0], p.low, p.high);
    l.emit({"pool", "pool_quantised"}, Lowering::threads_for(p.count), p);
}

}  // namespace

compile::Reason quantised_reason(const Graph& graph, const Node& node) {
    const auto is_int8 = [&](ValueId id) { return graph.value(id).type == ElementType::kInt8; };
    if (!is_int8(node.outputs[0]) || !is_int8(node.inputs[0]))
        return fmt::format("quantised values of {}, not int8",
                           name_of(graph.value(node.outputs[0]).type));
    switch (info_of(node.op).integers) {
        case IntegerForm::kProduct:
            if (!is_int8(node.inputs[1])) return "weights that are not int8";
            if (has_zero_point(graph, node.inputs[0]) || has_zero_point(graph, node.inputs[1]) ||
                has_zero_point(graph, node.outputs[0]))
                return "a product with a zero point that is not 0";
            if (node.real("alpha", 1) != 1 || node.real("beta", 1) != 1)
                return "a quantised product with a factor";
            return std::nullopt;
        case IntegerForm::kCombination:
        case IntegerForm::kTable:
            return std::nullopt;
        case IntegerForm::kSameValues:
        case IntegerForm::kSameScale:
            if (node.op == Operator::kPad &&
                (node.input(2) != kNoValue || has_zero_point(graph, node.inputs[0])))
                return "padding of quantised values with other than 0";
            return reason_of_row(graph, node);
        default:
            return "no kernel computes it on quantised values";
    }
}

void set_integer_epilogue(Lowering& l, const Node& node, bool is_relu, kernels::Epilogue& e) {
    const Graph& graph = l.graph();
    const std::vector<double> scales = requantisation_scales(graph, node);
    std::vector<std::int64_t> multipliers, shifts;
    for (const double scale : scales) {
        const auto fixed = numerics::fixed_point_scale(scale);
        multipliers.push_back(fixed.multiplier);
        shifts.push_back(fixed.shift);
    }
    const auto count = static_cast<std::int64_t>(scales.size());
    const Shape& shape = graph.shape(node.outputs[0]);
    const std::int64_t columns = node.op == Operator::kConv ? shape[1] : shape.back();
    const std::int64_t by_group = columns / node.integer("group", 1);
    const auto operand = [&](std::size_t slot, const Place& place, std::int64_t entries) {
        kernels::ProductOperand& to = e.operand[slot];
        to.data = l.pointer(place);
        to.type = kernels::Type::kInt32;
        to.column = entries == 1 ? 0 : 1;
        to.batch[kernels::kBatchDims - 1] =
            static_cast<std::int32_t>(node.op == Operator::kConv && entries != 1 ? by_group : 0);
    };
    const auto table = [&](const char* name, const std::vector<std::int64_t>& numbers) {
        return l.constant(node.name + name, from_integers(ElementType::kInt32, {count}, numbers));
    };
    e.bias = -1;
    if (node.input(2) != kNoValue) {
        operand(0, l.place(node.inputs[2]), columns);
        e.bias = 0;
    }
    operand(1, table(".multipliers", multipliers), count);
    operand(2, table(".shifts", shifts), count);
    std::int32_t low = 0, high = 0;
    set_range(graph, node.outputs[0], low, high);
    e.low = static_cast<float>(is_relu ? 0 : low);
    e.high = static_cast<float>(high);
}

bool is_limit_at_zero(const Graph& graph, const Node& node) {
    return node.op == Operator::kRelu &&
           scale_of(graph, node.inputs[0]) == scale_of(graph, node.outputs[0]) &&
           !has_zero_point(graph, node.inputs[0]);
}

void lower_quantised(Lowering& l, const Node& node) {
    switch (info_of(node.op).integers) {
        case IntegerForm::kTable:
            return lower_table(l, node);
        case IntegerForm::kCombination:
            if (is_pooling(node.op)) return lower_mean(l, node);
            return node.op == Operator::kConcat ? lower_concat(l, node)
                                                : lower_combination(l, node);
        default:
            return row_of(node.op)->lower(l, node);
    }
}

}  // namespace lockstep::network::gpu
