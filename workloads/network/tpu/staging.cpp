// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/tpu/staging.h"

#include "workloads/network/compile/refusal.h"

namespace lockstep::network::lowering {

using tpu::Field;
using tpu::Opcode;

namespace {

std::uint64_t row_bytes(const Matrix& m) {
    return static_cast<std::uint64_t>(m.columns) * tpu::size_of(m.type);
}

std::uint64_t pitch_bytes(const Matrix& m) {
    return static_cast<std::uint64_t>(m.pitch) * tpu::size_of(m.type);
}

}  // namespace

void Staging::load_at(std::uint64_t address, const Matrix& m, std::int64_t first_row,
                      std::int64_t rows) {
    const bool host = m.space == tpu::Space::kHost;
    builder_.emit(host ? Opcode::kReadHost : Opcode::kLoad,
                  {{host ? Field::kHost : Field::kMemory, m.row_address(first_row)},
                   {Field::kDestination, address},
                   {Field::kRows, rows},
                   {Field::kRowBytes, row_bytes(m)},
                   {Field::kSourcePitch, pitch_bytes(m)},
                   {Field::kDestinationPitch, row_bytes(m)}});
}

BufferRows Staging::room_for(const Matrix& m, std::int64_t first_row, std::int64_t rows) {
    if (m.space == tpu::Space::kUnifiedBuffer)
        return {m.row_address(first_row), pitch_bytes(m), m.type, 0, m.half_tiles};
    BufferRows room =
        in_ring(static_cast<std::uint64_t>(rows) * row_bytes(m), row_bytes(m), m.type);
    room.half_tiles = m.half_tiles;
    return room;
}

BufferRows Staging::load(const Matrix& m, std::int64_t first_row, std::int64_t rows) {
    const BufferRows room = room_for(m, first_row, rows);
    if (m.space != tpu::Space::kUnifiedBuffer) load_at(room.address, m, first_row, rows);
    return room;
}

void Staging::store(const BufferRows& from, const Matrix& m, std::int64_t first_row,
                    std::int64_t rows) {
    check_held(from);
    if (m.space == tpu::Space::kUnifiedBuffer) return;
    const bool host = m.space == tpu::Space::kHost;
    builder_.emit(host ? Opcode::kWriteHost : Opcode::kStore,
                  {{Field::kSource, from.address},
                   {host ? Field::kHost : Field::kMemory, m.row_address(first_row)},
                   {Field::kRows, rows},
                   {Field::kRowBytes, row_bytes(m)},
                   {Field::kSourcePitch, from.pitch},
                   {Field::kDestinationPitch, pitch_bytes(m)}});
}

BufferRows Staging::temporary(std::int64_t rows, std::int64_t columns, tpu::DataType type) {
    const std::uint64_t pitch = static_cast<std::uint64_t>(columns) * tpu::size_of(type);
    return in_ring(static_cast<std::uint64_t>(rows) * pitch, pitch, type);
}

BufferRows Staging::in_ring(std::uint64_t bytes, std::uint64_t pitch, tpu::DataType type) {
    const std::uint64_t address = ring_.allocate(bytes);
    return {address, pitch, type, ring_.serial()};
}

void Staging::check_held(const BufferRows& rows) const {
    if (!ring_.holds(rows.serial))
        throw compile::Refusal(
            "the unified buffer is too small for the operands and results of a step");
}

}  // namespace lockstep::network::lowering
