// SPDX-License-Identifier: Apache-2.0
// What only the uniform datapath has: loads from constant banks (ULDC). Its other operations are
// those of the vector datapath and stand with them. Source: nvdisasm for the operands.
#include <cstring>

#include "isa/sass/semantics/datapath.h"
#include "isa/sass/semantics/integer_handlers.h"
#include "isa/sass/semantics/lanes.h"

namespace lockstep::sass {

namespace {

enum LoadSize : unsigned { kU8, kS8, kU16, kS16, k32, k64 };

constexpr unsigned kSizeBytes[] = {1, 1, 2, 2, 4, 8};

std::uint32_t extend(LoadSize size, std::uint32_t value) {
    switch (size) {
        case kU8:
            return value & 0xff;
        case kS8:
            return static_cast<std::uint32_t>(static_cast<std::int8_t>(value));
        case kU16:
            return value & 0xffff;
        case kS16:
            return static_cast<std::uint32_t>(static_cast<std::int16_t>(value));
        default:
            return value;
    }
}

void execute_uldc_64(const Instruction& in, Warp& warp) {
    const Row* b = &warp.row(in.b);
    Row* d = &warp.row(in.d);
    d[0] = b[0];
    d[1] = b[1];
}

/// A part of a word: in.width bits into it.
void execute_uldc_part(const Instruction& in, Warp& warp) {
    const std::uint32_t word = warp.row(in.b).lane[0];
    broadcast(warp.row(in.d), extend(static_cast<LoadSize>(in.modifiers), word >> in.width));
}

/// ULDC c[bank][offset]: the word is a row of the literal table.
bool bind_uldc(Datapath path, Binder& binder) {
    const Word& word = path.word;
    if (word.uniform()) return false;  // cx[UR][offset]
    const auto size = static_cast<LoadSize>(word.bits(73, 3));
    if (size > k64) return false;
    const auto bank = static_cast<unsigned>(word.bits(54, 5));
    const auto offset = static_cast<std::uint32_t>(word.bits(38, 16));
    if (offset % kSizeBytes[size] != 0) return false;
    path.dest(size == k64 ? 2 : 1);
    path.out.b = binder.constant(bank, offset & ~3u, size == k64 ? 2 : 1);
    path.out.modifiers = size;
    path.out.width = static_cast<std::uint8_t>(offset % 4 * 8);
    return path.execute(size == k64   ? execute_uldc_64
                        : size == k32 ? execute_move_b
                                      : execute_uldc_part);
}

/// ULDC c[bank][UR + offset]: read when executed. Bytes past the end of the bank are zero.
void execute_uldc_indexed(const Instruction& in, Warp& warp) {
    const auto size = static_cast<LoadSize>(in.modifiers);
    const auto bank = warp.cta->launch->constant[in.immediate >> 32];
    const std::uint64_t address = static_cast<std::uint32_t>(
        warp.row(in.a).lane[0] + static_cast<std::uint32_t>(in.immediate));
    std::uint64_t value = 0;
    if (address < bank.size())
        std::memcpy(&value, bank.data() + address,
                    std::min<std::uint64_t>(kSizeBytes[size], bank.size() - address));
    Row* d = &warp.row(in.d);
    broadcast(d[0], extend(size, static_cast<std::uint32_t>(value)));
    if (size == k64) broadcast(d[1], static_cast<std::uint32_t>(value >> 32));
}

bool bind_uldc_indexed(Datapath path, Binder& binder) {
    const Word& word = path.word;
    const auto size = static_cast<LoadSize>(word.bits(73, 3));
    if (!word.uniform() || size > k64) return false;
    path.dest(size == k64 ? 2 : 1);
    path.out.a = binder.source_uniform(24);
    path.out.modifiers = size;
    path.out.immediate =
        word.bits(54, 5) << 32 | static_cast<std::uint32_t>(word.signed_bits(38, 16));
    return path.execute(execute_uldc_indexed);
}

constexpr BindEntry kEntries[] = {
    {0x0b9, [](Binder& binder) { return bind_uldc(Datapath(binder, true), binder); }},
    {0x0bb, [](Binder& binder) { return bind_uldc_indexed(Datapath(binder, true), binder); }},
};

}  // namespace

std::span<const BindEntry> uniform_semantics() {
    return kEntries;
}

}  // namespace lockstep::sass
