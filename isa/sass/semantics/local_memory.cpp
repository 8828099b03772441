// SPDX-License-Identifier: Apache-2.0
// Local memory (LDL, STL, and generic accesses to its window). The hardware interleaves the 32-bit
// words of the lanes of a warp, so that lanes that access the same offset (the usual case: spills
// and stack variables) touch one line. The same layout makes that case a copy of rows here.
#include <cstring>

#include "isa/sass/semantics/access.h"

namespace lockstep::sass {

namespace {

constexpr std::uint64_t kRowBytes = sizeof(Row);

/// Byte `offset` of a lane's local memory.
std::byte* local_byte(const Warp& warp, unsigned lane, std::uint64_t offset) {
    return warp.local + offset / 4 * kRowBytes + lane * 4 + offset % 4;
}

/// True where all lanes access the same offset, which is a multiple of a word.
bool is_row_access(const Warp& warp, unsigned width, std::uint64_t offset) {
    return width >= 4 && is_consecutive(warp.access.address, offset, 0, warp.mask);
}

/// Checks and notes the access; returns the offset of the first lane.
std::uint64_t begin_local(Warp& warp, Direction direction, unsigned width) {
    note_access(warp, Space::kLocal, direction, width);
    const std::uint64_t bytes = warp.cta->launch->local_bytes;
    const AddressRange range = range_of(warp.access.address, 0, warp.mask);
    if (range.largest + width > bytes || range.bits % width != 0) [[unlikely]]
        check_bounded(warp, width, direction, Space::kLocal, bytes);
    return warp.access.address[std::countr_zero(warp.mask)];
}

std::uint32_t extended(std::uint32_t value, Size size) {
    if (size == Size::kU8) return value & 0xff;
    if (size == Size::kU16) return value & 0xffff;
    if (size == Size::kS8) return static_cast<std::uint32_t>(static_cast<std::int8_t>(value));
    if (size == Size::kS16) return static_cast<std::uint32_t>(static_cast<std::int16_t>(value));
    return value;
}

}  // namespace

void load_local(const Instruction& in, Warp& warp, Size size) {
    const unsigned width = kSizeBytes[static_cast<unsigned>(size)];
    const std::uint64_t offset = begin_local(warp, Direction::kLoad, width);
    Row* const d = &warp.row(in.d);
    if (is_row_access(warp, width, offset)) [[likely]] {
        for (unsigned i = 0; i < rows_of(size); ++i) {
            Row value;
            std::memcpy(&value, warp.local + (offset / 4 + i) * kRowBytes, sizeof value);
            copy_lanes(d[i], value, warp.mask);
        }
        return;
    }
    for_each_lane(warp.mask, [&](unsigned l) {
        for (unsigned i = 0; i < rows_of(size); ++i) {
            // Elements lie within aligned words.
            const std::uint64_t at = warp.access.address[l] + 4 * i;
            std::uint32_t word = 0;
            std::memcpy(&word, local_byte(warp, l, at - at % 4), 4);
            d[i].lane[l] = extended(word >> (at % 4 * 8), size);
        }
    });
}

void store_local(const Instruction& in, Warp& warp, Size size) {
    const unsigned width = kSizeBytes[static_cast<unsigned>(size)];
    const std::uint64_t offset = begin_local(warp, Direction::kStore, width);
    const Row* const b = &warp.row(in.b);
    if (is_row_access(warp, width, offset)) [[likely]] {
        for (unsigned i = 0; i < rows_of(size); ++i) {
            std::byte* const to = warp.local + (offset / 4 + i) * kRowBytes;
            Row value;
            std::memcpy(&value, to, sizeof value);
            copy_lanes(value, b[i], warp.mask);
            std::memcpy(to, &value, sizeof value);
        }
        return;
    }
    for_each_lane(warp.mask, [&](unsigned l) {
        for (unsigned i = 0; i < rows_of(size); ++i) {
            std::byte* const to = local_byte(warp, l, warp.access.address[l] + 4 * i);
            if (width == 1)
                std::memcpy(to, &b->lane[l], 1);
            else if (width == 2)
                std::memcpy(to, &b->lane[l], 2);
            else
                std::memcpy(to, &b[i].lane[l], 4);
        }
    });
}

}  // namespace lockstep::sass
