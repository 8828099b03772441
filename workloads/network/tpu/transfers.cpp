// SPDX-License-Identifier: Apache-2.0
// Rows between memory, or host memory, and the unified buffer; copies from any strides to any.
#include "sim/error/error.h"
#include "workloads/network/tpu/lowering.h"

#include <algorithm>

namespace lockstep::network::lowering {

void Lowering::stage_at(uint64_t address, const Matrix& m, int64_t first_row, int64_t rows) {
    const bool host = m.space == tpu::Space::kHost;
    const uint64_t size = tpu::size_of(m.type), bytes = static_cast<uint64_t>(m.columns) * size;
    emit(host ? Opcode::kReadHost : Opcode::kLoad,
         {{host ? Field::kHost : Field::kMemory, m.row_address(first_row)},
          {Field::kDestination, address},
          {Field::kRows, rows},
          {Field::kRowBytes, bytes},
          {Field::kSourcePitch, static_cast<uint64_t>(m.pitch) * size},
          {Field::kDestinationPitch, bytes}});
}

Tile Lowering::stage(const Matrix& m, int64_t first_row, int64_t rows) {
    const uint64_t size = tpu::size_of(m.type), bytes = static_cast<uint64_t>(m.columns) * size;
    if (m.space == tpu::Space::kUnifiedBuffer)
        return {m.row_address(first_row), static_cast<uint64_t>(m.pitch) * size, m.type};
    const Tile tile = in_ring(static_cast<uint64_t>(rows) * bytes, bytes, m.type);
    stage_at(tile.address, m, first_row, rows);
    return tile;
}

Tile Lowering::stage_result(const Matrix& m, int64_t first_row, int64_t rows) {
    const uint64_t size = tpu::size_of(m.type), bytes = static_cast<uint64_t>(m.columns) * size;
    if (m.space == tpu::Space::kUnifiedBuffer)
        return {m.row_address(first_row), static_cast<uint64_t>(m.pitch) * size, m.type};
    return in_ring(static_cast<uint64_t>(rows) * bytes, bytes, m.type);
}

void Lowering::unstage(const Tile& tile, const Matrix& m, int64_t first_row, int64_t rows) {
    check_held(tile);
    if (m.space == tpu::Space::kUnifiedBuffer) return;
    const bool host = m.space == tpu::Space::kHost;
    const uint64_t size = tpu::size_of(m.type);
    emit(host ? Opcode::kWriteHost : Opcode::kStore,
         {{Field::kSource, tile.address},
          {host ? Field::kHost : Field::kMemory, m.row_address(first_row)},
          {Field::kRows, rows},
          {Field::kRowBytes, static_cast<uint64_t>(m.columns) * size},
          {Field::kSourcePitch, tile.pitch},
          {Field::kDestinationPitch, static_cast<uint64_t>(m.pitch) * size}});
}

void Lowering::copy(const Place& from, const Place& to) {
    // Loops over both, in the destination's order, so that long rows stay whole.
    std::vector<size_t> order;
    for (size_t d = 0; d < to.shape.size(); ++d)
        if (to.shape[d] != 1) order.push_back(d);
    std::stable_sort(order.begin(), order.end(),
                     [&](size_t x, size_t y) { return to.strides[x] > to.strides[y]; });
    Shape extents;
    std::vector<int64_t> source, destination;
    for (const size_t d : order) {
        const bool joins = !extents.empty() && source.back() == from.strides[d] * from.shape[d] &&
                           destination.back() == to.strides[d] * to.shape[d];
        if (joins) {
            extents.back() *= to.shape[d];
            source.back() = from.strides[d];
            destination.back() = to.strides[d];
            continue;
        }
        extents.push_back(to.shape[d]);
        source.push_back(from.strides[d]);
        destination.push_back(to.strides[d]);
    }
    const bool rows_are_whole = !extents.empty() && source.back() == 1 && destination.back() == 1;
    if (!rows_are_whole) {  // elements one by one
        extents.push_back(1);
        source.push_back(1);
        destination.push_back(1);
    }
    if (extents.size() == 1) {
        extents.insert(extents.begin(), 1);
        source.insert(source.begin(), extents.back());
        destination.insert(destination.begin(), extents.back());
    }
    const size_t outer = extents.size() - 2;
    int64_t count = 1;
    for (size_t d = 0; d < outer; ++d) count *= extents[d];
    for (int64_t i = 0; i < count; ++i) {
        int64_t x_offset = 0, y_offset = 0, rest = i;
        for (size_t d = outer; d-- > 0;) {
            x_offset += rest % extents[d] * source[d];
            y_offset += rest % extents[d] * destination[d];
            rest /= extents[d];
        }
        copy_rows({from.space, from.address + from.bytes_of(x_offset), from.type, extents[outer],
                   extents[outer + 1], source[outer]},
                  {to.space, to.address + to.bytes_of(y_offset), to.type, extents[outer],
                   extents[outer + 1], destination[outer]});
    }
}

void Lowering::copy_rows(const Matrix& x, const Matrix& y) {
    if (x.space != tpu::Space::kUnifiedBuffer && y.space == tpu::Space::kUnifiedBuffer &&
        y.pitch == y.columns)
        return stage_at(y.address, x, 0, x.rows);
    const int64_t row_bytes = x.columns * static_cast<int64_t>(tpu::size_of(x.type));
    const int64_t most = std::max<int64_t>(1, static_cast<int64_t>(window_room() / 8) / row_bytes);
    for (int64_t first = 0; first < x.rows; first += most) {
        const int64_t rows = std::min(most, x.rows - first);
        const Tile tile = stage(x, first, rows);
        if (y.space != tpu::Space::kUnifiedBuffer) {
            unstage(tile, y, first, rows);
            continue;
        }
        const Tile out = stage_result(y, first, rows);
        vector_op(tpu::Function::kIdentity, tpu::Function::kIdentity, tile, nullptr,
                  tpu::Broadcast::kNone, 0, out, rows, x.columns);
    }
}

Place Lowering::image_of(ValueId id, const std::string& name) {
    const Place from = place(id);
    if (from.strides == image_strides(from.shape)) return from;
    begin_step(name + ".image");
    return copy_as(from, image_strides(from.shape), name + ".image");
}

Place Lowering::copy_as(const Place& from, std::vector<int64_t> strides, const std::string& name) {
    Place dense;
    dense.type = from.type;
    dense.shape = from.shape;
    dense.strides = std::move(strides);
    const uint64_t bytes = dense.bytes_of(element_count(dense.shape));
    dense.owner = heap_.allocate(bytes, dense.address);
    dense.space = dense.owner ? tpu::Space::kUnifiedBuffer : backing();
    if (!dense.owner)
        dense.address =
            builder_.address(add_buffer(name, dense.space, tpu::Role::kScratch, dense.type, bytes));
    copy(from, dense);
    return dense;
}

}  // namespace lockstep::network::lowering
