// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/tpu/placement.h"

#include <algorithm>

#include "sim/error/error.h"
#include "workloads/network/compile/refusal.h"
#include "workloads/network/graph/given.h"

namespace lockstep::network::lowering {

Scaling scaling_of(const Value& value) {
    if (!value.quantisation) return {};
    return {value.quantisation->scale.at(0), value.quantisation->zero_point.at(0)};
}

bool same_scale(const Value& a, const Value& b) {
    return a.quantisation.has_value() == b.quantisation.has_value() &&
           (!a.quantisation || (a.quantisation->scale == b.quantisation->scale &&
                                a.quantisation->zero_point == b.quantisation->zero_point));
}

std::int64_t axis_of_concat(const Node& node, const Shape& shape) {
    const std::int64_t axis = node.integer("axis", 0);
    return axis < 0 ? axis + static_cast<std::int64_t>(shape.size()) : axis;
}

ElementType element_type_of(tpu::DataType type) {
    constexpr ElementType kTypes[] = {ElementType::kInt8,  ElementType::kUint8, ElementType::kInt16,
                                      ElementType::kInt32, ElementType::kBf16,  ElementType::kFp32};
    return kTypes[static_cast<std::size_t>(type)];
}

Placement::Placement(const Graph& graph, const TpuTarget& target, tpu::ProgramBuilder& builder,
                     std::uint64_t heap_bytes, std::set<const Node*> host_nodes)
    : graph_(graph),
      target_(target),
      builder_(builder),
      heap_(0, heap_bytes),
      host_nodes_(std::move(host_nodes)),
      places_(graph.values.size()),
      uses_(graph),
      to_come_(uses_.counts()) {}

tpu::DataType Placement::type_of(ValueId id) const {
    const Value& value = graph_.value(id);
    switch (value.type) {
        case ElementType::kInt8:
            return tpu::DataType::kInt8;
        case ElementType::kBool:
        case ElementType::kUint8:
            return tpu::DataType::kUint8;
        case ElementType::kInt16:
            return tpu::DataType::kInt16;
        case ElementType::kInt32:
        case ElementType::kInt64:
            return tpu::DataType::kInt32;
        case ElementType::kBf16:
            return tpu::DataType::kBf16;
        case ElementType::kFp32:
            return tpu::DataType::kFp32;
        default:
            throw compile::Refusal(fmt::format("{} is of type {}, which a TPU does not have",
                                               value.name, name_of(value.type)));
    }
}

tpu::DataType Placement::host_type_of(ValueId id) const {
    const bool narrows = !has_memory() && is_floating(graph_.value(id).type);
    return narrows ? tpu::DataType::kFp32 : type_of(id);
}

std::uint32_t Placement::add_buffer(std::string name, tpu::Space space, tpu::Role role,
                                    tpu::DataType type, std::uint64_t bytes) {
    return builder_.add_buffer({.name = std::move(name),
                                .space = space,
                                .role = role,
                                .type = type,
                                .shape = {},
                                .bytes = bytes});
}

std::uint64_t Placement::add_constant(const std::string& name, tpu::Space space, tpu::DataType type,
                                      std::uint64_t bytes, std::span<const std::uint8_t> contents) {
    const std::uint32_t buffer = add_buffer(name, space, tpu::Role::kConstant, type, bytes);
    if (!contents.empty()) builder_.add_data(buffer, 0, contents);
    return builder_.address(buffer);
}

void Placement::add_values(Place& place, const std::string& name,
                           const std::vector<float>& values) {
    place.strides = dense_strides(place.shape);
    std::vector<std::uint8_t> contents(place.bytes());
    write_port({.type = element_type_of(place.type), .view = place},
               make_tensor(place.shape, std::span<const float>(values)), contents);
    place.address = add_constant(name, place.space, place.type, contents.size(), contents);
}

bool Placement::place_in_buffer(Place& place) {
    place.owner = heap_.allocate(place.bytes(), place.address);
    if (place.owner) place.space = tpu::Space::kUnifiedBuffer;
    return place.owner != nullptr;
}

std::uint32_t Placement::place_in_program(Place& place, std::string name, tpu::Role role) {
    const std::uint32_t buffer =
        add_buffer(std::move(name), place.space, role, place.type, place.bytes());
    place.address = builder_.address(buffer);
    return buffer;
}

const Place& Placement::of(ValueId id) {
    std::optional<Place>& found = places_.at(id);
    if (found) return *found;
    const Value& v = graph_.value(id);
    LOCKSTEP_CHECK(is_given(v), "{} is not computed yet", v.name);
    Place made;
    made.space = backing();
    made.type = type_of(id);
    made.shape = *v.shape;
    made.strides = dense_strides(made.shape);
    std::vector<std::uint8_t> contents;
    if (v.is_known()) {
        if (v.type == ElementType::kInt64)
            for (const std::int64_t x : to_integers(*v.data))
                if (x != static_cast<std::int32_t>(x))
                    throw compile::Refusal(
                        fmt::format("{} holds {}; integers of a TPU have 32 bits", v.name, x));
        contents.resize(made.bytes());
        write_port({.value = id, .type = element_type_of(made.type), .view = made}, *v.data,
                   contents);
    }
    made.address = add_constant(v.name, made.space, made.type, made.bytes(), contents);
    found = std::move(made);
    return *found;
}

void Placement::set(ValueId id, Place place) {
    LOCKSTEP_CHECK(!places_.at(id), "{} is computed twice", graph_.value(id).name);
    places_[id] = std::move(place);
}

Place Placement::unplaced(ValueId id, std::vector<std::int64_t> strides) const {
    Place made;
    made.type = type_of(id);
    made.shape = graph_.shape(id);
    made.strides = std::move(strides);
    made.half_tiles = tpu::size_of(made.type) == 2 && made.bytes() < target_.full_tiles;
    return made;
}

Place Placement::make(ValueId id, std::vector<std::int64_t> strides) {
    Place made = unplaced(id, strides);
    // Results of the program, and numbers, which the scalar unit reads.
    const bool is_behind = has_memory() && (is_output(id) || element_count(made.shape) == 1);
    if (!is_behind && place_in_buffer(made)) return made;
    return make_in_backing(id, std::move(strides));
}

Place Placement::make_in_backing(ValueId id, std::vector<std::int64_t> strides) {
    Place made = unplaced(id, std::move(strides));
    made.space = backing();
    place_in_program(made, graph_.value(id).name,
                     is_output(id) ? tpu::Role::kOutput : tpu::Role::kScratch);
    return made;
}

Place Placement::make_scratch(const std::string& name, const Place& like) {
    Place made;
    made.type = like.type;
    made.shape = like.shape;
    made.strides = like.strides;
    if (place_in_buffer(made)) return made;
    made.space = backing();
    place_in_program(made, name, tpu::Role::kScratch);
    return made;
}

Place Placement::make_over(ValueId id, ValueId operand, std::vector<std::int64_t> strides) {
    const std::optional<Place>& old = places_[operand];
    // One owner here: no view of it is left.
    const bool reuse = old && old->owner.use_count() == 1 && to_come_[operand] == 1 &&
                       old->type == type_of(id) && old->shape == graph_.shape(id) &&
                       old->strides == strides;
    if (!reuse) return make(id, std::move(strides));
    Place made = *old;
    made.image.clear();
    return made;
}

Place Placement::make_image(ValueId id) {
    if (std::optional<Place> part = part_of_concatenation(id)) return *part;
    return make(id, image_strides(graph_.shape(id)));
}

std::optional<Place> Placement::part_of_concatenation(ValueId id) {
    const Node* node = has_memory() ? nullptr : only_reader(id);
    if (node == nullptr || node->op != Operator::kConcat) return std::nullopt;
    const ValueId y = node->outputs[0];
    const Shape& all = graph_.shape(y);
    if (all.size() != 4 || axis_of_concat(*node, all) != 1) return std::nullopt;
    for (const ValueId x : node->inputs)
        if (!same_scale(graph_.value(x), graph_.value(y)) || type_of(x) != type_of(y))
            return std::nullopt;
    if (!joined_.contains(node)) joined_[node] = make(y, image_strides(all));
    Place part = joined_[node];
    if (part.space != tpu::Space::kUnifiedBuffer) return std::nullopt;
    for (const ValueId x : node->inputs) {
        if (x == id) break;
        part.address += part.bytes_of(graph_.shape(x)[1]);
    }
    part.shape = graph_.shape(id);
    return part;
}

std::optional<Place> Placement::take_joined(const Node& concatenation) {
    const auto found = joined_.find(&concatenation);
    if (found == joined_.end()) return std::nullopt;
    const Place joined = found->second;
    joined_.erase(found);
    return joined;
}

void Placement::stand_in(ValueId id) {
    if (places_[id]) return;
    Place nowhere;
    nowhere.space = backing();
    nowhere.type = host_type_of(id);
    nowhere.shape = graph_.shape(id);
    nowhere.strides =
        nowhere.shape.size() == 4 ? image_strides(nowhere.shape) : dense_strides(nowhere.shape);
    places_[id] = nowhere;
}

TpuPort Placement::port_of(ValueId id, const Place& at) const {
    // The buffer that holds it: a value may be part of a larger one.
    for (std::uint32_t i = 0;; ++i) {
        const tpu::Buffer& b = builder_.buffer(i);
        if (b.space != at.space || at.address < b.address || at.address >= b.address + b.bytes)
            continue;
        return {id, i, at.address - b.address, element_type_of(at.type), at};
    }
}

const Node* Placement::only_reader(ValueId id) const {
    const std::size_t reader = uses_.only_reader(id);
    if (reader == Uses::kNobody || !chip_reads(id)) return nullptr;
    return &graph_.nodes[reader];
}

bool Placement::chip_reads(ValueId id) const {
    return std::ranges::any_of(uses_.readers(id),
                               [&](std::size_t n) { return !is_on_host(graph_.nodes[n]); });
}

bool Placement::is_slid_over(ValueId id) const {
    return std::ranges::any_of(uses_.readers(id), [&](std::size_t n) {
        const OperatorInfo& info = info_of(graph_.nodes[n].op);
        return info.role == LayerRole::kPooling || info.product == ProductForm::kConvolution;
    });
}

void Placement::release(const Node& node) {
    for (const ValueId id : node.inputs)
        if (id != kNoValue && --to_come_[id] == 0 && !is_given(graph_.value(id)))
            places_[id].reset();
}

}  // namespace lockstep::network::lowering
