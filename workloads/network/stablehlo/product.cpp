// SPDX-License-Identifier: Apache-2.0
// Products: dot_general as MatMul over [batch..., rows, depth] and [batch..., depth, columns], and
// convolution as Conv over [batch, channels, space...].
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "workloads/network/graph/onnx_type.h"
#include "workloads/network/stablehlo/lowering.h"

namespace lockstep::network::stablehlo {

namespace {

struct Dimensions {
    Integers batch, contracted, free;
};

std::int64_t extent_of(const Shape& shape, const Integers& axes) {
    return std::accumulate(axes.begin(), axes.end(), std::int64_t{1},
                           [&](std::int64_t product, std::int64_t axis) {
                               return product * shape[static_cast<std::size_t>(axis)];
                           });
}

Dimensions dimensions_of(const Shape& shape, Integers batch, Integers contracted) {
    Dimensions all{std::move(batch), std::move(contracted), {}};
    const auto rank = static_cast<std::int64_t>(shape.size());
    for (const Integers* part : {&all.batch, &all.contracted})
        for (const std::int64_t axis : *part)
            if (axis < 0 || axis >= rank) throw Refusal{"a dimension that its operand has not"};
    for (std::int64_t axis = 0; axis < rank; ++axis)
        if (std::ranges::find(all.batch, axis) == all.batch.end() &&
            std::ranges::find(all.contracted, axis) == all.contracted.end())
            all.free.push_back(axis);
    return all;
}

/// Both operands' lists of `name`: [1] x [0], or those of #stablehlo.dot<...>.
std::pair<Integers, Integers> both(const Operation& op, const std::string& pretty,
                                   const std::string& generic) {
    if (const AttributeValue* lists = find(op, pretty)) {
        const auto* list = std::get_if<AttributeValue::List>(&lists->value);
        if (list == nullptr || list->size() != 2) throw Refusal{pretty + " of both operands"};
        return {integers_of((*list)[0]), integers_of((*list)[1])};
    }
    const AttributeValue* numbers = find(op, "dot_dimension_numbers");
    const auto* parts =
        numbers == nullptr ? nullptr : std::get_if<AttributeValue::Dictionary>(&numbers->value);
    if (parts == nullptr) return {};
    const auto of = [&](const std::string& side) {
        const auto found = parts->find(side + generic);
        return found == parts->end() ? Integers{} : integers_of(found->second);
    };
    return {of("lhs"), of("rhs")};
}

Integers joined(const Integers& a, const Integers& b, const Integers& c) {
    Integers all = a;
    all.insert(all.end(), b.begin(), b.end());
    all.insert(all.end(), c.begin(), c.end());
    return all;
}

/// Operands that are narrower than the result are widened: the products are exact then.
ValueId as_type(Lowering& to, ValueId id, ElementType wanted) {
    if (to.type(id) == wanted) return id;
    return to.make(Operator::kCast, "wide", {id}, {{"to", onnx_type_of(wanted)}});
}

/// Rows that were transposed before they were flattened, times a weight: the weight's rows are
/// moved instead, once and for all.
void move_weight(Lowering& to, ValueId& a, ValueId& b) {
    const Shape flat = to.shape(a), weight = to.shape(b);
    const ValueId source = to.unshaped(a);
    const auto [from, perm] = to.permutation_of(source);
    if (from == kNoValue || !to.is_given(b) || flat.size() != 2 || weight.size() != 2 ||
        perm[0] != 0 || to.shape(from)[0] != flat[0])
        return;
    Shape rows(to.shape(source).begin() + 1, to.shape(source).end());
    rows.push_back(weight[1]);
    // The rows' dimensions as they lie in `from`.
    Integers order = inverse(perm);
    order.erase(order.begin());
    for (std::int64_t& axis : order) --axis;
    order.push_back(static_cast<std::int64_t>(order.size()));
    b = to.shaped(to.permuted(to.shaped(b, rows), order), weight);
    a = to.shaped(from, flat);
}

void multiply(Lowering& to, const Operation& op, const Dimensions& left, const Dimensions& right) {
    const ElementType type = op.result_types.at(0).type;
    ValueId a = to.whole(op, 0), b = to.whole(op, 1);
    const bool is_integer = to.type(a) == ElementType::kInt8 && to.type(b) == ElementType::kInt8 &&
                            type == ElementType::kInt32;
    if (!is_integer && !is_floating(type)) throw Refusal{"a product of these integers"};
    if (!is_integer) {
        a = as_type(to, a, type);
        b = as_type(to, b, type);
    }
    const Shape from_a = to.shape(a), from_b = to.shape(b);
    if (extent_of(from_a, left.contracted) != extent_of(from_b, right.contracted))
        throw Refusal{"contracted dimensions of different extents"};
    a = to.permuted(a, joined(left.batch, left.free, left.contracted));
    b = to.permuted(b, joined(right.batch, right.contracted, right.free));
    Shape batch;
    for (const std::int64_t axis : left.batch)
        batch.push_back(from_a[static_cast<std::size_t>(axis)]);
    const auto matrix = [&](std::int64_t rows, std::int64_t columns) {
        Shape shape = batch;
        shape.insert(shape.end(), {rows, columns});
        return shape;
    };
    const std::int64_t depth = extent_of(from_a, left.contracted);
    // MatMul takes any number of rows' dimensions over a plain matrix.
    const bool is_plain = batch.empty() && !left.free.empty() && left.contracted.size() == 1;
    if (!is_plain) a = to.shaped(a, matrix(extent_of(from_a, left.free), depth));
    b = to.shaped(b, matrix(depth, extent_of(from_b, right.free)));
    move_weight(to, a, b);
    const ValueId product =
        to.make(is_integer ? Operator::kMatMulInteger : Operator::kMatMul, "", {a, b});
    to.set(op, to.shaped(product, op.result_types.at(0).shape));
}

void dot_general(Lowering& to, const Operation& op) {
    const auto [left_batch, right_batch] = both(op, "batching_dims", "_batching_dimensions");
    const auto [left, right] = both(op, "contracting_dims", "_contracting_dimensions");
    multiply(to, op, dimensions_of(to.operand(op, 0).shape, left_batch, left),
             dimensions_of(to.operand(op, 1).shape, right_batch, right));
}

void dot(Lowering& to, const Operation& op) {
    const Shape &a = to.operand(op, 0).shape, &b = to.operand(op, 1).shape;
    if (a.empty() || b.empty()) throw Refusal{"a product of scalars"};
    multiply(to, op, dimensions_of(a, {}, {static_cast<std::int64_t>(a.size()) - 1}),
             dimensions_of(b, {}, {0}));
}

/// Where each of `names` ("b", "f", then "0", "1", ...) is in a list of dimensions.
Integers order_of(const AttributeValue::Dictionary& all, const char* part,
                  std::vector<std::string> names) {
    const auto found = all.find(part);
    const auto* list =
        found == all.end() ? nullptr : std::get_if<AttributeValue::List>(&found->second.value);
    if (list == nullptr || list->size() < 2) throw Refusal{"dimension_numbers are missing"};
    for (std::size_t space = 0; space + 2 < list->size(); ++space)
        names.push_back(std::to_string(space));
    Integers order;
    for (const std::string& name : names)
        for (std::size_t i = 0; i < list->size(); ++i)
            if (const auto* text = std::get_if<std::string>(&(*list)[i].value);
                text != nullptr && *text == name)
                order.push_back(static_cast<std::int64_t>(i));
    if (order.size() != list->size()) throw Refusal{"dimension_numbers are not a permutation"};
    return order;
}

/// `window = {stride = ...}` in one form, window_strides = ... in the other.
Integers window_of(const Operation& op, std::string_view pretty, std::string_view generic,
                   Integers otherwise) {
    if (const AttributeValue* window = find(op, "window"))
        if (const auto* parts = std::get_if<AttributeValue::Dictionary>(&window->value))
            if (const auto found = parts->find(pretty); found != parts->end())
                return integers_of(found->second);
    return integers(op, generic, std::move(otherwise));
}

void convolution(Lowering& to, const Operation& op) {
    const AttributeValue* numbers = find(op, "dimension_numbers");
    const auto* all =
        numbers == nullptr ? nullptr : std::get_if<AttributeValue::Dictionary>(&numbers->value);
    if (all == nullptr) throw Refusal{"dimension_numbers are missing"};
    if (integers(op, "batch_group_count", {1}) != Integers{1})
        throw Refusal{"batch_group_count other than 1"};
    ValueId x = to.permuted(to.whole(op, 0), order_of(*all, "input", {"b", "f"}));
    ValueId w = to.permuted(to.whole(op, 1), order_of(*all, "kernel", {"o", "i"}));
    const ElementType type = op.result_types.at(0).type;
    if (!is_floating(type)) throw Refusal{"a convolution of integers"};
    x = as_type(to, x, type);
    w = as_type(to, w, type);
    std::size_t space = to.shape(x).size() - 2;
    if (space == 0) throw Refusal{"a convolution without spatial dimensions"};
    Integers strides = window_of(op, "stride", "window_strides", Integers(space, 1));
    Integers pads = window_of(op, "pad", "padding", Integers(2 * space, 0));
    Integers spread = window_of(op, "lhs_dilate", "lhs_dilation", Integers(space, 1));
    Integers dilations = window_of(op, "rhs_dilate", "rhs_dilation", Integers(space, 1));
    Integers reversed = window_of(op, "reverse", "window_reversal", Integers(space, 0));
    for (const Integers* list : {&strides, &spread, &dilations, &reversed})
        if (list->size() != space) throw Refusal{"a window of another number of dimensions"};
    if (pads.size() != 2 * space) throw Refusal{"paddings of another number of dimensions"};

    Integers starts(space + 2, 0), limits = to.shape(w), steps(space + 2, 1);
    Integers low(space + 2, 0), high(space + 2, 0), between(space + 2, 0);
    Integers before(space), behind(space);
    for (std::size_t i = 0; i < space; ++i) {
        if (reversed[i] != 0) {
            starts[i + 2] = limits[i + 2] - 1;
            limits[i + 2] = INT64_MIN;
            steps[i + 2] = -1;
        }
        between[i + 2] = spread[i] - 1;
        low[i + 2] = std::min<std::int64_t>(0, pads[2 * i]);
        high[i + 2] = std::min<std::int64_t>(0, pads[2 * i + 1]);
        before[i] = std::max<std::int64_t>(0, pads[2 * i]);
        behind[i] = std::max<std::int64_t>(0, pads[2 * i + 1]);
    }
    w = to.sliced(w, starts, limits, steps);
    x = to.padded(x, to.number(type, 0), low, high, between);
    const bool is_line = space == 1;  // an image of one row
    if (is_line) {
        for (ValueId* id : {&x, &w}) {
            Shape shape = to.shape(*id);
            shape.insert(shape.begin() + 2, 1);
            *id = to.shaped(*id, shape);
        }
        for (Integers* list : {&strides, &dilations}) list->insert(list->begin(), 1);
        for (Integers* list : {&before, &behind}) list->insert(list->begin(), 0);
        space = 2;
    }
    before.insert(before.end(), behind.begin(), behind.end());
    const Integers groups = integers(op, "feature_group_count", {1});
    ValueId result = to.make(Operator::kConv, "", {x, w},
                             {{"strides", strides},
                              {"pads", before},
                              {"dilations", dilations},
                              {"group", groups.at(0)}});
    if (is_line) {
        Shape shape = to.shape(result);
        shape.erase(shape.begin() + 2);
        result = to.shaped(result, shape);
    }
    to.set(op, to.permuted(result, inverse(order_of(*all, "output", {"b", "f"}))));
}

}  // namespace

const Family& product_family() {
    static const Family kFamily{{"stablehlo.convolution", convolution},
                                {"stablehlo.dot", dot},
                                {"stablehlo.dot_general", dot_general}};
    return kFamily;
}

}  // namespace lockstep::network::stablehlo
