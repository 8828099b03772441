// SPDX-License-Identifier: Apache-2.0
// UBLKCP, UBLKRED, UBLKPF (cp.async.bulk, cp.reduce.async.bulk, cp.async.bulk.prefetch): blocks of
// consecutive bytes. The size operand counts 16 bytes, its upper half is the mask of a multicast.
#include "isa/sass/semantics/async_copy.h"
#include "isa/sass/semantics/copy_start.h"
#include "isa/sass/semantics/lanes.h"

namespace lockstep::sass {

namespace {

enum Direction : std::uint32_t { kToShared = 1, kFromShared = 2, kBetweenShared = 3 };
constexpr std::uint32_t kBulkUnit = 16, kSizeMask = 0xffff;

// Instruction::modifiers.
constexpr std::uint32_t kDirectionMask = 3, kMulticast = 1u << 2;
constexpr unsigned kOpBit = 8, kTypeBit = 16;

std::uint32_t bytes_of(const Instruction& in, const Warp& warp) {
    return (warp.row(in.c).lane[0] & kSizeMask) * kBulkUnit;
}

void start_block(AsyncCopy& copy, const Instruction& in, Warp& warp) {
    const Row* const to = &warp.row(in.a);
    const Row* const from = &warp.row(in.b);
    copy.bytes = bytes_of(in, warp);
    switch (in.modifiers & kDirectionMask) {
        case kToShared:
            copy.global = lane64(from, 0);
            return start_to_shared(copy, to[0].lane[0], to[1].lane[0],
                                   in.modifiers & kMulticast ? warp.row(in.c).lane[0] >> 16 : 0);
        case kFromShared:
            copy.global = lane64(to, 0);
            return start_from_shared(copy, from[0].lane[0]);
        default:
            copy.from = shared_place(copy, from[0].lane[0]).offset;
            return start_to_shared(copy, to[0].lane[0], to[1].lane[0], 0);
    }
}

void execute_ublkcp(const Instruction& in, Warp& warp) {
    constexpr CopyKind kKinds[] = {CopyKind::kLoad, CopyKind::kLoad, CopyKind::kStore,
                                   CopyKind::kShared};
    AsyncCopy copy = begin_copy(in, warp, kKinds[in.modifiers & kDirectionMask]);
    start_block(copy, in, warp);
}

ReduceElements reduction_of(std::uint32_t type, AtomicOp op) {
    constexpr TensorType kTypes[] = {TensorType::kU32,    TensorType::kS32, TensorType::kU64,
                                     TensorType::kS64,    TensorType::kF16, TensorType::kF32,
                                     TensorType::kF32Ftz, TensorType::kF64, TensorType::kBf16};
    return type < std::size(kTypes) ? reduction(kTypes[type], op) : nullptr;
}

void execute_ublkred(const Instruction& in, Warp& warp) {
    AsyncCopy copy =
        begin_copy(in, warp,
                   (in.modifiers & kDirectionMask) == kFromShared ? CopyKind::kReduce
                                                                  : CopyKind::kSharedReduce);
    copy.reduce =
        reduction_of(in.modifiers >> kTypeBit, static_cast<AtomicOp>(in.modifiers >> kOpBit & 7));
    start_block(copy, in, warp);
}

void execute_ublkpf(const Instruction& in, Warp& warp) {
    AsyncCopy copy = begin_copy(in, warp, CopyKind::kPrefetch);
    copy.global = lane64(&warp.row(in.b), 0);
    copy.bytes = bytes_of(in, warp);
    start_copy(copy);
}

void bind_block(Binder& binder, Execute execute) {
    Instruction& out = binder.out;
    out.a = binder.source_uniform(32, 2);
    out.b = binder.source_uniform(24, 2);
    out.c = binder.source_uniform(64);
    bind_hint(binder);
    out.modifiers = static_cast<std::uint32_t>(binder.word.bits(73, 2));
    out.execute = execute;
}

}  // namespace

GlobalRange bulk_copy_range(const Instruction& in, const Warp& warp) {
    const std::uint32_t direction = in.modifiers & kDirectionMask;
    if (direction == kBetweenShared) return {};
    return {lane64(&warp.row(direction == kToShared ? in.b : in.a), 0), bytes_of(in, warp)};
}

bool bind_ublkcp(Binder& binder) {
    bind_block(binder, execute_ublkcp);
    if (binder.word.bit(75)) binder.out.modifiers |= kMulticast;
    return (binder.out.modifiers & kDirectionMask) != 0;
}

bool bind_ublkred(Binder& binder) {
    const Word& word = binder.word;
    bind_block(binder, execute_ublkred);
    const auto type = static_cast<std::uint32_t>(word.bits(81, 4));
    const auto op = static_cast<std::uint32_t>(word.bits(87, 3));
    binder.out.modifiers |= op << kOpBit | type << kTypeBit;
    return (binder.out.modifiers & kDirectionMask) >= kFromShared &&
           reduction_of(type, static_cast<AtomicOp>(op)) != nullptr;
}

bool bind_ublkpf(Binder& binder) {
    Instruction& out = binder.out;
    out.b = binder.source_uniform(24, 2);
    out.c = binder.source_uniform(64);
    bind_hint(binder);
    out.execute = execute_ublkpf;
    return true;
}

}  // namespace lockstep::sass
