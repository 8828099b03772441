// SPDX-License-Identifier: Apache-2.0
// Reductions over whole dimensions and over windows. What is done with two elements is read from
// the region; others than those that networks print are refused.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "workloads/network/graph/onnx_type.h"
#include "workloads/network/stablehlo/lowering.h"

namespace lockstep::network::stablehlo {

namespace {

struct Reducer {
    std::string_view name;
    Operator reduce, combine;
    double neutral;
};
constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr Reducer kReducers[] = {
    {"stablehlo.add", Operator::kReduceSum, Operator::kAdd, 0},
    {"stablehlo.maximum", Operator::kReduceMax, Operator::kMax, -kInfinity},
    {"stablehlo.minimum", Operator::kReduceMin, Operator::kMin, kInfinity},
    {"stablehlo.multiply", Operator::kReduceProd, Operator::kMul, 1},
    // Of bools, as 0 and 1.
    {"stablehlo.or", Operator::kReduceMax, Operator::kOr, 0},
    {"stablehlo.and", Operator::kReduceMin, Operator::kAnd, 1}};

/// The one operation of a region, where it is no more than that of its arguments.
std::string_view operation_of(const Operation& op) {
    if (!op.words.empty()) return op.words.front();
    if (op.regions.size() != 1) return "";
    const std::vector<Operation>& inside = op.regions[0].operations;
    const bool is_one = inside.size() == 2 && inside[0].operands.size() == 2 &&
                        inside[1].operands == inside[0].results;
    return is_one ? std::string_view(inside[0].name) : "";
}

const Reducer& reducer_of(const Operation& op) {
    const std::string_view name = operation_of(op);
    for (const Reducer& reducer : kReducers)
        if (reducer.name == name) return reducer;
    throw Refusal{name.empty() ? "a reduction by other than one operation"
                               : fmt::format("a reduction by {}", name)};
}

/// Whether the initial value changes nothing: for integers the least or greatest number is the
/// infinity of their type.
bool is_neutral(Lowering& to, ValueId initial, double neutral) {
    const std::optional<double> value = to.splat(initial);
    if (!value) return false;
    if (*value == neutral) return true;
    const ElementType type = to.type(initial);
    if (is_floating(type) || !std::isinf(neutral)) return false;
    const double bits = 8.0 * static_cast<double>(size_of(type));
    const bool is_signed = type != ElementType::kUint8;
    const double most = std::exp2(is_signed ? bits - 1 : bits) - 1;
    const double least = is_signed ? -std::exp2(bits - 1) : 0;
    return neutral < 0 ? *value <= least : *value >= most;
}

Integers axes_of(const Operation& op, std::size_t rank) {
    Integers axes = integers(op, "dimensions");
    for (const std::int64_t axis : axes)
        if (axis < 0 || axis >= static_cast<std::int64_t>(rank))
            throw Refusal{"a dimension that its operand has not"};
    std::ranges::sort(axes);
    return axes;
}

/// Two operands: a value and its index, of which the largest or smallest value's goes on.
void argument(Lowering& to, const Operation& op) {
    const Wide &x = to.operand(op, 0), &places = to.operand(op, 1);
    const Integers axes = axes_of(op, x.shape.size());
    if (axes.size() != 1 || op.regions.size() != 1 || op.results.size() != 2)
        throw Refusal{"a reduction of several operands that is no search for the largest"};
    const auto axis = static_cast<std::size_t>(axes[0]);
    // The second operand counts along that dimension.
    const Shape& counted = to.shape(places.id);
    const auto count = to.known(places.id);
    bool counts = count && counted[axis] == x.shape[axis];
    for (std::size_t i = 0; counts && i < counted.size(); ++i)
        counts = i == axis || counted[i] == 1;
    for (std::size_t i = 0; counts && i < count->size(); ++i)
        counts = (*count)[i] == static_cast<double>(i);
    std::string direction;
    for (const Operation& inside : op.regions[0].operations) {
        if (inside.name != "stablehlo.compare" || !direction.empty()) continue;
        const std::string found =
            inside.words.empty() ? text(inside, "comparison_direction") : inside.words.front();
        if (found != "NE" && found != "EQ") direction = found;
    }
    if (!counts || direction.empty())
        throw Refusal{"a reduction of several operands that is no search for the largest"};
    const bool largest = direction.starts_with("G");
    const ValueId all = to.whole(x);
    const Integers one = axes;
    to.set(op, 0,
           to.make(largest ? Operator::kReduceMax : Operator::kReduceMin, "value", {all},
                   {{"axes", one}, {"keepdims", std::int64_t{0}}}));
    const ValueId index = to.make(largest ? Operator::kArgMax : Operator::kArgMin, "index", {all},
                                  {{"axis", axes[0]}, {"keepdims", std::int64_t{0}}});
    const ElementType wanted = op.result_types.at(1).type;
    to.set(op, 1,
           to.type(index) == wanted
               ? index
               : to.make(Operator::kCast, "", {index}, {{"to", onnx_type_of(wanted)}}));
}

void reduce(Lowering& to, const Operation& op) {
    if (op.operands.size() == 4) return argument(to, op);
    if (op.operands.size() != 2) throw Refusal{"a reduction of several operands"};
    const Reducer& reducer = reducer_of(op);
    ValueId x = to.whole(op, 0);
    const ElementType type = to.type(x);
    const bool is_bool = type == ElementType::kBool;
    if (is_bool != (reducer.combine == Operator::kOr || reducer.combine == Operator::kAnd))
        throw Refusal{fmt::format("a reduction of {} by {}", name_of(type), reducer.name)};
    const Integers axes = axes_of(op, to.shape(x).size());
    const Shape& wanted = op.result_types.at(0).shape;
    ValueId result = x;
    if (!axes.empty()) {
        if (is_bool) x = to.make(Operator::kCast, "", {x}, {{"to", std::int64_t{6}}});
        // Dimensions are kept, so that the broadcast that often follows is the value itself.
        result = to.make(reducer.reduce, "", {x}, {{"axes", axes}, {"keepdims", std::int64_t{1}}});
        if (is_bool) result = to.make(Operator::kCast, "", {result}, {{"to", std::int64_t{9}}});
        const ValueId kept = result;
        result = to.shaped(kept, wanted);
        if (reducer.reduce == Operator::kReduceSum && is_floating(type)) {
            double count = 1;
            for (const std::int64_t axis : axes)
                count *= static_cast<double>(to.shape(x)[static_cast<std::size_t>(axis)]);
            for (const ValueId sums : {kept, result})
                to.sums[sums] = {[&to, x, axes, shape = to.shape(sums)](bool) {
                                     return to.shaped(
                                         to.make(Operator::kReduceMean, "mean", {x},
                                                 {{"axes", axes}, {"keepdims", std::int64_t{1}}}),
                                         shape);
                                 },
                                 count, Tensor()};
        }
    }
    const Wide& initial = to.operand(op, 1);
    if (!is_neutral(to, initial.id, reducer.neutral))
        result = to.make(reducer.combine, "initial", {result, initial.id});
    to.set(op, result);
}

struct Windows {
    Integers window, strides, low, high, dilations;
};

constexpr std::int64_t kLongestWindow = 4096, kMostWindows = 1 << 16;
constexpr std::size_t kMostCounts = std::size_t{1} << 24;

Windows windows_of(const Operation& op, std::size_t rank) {
    Windows w{integers(op, "window_dimensions"),
              integers(op, "window_strides", Integers(rank, 1)),
              {},
              {},
              integers(op, "window_dilations", Integers(rank, 1))};
    const Integers pads = integers(op, "padding", Integers(2 * rank, 0));
    const Integers base = integers(op, "base_dilations", Integers(rank, 1));
    if (w.window.size() != rank || w.strides.size() != rank || w.dilations.size() != rank ||
        pads.size() != 2 * rank)
        throw Refusal{"a window of another number of dimensions"};
    if (std::ranges::any_of(base, [](std::int64_t d) { return d != 1; }))
        throw Refusal{"base_dilations other than 1"};
    for (std::size_t i = 0; i < rank; ++i) {
        w.low.push_back(pads[2 * i]);
        w.high.push_back(pads[2 * i + 1]);
        if (pads[2 * i] < 0 || pads[2 * i + 1] < 0) throw Refusal{"a negative padding"};
        if (w.window[i] < 1 || w.strides[i] < 1) throw Refusal{"a window without elements"};
        if (w.window[i] > kLongestWindow)
            throw Refusal{fmt::format("a window of more than {} elements", kLongestWindow)};
    }
    return w;
}

/// How many elements of a dimension each window has, padding not counted in.
std::vector<double> counts_along(const Windows& w, std::size_t axis, std::int64_t extent,
                                 std::int64_t results) {
    std::vector<double> counts;
    for (std::int64_t at = 0; at < results; ++at) {
        const std::int64_t first = at * w.strides[axis] - w.low[axis];
        double count = 0;
        for (std::int64_t i = 0; i < w.window[axis]; ++i) {
            const std::int64_t element = first + i * w.dilations[axis];
            count += element >= 0 && element < extent ? 1 : 0;
        }
        counts.push_back(count);
    }
    return counts;
}

/// The number of elements of each window: one value in a dimension in which all have as many.
Tensor counts_of(const Windows& w, const Shape& from, const Shape& results, ElementType type) {
    if (results.size() != from.size()) throw Refusal{"a result of another number of dimensions"};
    for (const std::int64_t extent : results)
        if (extent > kMostWindows)
            throw Refusal{fmt::format("more than {} windows in a dimension", kMostWindows)};
    std::vector<double> all{1};
    Shape shape;
    for (std::size_t axis = 0; axis < from.size(); ++axis) {
        std::vector<double> along = counts_along(w, axis, from[axis], results[axis]);
        if (std::ranges::adjacent_find(along, std::ranges::not_equal_to{}) == along.end() &&
            !along.empty())
            along.resize(1);
        shape.push_back(static_cast<std::int64_t>(along.size()));
        std::vector<double> product;
        for (const double value : all)
            for (const double count : along) product.push_back(value * count);
        if (product.size() > kMostCounts) throw Refusal{"windows that all differ"};
        all = std::move(product);
    }
    return from_doubles(type, shape, all);
}

/// Windows lie in two dimensions, which a pool wants last, in an image of [1, 1, y, x] at the
/// least.
void reduce_window(Lowering& to, const Operation& op) {
    if (op.operands.size() != 2) throw Refusal{"windows over several operands"};
    const Reducer& reducer = reducer_of(op);
    const Wide& source = to.operand(op, 0);
    const Shape from = source.shape, results = op.result_types.at(0).shape;
    const Windows w = windows_of(op, from.size());
    const bool is_sum = reducer.reduce == Operator::kReduceSum;
    if (!is_sum && reducer.reduce != Operator::kReduceMax)
        throw Refusal{fmt::format("windows reduced by {}", reducer.name)};
    if (!is_neutral(to, to.operand(op, 1).id, reducer.neutral))
        throw Refusal{"an initial value that is part of the result"};
    const ElementType type = to.type(source.id);
    // Sums of a number are its product with how many there are.
    if (const auto value = to.splat(source.id); value && is_sum) {
        const ValueId counts = to.counted(counts_of(w, from, results, type));
        if (*value == 1) return to.set(op, counts);
        return to.set(op, to.make(Operator::kMul, "", {counts, to.number(type, *value)}));
    }
    if (!is_floating(type)) throw Refusal{"windows of integers"};

    Integers others, space;
    for (std::size_t axis = 0; axis < from.size(); ++axis) {
        const bool is_moving =
            w.window[axis] != 1 || w.strides[axis] != 1 || w.low[axis] != 0 || w.high[axis] != 0;
        (is_moving ? space : others).push_back(static_cast<std::int64_t>(axis));
    }
    if (space.empty()) return to.set(op, source.id);
    if (space.size() > 2) throw Refusal{"windows in more than two dimensions"};
    Integers perm = others;
    perm.insert(perm.end(), space.begin(), space.end());
    const auto image_of = [&](const Shape& shape) {
        const auto extent = [&](std::int64_t axis) {
            return shape[static_cast<std::size_t>(axis)];
        };
        Shape image{1, 1};
        for (std::size_t i = 0; i < others.size(); ++i) image[i == 0 ? 0 : 1] *= extent(others[i]);
        if (space.size() == 1) image.push_back(1);
        for (const std::int64_t axis : space) image.push_back(extent(axis));
        return image;
    };
    Integers kernel, strides, dilations, low, high;
    if (space.size() == 1) {
        for (Integers* list : {&kernel, &strides, &dilations}) list->push_back(1);
        for (Integers* list : {&low, &high}) list->push_back(0);
    }
    for (const std::int64_t axis : space) {
        const auto i = static_cast<std::size_t>(axis);
        kernel.push_back(w.window[i]);
        strides.push_back(w.strides[i]);
        dilations.push_back(w.dilations[i]);
        low.push_back(w.low[i]);
        high.push_back(w.high[i]);
    }
    low.insert(low.end(), high.begin(), high.end());
    const ValueId image = to.shaped(to.permuted(to.whole(source), perm), image_of(from));
    const bool is_dilated = std::ranges::any_of(dilations, [](std::int64_t d) { return d != 1; });
    NodeAttributes attributes{{"kernel_shape", kernel}, {"strides", strides}, {"pads", low}};
    Shape moved;
    Integers back(perm.size());
    for (std::size_t i = 0; i < perm.size(); ++i) {
        moved.push_back(results[static_cast<std::size_t>(perm[i])]);
        back[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
    }
    const auto finish = [&to, moved, back](ValueId pooled) {
        return to.permuted(to.shaped(pooled, moved), back);
    };
    if (!is_sum) {
        if (is_dilated) attributes["dilations"] = dilations;
        return to.set(op, finish(to.make(Operator::kMaxPool, "", {image}, attributes)));
    }
    if (is_dilated) throw Refusal{"sums over dilated windows"};
    const auto averages = [&to, attributes, image, finish](bool with_padding) {
        NodeAttributes all = attributes;
        all["count_include_pad"] = std::int64_t{with_padding};
        return finish(to.make(Operator::kAveragePool, "average", {image}, all));
    };
    const double window = std::accumulate(
        kernel.begin(), kernel.end(), 1.0,
        [](double product, std::int64_t extent) { return product * static_cast<double>(extent); });
    const ValueId sums = to.make(Operator::kMul, "sum", {averages(true), to.number(type, window)});
    to.sums[sums] = {averages, window, counts_of(w, from, results, type)};
    to.set(op, sums);
}

/// y = (x - mean) / sqrt(variance + epsilon) * scale + offset, by channel.
void batch_normalisation(Lowering& to, const Operation& op) {
    const ValueId x = to.whole(op, 0);
    const Integers index = integers(op, "feature_index");
    const AttributeValue* epsilon = find(op, "epsilon");
    const auto* number = epsilon == nullptr ? nullptr : std::get_if<double>(&epsilon->value);
    const auto rank = static_cast<std::int64_t>(to.shape(x).size());
    if (index.size() != 1 || index[0] < 0 || index[0] >= rank || number == nullptr || rank < 2)
        throw Refusal{"a normalisation without feature_index and epsilon"};
    Integers perm(static_cast<std::size_t>(rank)), back(perm.size());
    std::iota(perm.begin(), perm.end(), 0);
    perm.erase(perm.begin() + index[0]);
    perm.insert(perm.begin() + 1, index[0]);
    for (std::size_t i = 0; i < perm.size(); ++i)
        back[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
    const ValueId normal = to.make(
        Operator::kBatchNormalization, "",
        {to.permuted(x, perm), to.whole(op, 1), to.whole(op, 2), to.whole(op, 3), to.whole(op, 4)},
        {{"epsilon", static_cast<float>(*number)}});
    to.set(op, to.permuted(normal, back));
}

}  // namespace

const Family& reduction_family() {
    static const Family kFamily{{"stablehlo.batch_norm_inference", batch_normalisation},
                                {"stablehlo.reduce", reduce},
                                {"stablehlo.reduce_window", reduce_window}};
    return kFamily;
}

}  // namespace lockstep::network::stablehlo
