// SPDX-License-Identifier: Apache-2.0
// SHF d, a, b, c shifts the 64-bit value {c, a} by b and keeps one word of the result (.HI the
// upper). The type says how far (32- or 64-bit types clamp b at 32 or 64, or with .W take it modulo
// that) and what comes in from the left. Sources: PTX ISA (shf, shl, shr), Mesa's nak compiler.
#include <algorithm>
#include <array>
#include <utility>

#include "isa/sass/semantics/datapath.h"
#include "isa/sass/semantics/lanes.h"

namespace lockstep::sass {

namespace {

/// Shifts by any 32-bit count; 32 and more (which is also how a difference below zero reads) give
/// zero.
std::uint32_t left(std::uint32_t x, std::uint32_t count) {
    return x << (count & 31) & (0u - std::uint32_t{count < 32});
}
std::uint32_t right(std::uint32_t x, std::uint32_t count) {
    return x >> (count & 31) & (0u - std::uint32_t{count < 32});
}
std::uint32_t right_signed(std::uint32_t x, std::uint32_t count) {
    return static_cast<std::uint32_t>(static_cast<std::int32_t>(x) >> std::min(count, 31u));
}

enum Shift : unsigned {
    kUnsigned = 1,  // bits 73-76 of the word
    k32Bit = 2,
    kWrap = 4,
    kRight = 8,
    kHigh = 16,     // bit 80
    kInRange = 32,  // the count is an immediate in [1, 31]
};

template <unsigned kShift>
std::uint32_t shift_word(std::uint32_t low, std::uint32_t high, std::uint32_t count) {
    if constexpr (kShift & kInRange) {
        // Nothing to clamp.
        if constexpr (kShift & kRight) {
            if constexpr (!(kShift & kHigh)) return low >> count | high << (32 - count);
            return kShift & kUnsigned
                       ? high >> count
                       : static_cast<std::uint32_t>(static_cast<std::int32_t>(high) >> count);
        }
        return kShift & kHigh ? high << count | low >> (32 - count) : low << count;
    }
    constexpr std::uint32_t kBits = kShift & k32Bit ? 32 : 64;
    count = kShift & kWrap ? count & (kBits - 1) : std::min(count, kBits);
    if constexpr (!(kShift & kRight)) {
        if constexpr (!(kShift & kHigh)) return left(low, count);
        return left(high, count) | right(low, 32 - count) | left(low, count - 32);
    }
    if constexpr (kShift & kHigh)
        return kShift & kUnsigned ? right(high, count) : right_signed(high, count);
    const std::uint32_t near = right(low, count) | left(high, 32 - count);
    if constexpr (kShift & kUnsigned) return near | right(high, count - 32);
    return count <= 32 ? near : right_signed(high, count - 32);
}

template <unsigned kShift>
void execute_shf(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    const Row& c = warp.row(in.c);
    if constexpr (kShift & kInRange) {
        const std::uint32_t count = in.width;
        write_lanes(warp, in.d,
                    [&](unsigned l) { return shift_word<kShift>(a.lane[l], c.lane[l], count); });
        return;
    }
    write_lanes(warp, in.d,
                [&](unsigned l) { return shift_word<kShift>(a.lane[l], c.lane[l], b.lane[l]); });
}

template <std::size_t... kShift>
constexpr auto make_shf(std::index_sequence<kShift...>) {
    return std::array<Execute, sizeof...(kShift)>{execute_shf<kShift>...};
}
constexpr auto kShf = make_shf(std::make_index_sequence<64>());

bool bind_shf(Datapath path) {
    const Word& word = path.word;
    path.dest();
    path.sources_abc();
    auto shift = static_cast<unsigned>(word.bits(73, 4)) | (word.bit(80) ? kHigh : 0u);
    const auto count = word.bits(32, 32);
    if (word.form() == 4 && count >= 1 && count <= 31) {
        path.out.width = static_cast<std::uint8_t>(count);
        shift |= kInRange;
    }
    return path.execute(kShf[shift]);
}

constexpr BindEntry kEntries[] = {
    {0x019, on_vector<bind_shf>},
    {0x099, on_uniform<bind_shf>},
};

}  // namespace

std::span<const BindEntry> shift_semantics() {
    return kEntries;
}

}  // namespace lockstep::sass
