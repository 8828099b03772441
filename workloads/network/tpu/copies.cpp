// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/tpu/copies.h"

#include <algorithm>

#include "workloads/network/tpu/transposed_copy.h"
#include "workloads/network/tpu/vector.h"

namespace lockstep::network::lowering {

namespace {

void copy_rows(Compilation& c, const Matrix& x, const Matrix& y) {
    if (x.space != tpu::Space::kUnifiedBuffer && y.space == tpu::Space::kUnifiedBuffer &&
        y.pitch == y.columns)
        return c.staging.load_at(y.address, x, 0, x.rows);
    const std::int64_t row_bytes = x.columns * static_cast<std::int64_t>(tpu::size_of(x.type));
    const std::int64_t most = std::max<std::int64_t>(
        1, static_cast<std::int64_t>(c.staging.window_room() / 8) / row_bytes);
    for (std::int64_t first = 0; first < x.rows; first += most) {
        const std::int64_t rows = std::min(most, x.rows - first);
        const BufferRows tile = c.staging.load(x, first, rows);
        if (y.space != tpu::Space::kUnifiedBuffer) {
            c.staging.store(tile, y, first, rows);
            continue;
        }
        const BufferRows out = c.staging.room_for(y, first, rows);
        vector_op(c, tpu::Function::kIdentity, tpu::Function::kIdentity, tile, nullptr,
                  tpu::Broadcast::kNone, 0, out, rows, x.columns);
    }
}

}  // namespace

void copy(Compilation& c, const Place& from, const Place& to) {
    // Loops over both, in the destination's order, so that long rows stay whole.
    std::vector<std::size_t> order;
    for (std::size_t d = 0; d < to.shape.size(); ++d)
        if (to.shape[d] != 1) order.push_back(d);
    std::stable_sort(order.begin(), order.end(),
                     [&](std::size_t x, std::size_t y) { return to.strides[x] > to.strides[y]; });
    std::vector<CopyLoop> loops;
    for (const std::size_t d : order) {
        const CopyLoop next{to.shape[d], from.strides[d], to.strides[d]};
        const bool joins = !loops.empty() && loops.back().source == next.source * next.extent &&
                           loops.back().destination == next.destination * next.extent;
        if (!joins) {
            loops.push_back(next);
            continue;
        }
        loops.back() = {loops.back().extent * next.extent, next.source, next.destination};
    }
    if (copy_transposed(c, from, to, loops)) return;
    Shape extents;
    std::vector<std::int64_t> source, destination;
    for (const CopyLoop& loop : loops) {
        extents.push_back(loop.extent);
        source.push_back(loop.source);
        destination.push_back(loop.destination);
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
    const std::size_t outer = extents.size() - 2;
    std::int64_t count = 1;
    for (std::size_t d = 0; d < outer; ++d) count *= extents[d];
    for (std::int64_t i = 0; i < count; ++i) {
        std::int64_t x_offset = 0, y_offset = 0, rest = i;
        for (std::size_t d = outer; d-- > 0;) {
            x_offset += rest % extents[d] * source[d];
            y_offset += rest % extents[d] * destination[d];
            rest /= extents[d];
        }
        copy_rows(c,
                  {from.space, from.address + from.bytes_of(x_offset), from.type, extents[outer],
                   extents[outer + 1], source[outer]},
                  {to.space, to.address + to.bytes_of(y_offset), to.type, extents[outer],
                   extents[outer + 1], destination[outer]});
    }
}

Place image_of(Compilation& c, ValueId id, const std::string& name) {
    const Place from = c.places.of(id);
    if (from.strides == image_strides(from.shape)) return from;
    c.steps.begin(name + ".image");
    return copy_as(c, from, image_strides(from.shape), name + ".image");
}

Place copy_as(Compilation& c, const Place& from, std::vector<std::int64_t> strides,
              const std::string& name) {
    Place dense;
    dense.type = from.type;
    dense.shape = from.shape;
    dense.strides = std::move(strides);
    if (!c.places.place_in_buffer(dense)) {
        dense.space = c.places.backing();
        c.places.place_in_program(dense, name, tpu::Role::kScratch);
    }
    copy(c, from, dense);
    return dense;
}

}  // namespace lockstep::network::lowering
