// SPDX-License-Identifier: Apache-2.0
// Operations that move elements.
#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "workloads/network/stablehlo/lowering.h"

namespace lockstep::network::stablehlo {

namespace {

/// Elements of what is written out: more are refused.
constexpr std::int64_t kMost = std::int64_t{1} << 24;

void check_size(const Shape& shape) {
    if (element_count(shape) > kMost)
        throw Refusal{
            fmt::format("{} elements that would have to be written out", element_count(shape))};
}

/// The attribute under the name of one form or of the other.
Integers dimensions(const Operation& op, std::string_view pretty, std::string_view generic) {
    return integers(op, find(op, pretty) != nullptr ? pretty : generic);
}

void constant(Lowering& to, const Operation& op) {
    const AttributeValue* value = find(op, "value");
    const auto* tensor =
        value == nullptr ? nullptr : std::get_if<std::shared_ptr<const Tensor>>(&value->value);
    if (tensor == nullptr) throw Refusal{"a constant without dense values"};
    const TensorType& type = op.result_types.at(0);
    Tensor copy = **tensor;
    // One value for all: with as many dimensions, of which the wide value makes more.
    if (copy.shape.empty()) copy.shape.assign(type.shape.size(), 1);
    for (std::size_t i = 0; i < type.shape.size(); ++i)
        if (type.shape[i] == 0) copy = Tensor(type.type, type.shape);
    to.set(op, to.given(std::move(copy)));
}

void broadcast(Lowering& to, const Operation& op) {
    const Wide& x = to.operand(op, 0);
    const Integers places = dimensions(op, "dims", "broadcast_dimensions");
    const Shape& wanted = op.result_types.at(0).shape;
    Shape widened(wanted.size(), 1);
    const Shape& from = to.shape(x.id);
    if (places.size() != from.size()) throw Refusal{"as many dims as dimensions are expected"};
    bool is_in_order = true;
    for (std::size_t i = 0; i < places.size(); ++i) {
        if (places[i] < 0 || places[i] >= static_cast<std::int64_t>(wanted.size()))
            throw Refusal{"a dimension that the result has not"};
        is_in_order &= i == 0 || places[i - 1] < places[i];
        widened[static_cast<std::size_t>(places[i])] = from[i];
    }
    ValueId id = x.id;
    if (!is_in_order) {
        Integers perm(places.size());
        std::iota(perm.begin(), perm.end(), 0);
        std::ranges::sort(perm, {},
                          [&](std::int64_t i) { return places[static_cast<std::size_t>(i)]; });
        id = to.permuted(id, perm);
    }
    to.set(op, to.shaped(id, widened));
}

void reshape(Lowering& to, const Operation& op) {
    const Wide& x = to.operand(op, 0);
    const Shape& wanted = op.result_types.at(0).shape;
    // One value for all stays one.
    if (element_count(to.shape(x.id)) == 1 && element_count(x.shape) == element_count(wanted))
        return to.set(op, to.shaped(x.id, Shape(wanted.size(), 1)));
    to.set(op, to.shaped(to.whole(x), wanted));
}

void transpose(Lowering& to, const Operation& op) {
    to.set(op, to.permuted(to.operand(op, 0).id, dimensions(op, "dims", "permutation")));
}

void concatenate(Lowering& to, const Operation& op) {
    std::vector<ValueId> parts;
    for (std::size_t i = 0; i < op.operands.size(); ++i) parts.push_back(to.whole(op, i));
    const Integers axis = dimensions(op, "dim", "dimension");
    if (axis.size() != 1) throw Refusal{"a dimension is missing"};
    to.set(op, to.make(Operator::kConcat, "", parts, {{"axis", axis[0]}}));
}

void slice(Lowering& to, const Operation& op) {
    const Integers starts = integers(op, "start_indices"), limits = integers(op, "limit_indices");
    const std::size_t rank = op.result_types.at(0).shape.size();
    if (starts.size() != rank || limits.size() != rank) throw Refusal{"a range for each dimension"};
    to.set(op,
           to.sliced(to.whole(op, 0), starts, limits, integers(op, "strides", Integers(rank, 1))));
}

void pad(Lowering& to, const Operation& op) {
    const std::size_t rank = op.result_types.at(0).shape.size();
    const Integers low = dimensions(op, "low", "edge_padding_low");
    const Integers high = dimensions(op, "high", "edge_padding_high");
    Integers interior = dimensions(op, "interior", "interior_padding");
    if (interior.empty()) interior.assign(rank, 0);
    if (low.size() != rank || high.size() != rank || interior.size() != rank)
        throw Refusal{"paddings for each dimension are expected"};
    to.set(op, to.padded(to.whole(op, 0), to.whole(op, 1), low, high, interior));
}

void reverse(Lowering& to, const Operation& op) {
    const ValueId x = to.whole(op, 0);
    Integers starts(to.shape(x).size(), 0), limits = to.shape(x), strides(starts.size(), 1);
    for (const std::int64_t axis : dimensions(op, "dims", "dimensions")) {
        if (axis < 0 || axis >= static_cast<std::int64_t>(starts.size()))
            throw Refusal{"a dimension that its operand has not"};
        const auto at = static_cast<std::size_t>(axis);
        starts[at] = limits[at] - 1;
        limits[at] = INT64_MIN;  // beyond the first element
        strides[at] = -1;
    }
    to.set(op, to.sliced(x, starts, limits, strides));
}

/// 0, 1, 2, ... along one dimension.
void iota(Lowering& to, const Operation& op) {
    const TensorType& type = op.result_types.at(0);
    const Integers axis = dimensions(op, "dim", "iota_dimension");
    if (axis.size() != 1 || axis[0] < 0 || axis[0] >= static_cast<std::int64_t>(type.shape.size()))
        throw Refusal{"a dimension that its result has not"};
    const auto at = static_cast<std::size_t>(axis[0]);
    check_size({type.shape[at]});
    Integers count(static_cast<std::size_t>(element_count({type.shape[at]})));
    std::iota(count.begin(), count.end(), 0);
    Shape shape(type.shape.size(), 1);
    shape[at] = type.shape[at];
    const std::vector<double> values(count.begin(), count.end());
    to.set(op, to.given(from_doubles(type.type, shape, values)));
}

/// A start as the operation clamps it, where it is known.
std::optional<std::int64_t> known_start(Lowering& to, ValueId start, std::int64_t extent,
                                        std::int64_t size) {
    const auto value = to.known(start);
    if (!value || value->size() != 1) return std::nullopt;
    return std::clamp(static_cast<std::int64_t>(value->front()), std::int64_t{0},
                      std::max<std::int64_t>(0, extent - size));
}

/// [0, count) as one dimension, in the type of `like`.
ValueId counting(Lowering& to, std::int64_t count, ElementType type) {
    check_size({count});
    std::vector<double> values(static_cast<std::size_t>(count));
    std::iota(values.begin(), values.end(), 0.0);
    return to.given(from_doubles(type, {count}, values));
}

/// The start, clamped, as a tensor of one element.
ValueId clamped(Lowering& to, ValueId start, std::int64_t most) {
    const ValueId low = to.make(Operator::kMax, "", {start, to.number(to.type(start), 0)});
    const ValueId high =
        to.make(Operator::kMin, "", {low, to.number(to.type(start), static_cast<double>(most))});
    return to.shaped(high, {1});
}

void dynamic_slice(Lowering& to, const Operation& op) {
    ValueId x = to.whole(op, 0);
    const Integers sizes = dimensions(op, "sizes", "slice_sizes");
    const Shape from = to.shape(x);
    if (sizes.size() != from.size()) throw Refusal{"a size for each dimension is expected"};
    Integers starts(from.size(), 0), limits = from;
    std::vector<std::size_t> unknown;
    for (std::size_t axis = 0; axis < from.size(); ++axis) {
        if (sizes[axis] == from[axis]) continue;
        const auto start = known_start(to, to.operand(op, 1 + axis).id, from[axis], sizes[axis]);
        if (!start) {
            unknown.push_back(axis);
            continue;
        }
        starts[axis] = *start;
        limits[axis] = *start + sizes[axis];
    }
    x = to.sliced(x, starts, limits, Integers(from.size(), 1));
    for (const std::size_t axis : unknown) {
        const ValueId start = clamped(to, to.operand(op, 1 + axis).id, from[axis] - sizes[axis]);
        const ValueId indices =
            to.make(Operator::kAdd, "indices", {start, counting(to, sizes[axis], to.type(start))});
        x = to.make(Operator::kGather, "", {x, indices},
                    {{"axis", static_cast<std::int64_t>(axis)}});
    }
    to.set(op, x);
}

/// True where a part of this shape lies, with so many elements before and behind it.
ValueId is_within(Lowering& to, const Shape& part, const Integers& low, const Integers& high) {
    Tensor ones(ElementType::kInt32, part);
    std::ranges::fill(ones.as<std::int32_t>(), 1);
    const ValueId mask = to.padded(to.given(std::move(ones)), to.number(ElementType::kInt32, 0),
                                   low, high, Integers(part.size(), 0));
    return to.make(Operator::kEqual, "", {mask, to.number(ElementType::kInt32, 1)});
}

/// Along one dimension whose start is not known: where the elements' places lie in the update,
/// the update's, gathered; elsewhere what was there.
void dynamic_update_slice(Lowering& to, const Operation& op) {
    const ValueId x = to.whole(op, 0);
    ValueId update = to.whole(op, 1);
    const Shape all = to.shape(x), part = to.shape(update);
    Integers low(all.size(), 0), high(all.size(), 0), none(all.size(), 0);
    std::optional<std::size_t> unknown;
    bool is_all = true;
    for (std::size_t axis = 0; axis < all.size(); ++axis) {
        if (part[axis] == all[axis]) continue;
        is_all = false;
        const auto start = known_start(to, to.operand(op, 2 + axis).id, all[axis], part[axis]);
        if (start) {
            low[axis] = *start;
            high[axis] = all[axis] - part[axis] - *start;
        } else if (unknown) {
            throw Refusal{"starts that are not known in more than one dimension"};
        } else {
            unknown = axis;
        }
    }
    if (is_all) return to.set(op, update);
    check_size(part);
    const ValueId zero = to.number(to.type(x), 0);
    if (!unknown) {
        const ValueId is_update = is_within(to, part, low, high);
        update = to.padded(update, zero, low, high, none);
        return to.set(op, to.make(Operator::kWhere, "", {is_update, update, x}));
    }
    const std::size_t axis = *unknown;
    const ValueId start = clamped(to, to.operand(op, 2 + axis).id, all[axis] - part[axis]);
    const ElementType type = to.type(start);
    const ValueId offset =
        to.make(Operator::kSub, "offset", {counting(to, all[axis], type), start});
    const ValueId last = to.number(type, static_cast<double>(part[axis] - 1));
    const ValueId inside = to.make(
        Operator::kMin, "", {to.make(Operator::kMax, "", {offset, to.number(type, 0)}), last});
    update = to.make(Operator::kGather, "spread", {update, inside},
                     {{"axis", static_cast<std::int64_t>(axis)}});
    Shape along(all.size(), 1);
    along[axis] = all[axis];
    const ValueId is_inside = to.shaped(to.make(Operator::kEqual, "", {offset, inside}), along);
    update = to.padded(update, zero, low, high, none);
    Shape others = part;
    others[axis] = 1;
    const ValueId both = to.make(Operator::kAnd, "", {is_inside, is_within(to, others, low, high)});
    to.set(op, to.make(Operator::kWhere, "", {both, update, x}));
}

/// The dimensions of #stablehlo.gather<...>.
Integers part_of(const Operation& op, const char* name) {
    const AttributeValue* all = find(op, "dimension_numbers");
    const auto* dictionary =
        all == nullptr ? nullptr : std::get_if<AttributeValue::Dictionary>(&all->value);
    if (dictionary == nullptr) throw Refusal{"dimension_numbers are missing"};
    const auto found = dictionary->find(name);
    return found == dictionary->end() ? Integers{} : integers_of(found->second);
}

/// Whole rows by index: of one dimension (Gather), or of the first ones (GatherND).
void gather(Lowering& to, const Operation& op) {
    const ValueId x = to.whole(op, 0);
    ValueId indices = to.whole(op, 1);
    const Shape from = to.shape(x);
    const Integers mapped = part_of(op, "start_index_map");
    const Integers collapsed = part_of(op, "collapsed_slice_dims");
    const Integers offsets = part_of(op, "offset_dims");
    const Integers sizes = integers(op, "slice_sizes");
    if (!part_of(op, "operand_batching_dims").empty())
        throw Refusal{"batching dimensions of a gather"};
    const Integers vector_dimension = part_of(op, "index_vector_dim");
    const std::int64_t vector = vector_dimension.empty() ? 0 : vector_dimension[0];
    const auto rank = static_cast<std::int64_t>(to.shape(indices).size());
    bool is_rows = mapped == collapsed && !mapped.empty() && sizes.size() == from.size();
    for (std::size_t axis = 0; is_rows && axis < from.size(); ++axis) {
        const bool is_indexed =
            std::ranges::find(mapped, static_cast<std::int64_t>(axis)) != mapped.end();
        is_rows = sizes[axis] == (is_indexed ? 1 : from[axis]);
    }
    // The index of a row is the last dimension, or there is none for it.
    if (!is_rows || vector < rank - 1) throw Refusal{"a gather of other parts than whole rows"};
    Shape places = to.shape(indices);
    if (vector == rank - 1) places.pop_back();
    const auto places_rank = static_cast<std::int64_t>(places.size());
    const auto kept = static_cast<std::int64_t>(from.size() - mapped.size());
    if (mapped.size() == 1) {
        const std::int64_t axis = mapped[0];
        const ValueId rows =
            to.make(Operator::kGather, "", {x, to.shaped(indices, places)}, {{"axis", axis}});
        // Where the rows' dimensions are in the result: those before the axis, the places, the
        // rest.
        Integers perm;
        std::int64_t offset = 0, place = 0;
        for (std::int64_t i = 0; i < places_rank + kept; ++i) {
            if (std::ranges::find(offsets, i) != offsets.end()) {
                perm.push_back(offset < axis ? offset : offset + places_rank);
                ++offset;
            } else {
                perm.push_back(axis + place++);
            }
        }
        return to.set(op, to.permuted(rows, perm));
    }
    for (std::size_t i = 0; i < mapped.size(); ++i)
        if (mapped[i] != static_cast<std::int64_t>(i))
            throw Refusal{"a gather by other than the first dimensions"};
    for (std::size_t i = 0; i < offsets.size(); ++i)
        if (offsets[i] != places_rank + static_cast<std::int64_t>(i))
            throw Refusal{"a gather whose rows are not the last dimensions"};
    if (to.type(indices) != ElementType::kInt64)
        indices = to.make(Operator::kCast, "", {indices}, {{"to", std::int64_t{7}}});
    to.set(op, to.make(Operator::kGatherND, "", {x, indices}));
}

void top_k(Lowering& to, const Operation& op) {
    const Integers count = integers(op, "k");
    if (count.size() != 1) throw Refusal{"k is missing"};
    const std::vector<ValueId> both =
        to.make_several(Operator::kTopK, {to.whole(op, 0), to.integers("k", count)},
                        {{"axis", std::int64_t{-1}}}, 2);
    to.set(op, 0, both[0]);
    if (op.results.size() > 1)
        to.set(op, 1, to.make(Operator::kCast, "", {both[1]}, {{"to", std::int64_t{6}}}));
}

void same(Lowering& to, const Operation& op) {
    std::vector<Wide> values;
    for (std::size_t i = 0; i < op.operands.size(); ++i) values.push_back(to.operand(op, i));
    to.set_all(op, values);
}

}  // namespace

const Family& movement_family() {
    static const Family kFamily{
        {"chlo.top_k", top_k},
        {"stablehlo.broadcast_in_dim", broadcast},
        {"stablehlo.concatenate", concatenate},
        {"stablehlo.constant", constant},
        {"stablehlo.dynamic_slice", dynamic_slice},
        {"stablehlo.dynamic_update_slice", dynamic_update_slice},
        {"stablehlo.gather", gather},
        {"stablehlo.iota", iota},
        {"stablehlo.optimization_barrier", same},
        {"stablehlo.pad", pad},
        {"stablehlo.reshape", reshape},
        {"stablehlo.reverse", reverse},
        {"stablehlo.slice", slice},
        {"stablehlo.transpose", transpose},
    };
    return kFamily;
}

}  // namespace lockstep::network::stablehlo
