// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/gpu/lowering.h"

#include "sim/numerics/integer.h"
#include "workloads/network/graph/given.h"

namespace lockstep::network::gpu {

namespace {

/// A pointer that is not known yet: 1 + the buffer, and a position in it.
constexpr int kOffsetBits = 40;

/// Elements that a view reaches over, with gaps.
std::int64_t span_of(const compile::View& view) {
    std::int64_t last = 0;
    for (std::size_t d = 0; d < view.shape.size(); ++d)
        last += (view.shape[d] - 1) * view.strides[d];
    return last + 1;
}

}  // namespace

void* Lowering::pointer(BufferId buffer, std::int64_t offset, ElementType type) const {
    const auto bytes = static_cast<std::uint64_t>(offset) * size_of(type);
    const std::uint64_t code = (std::uint64_t{buffer} + 1) << kOffsetBits | bytes;
    return reinterpret_cast<void*>(code);
}

void Lowering::relocate(Launch& launch, const void* pointer, std::size_t at) {
    if (pointer == nullptr) return;
    const auto code = reinterpret_cast<std::uint64_t>(pointer);
    launch.pointers.push_back({static_cast<std::uint32_t>(at),
                               static_cast<BufferId>((code >> kOffsetBits) - 1),
                               code & ((std::uint64_t{1} << kOffsetBits) - 1)});
}

void Lowering::note_written(Launch& launch, std::size_t at) {
    for (Relocation& pointer : launch.pointers)
        if (pointer.at == at) pointer.is_written = true;
}

BufferId Lowering::add_buffer(std::string name, BufferUse use, std::uint64_t bytes) {
    code_.buffers.push_back({std::move(name), use, bytes});
    return static_cast<BufferId>(code_.buffers.size() - 1);
}

const Place& Lowering::place(ValueId value, const std::vector<std::int64_t>& wanted) {
    if (const auto found = places_.find(value); found != places_.end()) return found->second;
    const Value& given = graph_.value(value);
    LOCKSTEP_CHECK(is_given(given), "{} has no place", given.name);
    Place place;
    place.shape = graph_.shape(value);
    place.strides = wanted.empty() ? compile::dense_strides(place.shape) : wanted;
    place.type = given.type;
    place.buffer = add_buffer(given.name, BufferUse::kGiven,
                              static_cast<std::uint64_t>(span_of(place)) * size_of(place.type));
    code_.given[value] = place;
    return places_[value] = place;
}

void Lowering::set_place(ValueId value, Place place) {
    place.shape = graph_.shape(value);
    places_[value] = std::move(place);
}

Place Lowering::create(ValueId value) {
    return create(value, compile::dense_strides(graph_.shape(value)));
}

Place Lowering::create(ValueId value, const std::vector<std::int64_t>& strides) {
    const Value& made = graph_.value(value);
    Place place = scratch(made.name, made.type, graph_.shape(value), strides);
    const auto output = output_buffers_.find(value);
    if (output != output_buffers_.end() && is_row_major(place)) {
        code_.buffers.pop_back();
        place.buffer = output->second;
    }
    return places_[value] = place;
}

Place Lowering::scratch(const std::string& name, ElementType type, const Shape& shape,
                        const std::vector<std::int64_t>& strides) {
    Place place;
    place.shape = shape;
    place.strides = strides.empty() ? compile::dense_strides(shape) : strides;
    place.type = type;
    place.buffer = add_buffer(name, BufferUse::kBetween,
                              static_cast<std::uint64_t>(span_of(place)) * size_of(type));
    return place;
}

Place Lowering::constant(const std::string& name, Tensor tensor,
                         const std::vector<std::int64_t>& strides) {
    Place place;
    place.shape = tensor.shape;
    place.strides = strides.empty() ? compile::dense_strides(place.shape) : strides;
    place.type = tensor.type;
    place.buffer = add_buffer(name, BufferUse::kGiven, tensor.bytes.size());
    code_.tables.emplace_back(place, std::move(tensor));
    return place;
}

Place Lowering::row_major(const Place& place) {
    if (is_row_major(place)) return place;
    const Place dense =
        scratch(code_.buffers[place.buffer].name + ".row_major", place.type, place.shape);
    copy(place, dense);
    return dense;
}

Lowering::Shape3 Lowering::threads_for(std::int64_t count) {
    constexpr std::int64_t kThreads = 256;
    const std::int64_t blocks = std::max<std::int64_t>(1, numerics::divide_up(count, kThreads));
    return {{static_cast<std::uint32_t>(blocks), 1, 1}, {kThreads, 1, 1}, 0};
}

}  // namespace lockstep::network::gpu
