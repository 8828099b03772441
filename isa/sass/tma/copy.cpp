// SPDX-License-Identifier: Apache-2.0
// Bytes between global and shared memory, row by row. Elements outside of the tensor are filled
// with zeros or NaN by loads, which count them as delivered, and left alone by stores. Types that
// the hardware converts on the way into shared memory: FTZ ones flush subnormals, TF32 is rounded
// to nearest (CUTLASS loads fp32 operands of tf32 products so; ties to even are assumed).
#include "isa/sass/tma/copy.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include "isa/sass/deferred_queue.h"
#include "isa/sass/semantics/mbarrier.h"
#include "isa/sass/store_buffer.h"
#include "sim/numerics/tf32.h"

namespace lockstep::sass {

namespace {

constexpr std::uint32_t kChunk = 16;  ///< bytes that a swizzle moves as one
constexpr std::uint32_t kTileAlignment = 128;

std::string_view name_of(CopyKind kind) {
    switch (kind) {
        case CopyKind::kLoad:
            return "load";
        case CopyKind::kStore:
            return "store";
        case CopyKind::kReduce:
        case CopyKind::kSharedReduce:
            return "reduction";
        case CopyKind::kPrefetch:
            return "prefetch";
        default:
            return "copy";
    }
}

std::string name_of(const AsyncCopy& copy) {
    return copy.is_tensor
               ? fmt::format("tensor {} by the map at {:#x}", name_of(copy.kind), copy.map_address)
               : fmt::format("bulk {} of {} bytes", name_of(copy.kind), copy.bytes);
}

[[noreturn]] void refuse(const AsyncCopy& copy, FaultKind kind, Space space, std::uint64_t address,
                         std::string_view why) {
    throw Fault{.kind = kind,
                .what = fmt::format("{}: {}", name_of(copy), why),
                .lane = copy.lane,
                .address = address,
                .bytes = copy.bytes,
                .space = space};
}

void check_shared(const AsyncCopy& copy, const Cta& cta, std::uint32_t offset, std::uint32_t bytes,
                  std::uint32_t alignment, std::string_view what) {
    if (offset % alignment != 0)
        refuse(copy, FaultKind::kMisalignedAddress, Space::kShared, offset,
               fmt::format("{} {:#x} in shared memory is not a multiple of {}", what, offset,
                           alignment));
    const std::uint32_t limit = cta.launch->shared_bytes;
    if (offset > limit || bytes > limit - offset)
        refuse(copy, FaultKind::kIllegalAddress, Space::kShared, offset,
               fmt::format("{} bytes at {} {:#x} in shared memory, of which the CTA has {}", bytes,
                           what, offset, limit));
}

void check_global(const AsyncCopy& copy, const GlobalMemory& memory) {
    Extent extent;
    for_each_run(copy, [&](std::uint64_t address, std::uint32_t bytes) {
        if (!extent.contains(address, bytes)) {
            extent = memory.find(address);
            if (!extent.contains(address, bytes)) {
                // A run may go on in the next allocation's page only by accident: no copy does.
                refuse(copy, FaultKind::kIllegalAddress, Space::kGlobal, address,
                       fmt::format("{} bytes at {:#x} in global memory: {}", bytes, address,
                                   memory.describe(address)));
            }
        }
        if (copy.writes_global() && !extent.writable)
            refuse(copy, FaultKind::kIllegalAddress, Space::kGlobal, address,
                   fmt::format("{:#x} in global memory is read-only", address));
    });
}

void check_tensor(const AsyncCopy& copy) {
    if (copy.map.interleave != TensorInterleave::kNone) {
        const std::int32_t channels = (copy.map.interleave == TensorInterleave::k32 ? 32 : 16) /
                                      static_cast<std::int32_t>(element_bytes(copy.map.type));
        if (copy.coordinate[0] % channels != 0)
            refuse(copy, FaultKind::kIllegalInstruction, Space::kGlobal, copy.map_address,
                   fmt::format("coordinate {} of the channels does not begin a slice of {}",
                               copy.coordinate[0], channels));
    }
    if (copy.kind == CopyKind::kReduce && copy.reduce == nullptr)
        refuse(copy, FaultKind::kIllegalInstruction, Space::kGlobal, copy.map_address,
               "the element type has no such operation");
}

/// What the hardware makes of elements on their way into shared memory.
void convert(TensorType type, std::byte* bytes, std::uint32_t count) {
    const bool flushes = type == TensorType::kF32Ftz || type == TensorType::kTf32Ftz;
    const bool rounds = type == TensorType::kTf32 || type == TensorType::kTf32Ftz;
    if (!flushes && !rounds) return;
    for (std::uint32_t at = 0; at < count; at += 4) {
        std::uint32_t bits;
        std::memcpy(&bits, bytes + at, sizeof bits);
        if (flushes && (bits & 0x7f800000u) == 0) bits &= 0x80000000u;
        if (rounds)
            bits = numerics::fp32_to_tf32(std::bit_cast<float>(bits),
                                          numerics::Rounding::kNearestEven);
        std::memcpy(bytes + at, &bits, sizeof bits);
    }
}

/// The NaN that fills: of all ones but the sign, the one that arithmetic gives.
void fill(const TensorMap& map, std::byte* bytes, std::uint32_t count) {
    std::memset(bytes, 0, count);
    if (!map.fills_nan) return;
    const unsigned element = element_bytes(map.type);
    constexpr std::uint64_t kNan64 = 0x7fff'ffff'ffff'ffffull;
    for (std::uint32_t at = 0; at < count; at += element) {
        const std::uint64_t nan = kNan64 >> (64 - 8 * element);
        std::memcpy(bytes + at, &nan, element);
    }
}

/// Moves a row of a tile in shared memory to or from `row`, chunk by chunk.
template <typename Move>
void for_each_chunk(const AsyncCopy& copy, std::uint32_t tile, const BoxRow& row, Move&& move) {
    const TensorSwizzle swizzle = copy.map.swizzle;
    if (swizzle == TensorSwizzle::kNone) return move(tile + row.shared, 0u, row.bytes);
    for (std::uint32_t at = 0; at < row.bytes; at += kChunk)
        move(swizzled(tile + row.shared + at, swizzle), at, std::min(kChunk, row.bytes - at));
}

void read_global(const Cta& cta, std::uint64_t address, std::byte* to, std::uint32_t bytes) {
    std::memcpy(to, cta.launch->memory->find(address).at(address), bytes);
    if (cta.stores != nullptr) cta.stores->overlay(address, to, bytes);
}

void write_global(const AsyncCopy& copy, std::uint64_t address, const std::byte* from,
                  std::uint32_t bytes) {
    const Cta& cta = *copy.source;
    std::byte* const host = cta.launch->memory->find(address).at(address);
    if (copy.kind == CopyKind::kStore) {
        if (cta.stores != nullptr)
            cta.stores->write(address, from, bytes);
        else
            std::memcpy(host, from, bytes);
    } else if (cta.deferred != nullptr) {
        cta.deferred->defer_reduction(*cta.warps[copy.warp],
                                      {host, copy.reduce, {from, from + bytes}});
    } else {
        copy.reduce(host, from, bytes);
    }
}

void load_tensor(const AsyncCopy& copy) {
    std::vector<std::byte> bytes;
    BoxRows rows(copy.map, copy.coordinate, copy.offset);
    BoxRow row;
    while (rows.next(row)) {
        bytes.resize(row.bytes);
        fill(copy.map, bytes.data(), row.first);
        if (row.count != 0) {
            read_global(*copy.source, row.global, bytes.data() + row.first, row.count);
            convert(copy.map.type, bytes.data() + row.first, row.count);
        }
        const std::uint32_t end = row.first + row.count;
        fill(copy.map, bytes.data() + end, row.bytes - end);
        for_each_chunk(copy, copy.to, row,
                       [&](std::uint32_t shared, std::uint32_t at, std::uint32_t count) {
                           std::memcpy(copy.target->shared + shared, bytes.data() + at, count);
                       });
    }
}

void store_tensor(const AsyncCopy& copy) {
    std::vector<std::byte> bytes;
    BoxRows rows(copy.map, copy.coordinate, copy.offset);
    BoxRow row;
    while (rows.next(row)) {
        if (row.count == 0) continue;
        bytes.resize(row.bytes);
        for_each_chunk(copy, copy.from, row,
                       [&](std::uint32_t shared, std::uint32_t at, std::uint32_t count) {
                           std::memcpy(bytes.data() + at, copy.source->shared + shared, count);
                       });
        write_global(copy, row.global, bytes.data() + row.first, row.count);
    }
}

}  // namespace

void check_copy(const AsyncCopy& copy, const GlobalMemory& memory) {
    if (copy.is_tensor) check_tensor(copy);
    const std::uint32_t alignment = copy.is_tensor ? kTileAlignment : kChunk;
    if (copy.reads_shared())
        check_shared(copy, *copy.source, copy.from, copy.bytes, alignment, "the source");
    if (copy.writes_shared()) {
        check_shared(copy, *copy.target, copy.to, copy.bytes, alignment, "the destination");
        check_shared(copy, *copy.target, copy.mbarrier, sizeof(std::uint64_t),
                     sizeof(std::uint64_t), "the mbarrier");
    }
    if (copy.kind != CopyKind::kLoad && !copy.writes_global() && copy.kind != CopyKind::kPrefetch)
        return;
    if (!copy.is_tensor && copy.global % kChunk != 0)
        refuse(copy, FaultKind::kMisalignedAddress, Space::kGlobal, copy.global,
               fmt::format("{:#x} in global memory is not a multiple of {}", copy.global, kChunk));
    if (copy.kind != CopyKind::kPrefetch) check_global(copy, memory);
}

void for_each_run(const AsyncCopy& copy,
                  const std::function<void(std::uint64_t address, std::uint32_t bytes)>& f) {
    if (!copy.is_tensor) {
        if (copy.bytes != 0) f(copy.global, copy.bytes);
        return;
    }
    BoxRows rows(copy.map, copy.coordinate, copy.offset);
    BoxRow row;
    while (rows.next(row))
        if (row.count != 0) f(row.global, row.count);
}

void perform_copy(const AsyncCopy& copy) {
    switch (copy.kind) {
        case CopyKind::kLoad:
            if (copy.is_tensor) return load_tensor(copy);
            if (copy.bytes == 0) return;
            return read_global(*copy.source, copy.global, copy.target->shared + copy.to,
                               copy.bytes);
        case CopyKind::kStore:
        case CopyKind::kReduce:
            if (copy.is_tensor) return store_tensor(copy);
            if (copy.bytes == 0) return;
            return write_global(copy, copy.global, copy.source->shared + copy.from, copy.bytes);
        case CopyKind::kShared:
            std::memmove(copy.target->shared + copy.to, copy.source->shared + copy.from,
                         copy.bytes);
            return;
        case CopyKind::kSharedReduce:
            return copy.reduce(copy.target->shared + copy.to, copy.source->shared + copy.from,
                               copy.bytes);
        case CopyKind::kPrefetch:
        case CopyKind::kPrefetchMap:
        case CopyKind::kForgetMap:
            return;
    }
}

void report_copy(const AsyncCopy& copy) {
    if (!copy.writes_shared()) return;
    std::byte* const place = copy.target->shared + copy.mbarrier;
    std::uint64_t bits;
    std::memcpy(&bits, place, sizeof bits);
    Mbarrier barrier(bits);
    barrier.arrive(0, -static_cast<std::int32_t>(copy.bytes));
    bits = barrier.bits();
    std::memcpy(place, &bits, sizeof bits);
}

}  // namespace lockstep::sass
