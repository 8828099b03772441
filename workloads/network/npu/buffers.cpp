// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/npu/buffers.h"

#include <algorithm>

#include "workloads/network/compile/refusal.h"
#include "workloads/network/graph/given.h"
#include "workloads/network/graph/quantisation.h"

namespace lockstep::network::npu_code {

namespace {

command::DataType buffer_type(ElementType type) {
    switch (type) {
        case ElementType::kInt8:
            return command::DataType::kInt8;
        case ElementType::kInt16:
            return command::DataType::kInt16;
        case ElementType::kInt32:
            return command::DataType::kInt32;
        case ElementType::kFp32:
            return command::DataType::kFp32;
        default:
            return command::DataType::kUint8;
    }
}

}  // namespace

std::uint64_t Buffers::add_constant(const std::string& name, std::span<const std::uint8_t> bytes,
                                    bool known) {
    isa::Buffer buffer;
    buffer.name = name;
    buffer.space = isa::Space::kMemory;
    buffer.role = isa::Role::kConstant;
    buffer.bytes = bytes.size();
    const std::uint32_t index = builder_.add_buffer(std::move(buffer));
    if (known) builder_.add_data(index, 0, bytes);
    constant_bytes_ += bytes.size();
    return builder_.address(index);
}

std::uint32_t Buffers::add_constant(ValueId id, const Place& place) {
    const Value& value = graph_.value(id);
    std::vector<std::uint8_t> bytes(place.bytes, 0);
    if (value.is_known()) {
        const std::vector<std::int64_t> stored = to_integers(*value.data);
        Shape shape = *value.shape;
        if (shape.size() == 3) shape.insert(shape.begin(), 1);
        // Images lie as [h][w][c].
        const bool image = values_.is_image(id);
        const std::int64_t c = image ? shape[1] : 1, area = image ? shape[2] * shape[3] : 0;
        for (std::size_t i = 0; i < stored.size(); ++i) {
            const auto n = static_cast<std::int64_t>(i);
            const std::int64_t at =
                image ? n / (c * area) * c * area + n % area * c + n / area % c : n;
            bytes.at(static_cast<std::size_t>(at)) = static_cast<std::uint8_t>(stored[i]);
        }
    }
    isa::Buffer buffer;
    buffer.name = value.name;
    buffer.space = isa::Space::kMemory;
    buffer.role = isa::Role::kConstant;
    buffer.bytes = bytes.size();
    const std::uint32_t index = builder_.add_buffer(std::move(buffer));
    if (value.is_known()) builder_.add_data(index, 0, bytes);
    constant_bytes_ += bytes.size();
    return index;
}

std::uint32_t Buffers::add_buffer(ValueId id, const Place& place) {
    const Value& value = graph_.value(id);
    const auto is_in = [&](const std::vector<ValueId>& list) {
        return std::find(list.begin(), list.end(), id) != list.end();
    };
    isa::Buffer buffer;
    buffer.name = value.name;
    buffer.space = place.home == Home::kHost ? isa::Space::kHost : isa::Space::kMemory;
    buffer.role = is_in(graph_.inputs)    ? isa::Role::kInput
                  : is_in(graph_.outputs) ? isa::Role::kOutput
                                          : isa::Role::kScratch;
    buffer.type = buffer_type(value.type);
    for (const std::int64_t extent : *value.shape)
        buffer.shape.push_back(static_cast<std::uint64_t>(extent));
    buffer.bytes = place.bytes;
    return builder_.add_buffer(std::move(buffer));
}

void Buffers::place() {
    for (const auto& [id, place] : plan_.places)
        if (place.home != Home::kSram)
            buffers_[id] =
                is_given(graph_.value(id)) ? add_constant(id, place) : add_buffer(id, place);
}

ValueId Buffers::root_of(ValueId id) {
    const Value& value = graph_.value(id);
    const bool stored = value.quantisation && value.type == ElementType::kInt8;
    return stored ? values_.root_of(id) : id;
}

compile::Port Buffers::port_of(ValueId id) {
    const Value& value = graph_.value(id);
    const bool stored = value.quantisation && value.type == ElementType::kInt8;
    const ValueId root = root_of(id);
    if (!buffers_.contains(root)) {
        Place place{Home::kHost, 0, 0, 0, 0};
        const Value& whole = graph_.value(root);
        place.bytes = static_cast<std::uint64_t>(element_count(*whole.shape)) * size_of(whole.type);
        buffers_[root] = add_buffer(root, place);
    }
    compile::View view{*value.shape, compile::dense_strides(*value.shape), {}};
    std::uint64_t offset = 0;
    compile::Packing packing;
    if (stored) {
        const Layout whole = values_.strided(id).whole;
        if (bits_of(value) != 8)
            packing = {static_cast<std::uint32_t>(bits_of(value)), whole.c,
                       static_cast<std::int64_t>(whole.pixel())};
        view = values_.view_of(id);
        offset = static_cast<std::uint64_t>(values_.offset_of(id)) * size_of(value.type);
    }
    return {id, buffers_.at(root), offset, value.type, view, packing};
}

}  // namespace lockstep::network::npu_code
