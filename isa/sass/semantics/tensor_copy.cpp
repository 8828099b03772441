// SPDX-License-Identifier: Apache-2.0
// UTMALDG, UTMASTG, UTMAREDG, UTMAPF (cp.async.bulk.tensor and its kin): boxes of tensors by a map
// in memory; UTMACCTL, UTMACMDFLUSH and DEPBAR around them. One copy is started for the warp,
// whatever its active lanes: the compiler wraps these into a loop over an elected lane. Operands
// are blocks of consecutive uniform registers, read off what ptxas 13 emits.
#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "isa/sass/async_engine.h"
#include "isa/sass/semantics/async_copy.h"
#include "isa/sass/semantics/copy_start.h"
#include "isa/sass/store_buffer.h"

namespace lockstep::sass {

namespace {

// Instruction::modifiers.
constexpr unsigned kRankMask = 7;
constexpr std::uint32_t kIm2col = 1u << 3, kMulticast = 1u << 4;
constexpr unsigned kOpBit = 8;

std::uint32_t uniform(const Warp& warp, Operand operand, unsigned number = 0) {
    return (&warp.row(operand))[number].lane[0];
}

/// The map at a generic address, as the thread sees it.
TensorMap read_map(const Warp& warp, unsigned lane, std::uint64_t address) {
    std::byte bytes[kTensorMapBytes];
    constexpr std::uint64_t kAlignment = 64;
    const auto fault = [&](FaultKind kind, std::string why) {
        return Fault{.kind = kind,
                     .what = fmt::format("tensor map at {:#x}: {}", address, why),
                     .lane = lane,
                     .address = address,
                     .bytes = kTensorMapBytes};
    };
    if (address % kAlignment != 0)
        throw fault(FaultKind::kMisalignedAddress, "the address is not a multiple of 64");
    const std::uint64_t window = address / kWindowBytes * kWindowBytes;
    if (window == kSharedWindow)
        throw fault(FaultKind::kInvalidAddressSpace,
                    "maps lie in global, constant or parameter memory, this is shared memory");
    const Cta& cta = *warp.cta;
    if (window == kLocalWindow) {  // a parameter that the compiler has copied
        const std::uint64_t offset = address - window;
        if (offset + kTensorMapBytes > cta.launch->local_bytes)
            throw fault(FaultKind::kIllegalAddress, "beyond the thread's local memory");
        for (std::size_t at = 0; at < kTensorMapBytes; at += 4)
            std::memcpy(bytes + at, warp.local + ((offset + at) / 4 * kWarpSize + lane) * 4, 4);
        return decode_tensor_map(bytes);
    }
    const Extent extent = cta.launch->memory->find(address);
    if (!extent.contains(address, kTensorMapBytes))
        throw fault(FaultKind::kIllegalAddress, cta.launch->memory->describe(address));
    std::memcpy(bytes, extent.at(address), kTensorMapBytes);
    if (cta.stores != nullptr) cta.stores->overlay(address, bytes, kTensorMapBytes);
    return decode_tensor_map(bytes);
}

/// A copy of a box: `first` is the register of the first coordinate in the block at in.a.
AsyncCopy begin_tensor_copy(const Instruction& in, Warp& warp, CopyKind kind, unsigned first) {
    AsyncCopy copy = begin_copy(in, warp, kind);
    copy.is_tensor = true;
    copy.map_address = lane64(&warp.row(in.b), 0);
    copy.map = read_map(warp, copy.lane, copy.map_address);
    const auto refuse = [&](std::string why) {
        return Fault{.kind = FaultKind::kIllegalInstruction,
                     .what = fmt::format("tensor map at {:#x}: {}", copy.map_address, why),
                     .lane = copy.lane,
                     .address = copy.map_address};
    };
    const unsigned rank = (in.modifiers & kRankMask) + 1;
    if (copy.map.rank != rank)
        throw refuse(
            fmt::format("it has {} dimensions, the instruction takes {}", copy.map.rank, rank));
    const bool is_im2col = in.modifiers & kIm2col;
    if (copy.map.is_im2col != is_im2col)
        throw refuse(fmt::format("it is of {} mode, the instruction takes {}",
                                 copy.map.is_im2col ? "im2col" : "tiled",
                                 is_im2col ? "im2col" : "tiled"));
    for (unsigned i = 0; i < rank; ++i)
        copy.coordinate[i] = static_cast<std::int32_t>(uniform(warp, in.a, first + i));
    const std::string rule = broken_rule(copy.map);
    if (!rule.empty()) throw refuse(rule);
    // No manual says so. An H200 reports an illegal instruction, as H100s do to others
    // (tile-ai/tilelang issue 2527 for stores and loads, triton-lang/triton issue 7385).
    constexpr int kRowAlignment = 16;
    const std::int64_t inner =
        std::int64_t{copy.coordinate[0]} * static_cast<int>(element_bytes(copy.map.type));
    if ((kind == CopyKind::kLoad || kind == CopyKind::kStore) && !is_im2col &&
        copy.map.interleave == TensorInterleave::kNone && inner % kRowAlignment != 0)
        throw refuse(fmt::format("the box begins {} bytes into the rows, not at a multiple of {}",
                                 inner, kRowAlignment));
    copy.bytes = BoxRows::tile_bytes(copy.map);
    return copy;
}

/// Packed by the number of spatial dimensions: 16 bits, 2 x 8 or 3 x 5.
void set_offsets(AsyncCopy& copy, std::uint32_t packed) {
    constexpr unsigned kBits[] = {16, 8, 5};
    if (!copy.map.is_im2col) return;
    const unsigned spatial = copy.map.rank - 2;
    const unsigned bits = kBits[spatial - 1];
    for (unsigned i = 0; i < spatial; ++i)
        copy.offset[i] = static_cast<std::int32_t>(packed >> bits * i & ((1u << bits) - 1));
}

void execute_utmaldg(const Instruction& in, Warp& warp) {
    AsyncCopy copy = begin_tensor_copy(in, warp, CopyKind::kLoad, 2);
    const std::uint32_t extra = uniform(warp, in.c);
    set_offsets(copy, extra & 0xffff);
    start_to_shared(copy, uniform(warp, in.a), uniform(warp, in.a, 1),
                    in.modifiers & kMulticast ? extra >> 16 : 0);
}

void execute_utmastg(const Instruction& in, Warp& warp) {
    AsyncCopy copy = begin_tensor_copy(in, warp, CopyKind::kStore, 1);
    start_from_shared(copy, uniform(warp, in.a));
}

void execute_utmaredg(const Instruction& in, Warp& warp) {
    AsyncCopy copy = begin_tensor_copy(in, warp, CopyKind::kReduce, 1);
    copy.reduce = reduction(copy.map.type, static_cast<AtomicOp>(in.modifiers >> kOpBit));
    start_from_shared(copy, uniform(warp, in.a));
}

void execute_utmapf(const Instruction& in, Warp& warp) {
    AsyncCopy copy = begin_tensor_copy(in, warp, CopyKind::kPrefetch, 0);
    set_offsets(copy, uniform(warp, in.c) & 0xffff);
    start_copy(copy);
}

void execute_nothing(const Instruction&, Warp&) {}

/// The map itself is read when a copy starts: only what the machine does about it is told.
void execute_utmacctl(const Instruction& in, Warp& warp) {
    AsyncCopy copy =
        begin_copy(in, warp, in.modifiers != 0 ? CopyKind::kPrefetchMap : CopyKind::kForgetMap);
    copy.is_tensor = true;
    copy.map_address = lane64(&warp.row(in.b), 0);
    start_copy(copy);
}

void execute_utmacmdflush(const Instruction& in, Warp& warp) {
    if (warp.cta->async != nullptr) warp.cta->async->commit(warp, in.modifiers);
}

void execute_depbar(const Instruction& in, Warp& warp) {
    if (warp.cta->async != nullptr)
        warp.cta->async->wait(warp, in.modifiers, static_cast<unsigned>(in.immediate));
}

/// `registers`: of the block at bit 32, before the coordinates.
bool bind_tensor_copy(Binder& binder, unsigned registers, Execute execute) {
    const Word& word = binder.word;
    const auto dimension = static_cast<std::uint32_t>(word.bits(79, 3));
    if (dimension >= kMaxTensorRank) return false;
    Instruction& out = binder.out;
    out.a = binder.source_uniform(32, registers + dimension + 1);
    out.b = binder.source_uniform(24, 2);
    out.modifiers = dimension;
    const bool is_im2col = word.bit(82), is_multicast = word.bit(75);
    if (is_im2col) out.modifiers |= kIm2col;
    if (is_multicast) out.modifiers |= kMulticast;
    constexpr unsigned kExtended = 1;  // a register of offsets and mask at 64
    out.c = word.form() == kExtended && registers != 1 ? binder.source_uniform(64)
                                                       : Operand::of_warp(kZeroRow);
    bind_hint(binder);
    out.execute = execute;
    return true;
}

}  // namespace

bool bind_utmaldg(Binder& binder) {
    return bind_tensor_copy(binder, 2, execute_utmaldg);
}

bool bind_utmastg(Binder& binder) {
    return bind_tensor_copy(binder, 1, execute_utmastg);
}

bool bind_utmaredg(Binder& binder) {
    if (!bind_tensor_copy(binder, 1, execute_utmaredg)) return false;
    binder.out.modifiers |= static_cast<std::uint32_t>(binder.word.bits(87, 3)) << kOpBit;
    return true;
}

bool bind_utmapf(Binder& binder) {
    return bind_tensor_copy(binder, 0, execute_utmapf);
}

bool bind_utmacctl(Binder& binder) {
    if (!binder.word.uniform()) {  // .IVALL
        binder.out.execute = execute_nothing;
        return true;
    }
    binder.out.b = binder.source_uniform(24, 2);
    binder.out.d2 = Operand::of_warp(kZeroRow);
    binder.out.modifiers = binder.word.bit(82);  // .PF
    binder.out.execute = execute_utmacctl;
    return true;
}

bool bind_utmacmdflush(Binder& binder) {
    binder.out.modifiers = Control::of(binder.word).read_barrier;
    binder.out.execute = execute_utmacmdflush;
    return true;
}

bool bind_depbar(Binder& binder) {
    const Word& word = binder.word;
    const bool counts = word.bit(47);  // .LE
    binder.out.modifiers = static_cast<std::uint32_t>(word.bits(44, 3));
    binder.out.immediate = word.bits(38, 6);
    binder.out.execute = counts && binder.arch >= 90 ? execute_depbar : execute_nothing;
    return true;
}

}  // namespace lockstep::sass
