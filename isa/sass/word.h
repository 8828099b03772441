// SPDX-License-Identifier: Apache-2.0
// The 128-bit SASS instruction word of sm_70 to sm_90 and its scheduling ("control") bits.
#pragma once

#include <cstdint>
#include <cstring>

namespace lockstep::sass {

/// SM version of an instruction set: 70, 75, 80, 86, 89 or 90.
using Arch = int;

/// One instruction as it lies in memory: little-endian, bits 0-63 in lo, 64-127 in hi.
struct Word {
    std::uint64_t lo = 0;
    std::uint64_t hi = 0;

    static constexpr unsigned kBytes = 16;

    static Word load(const void* bytes) {
        Word word;
        std::memcpy(&word, bytes, kBytes);
        return word;
    }

    /// Bits [first, first + count), count <= 64; the field may straddle bit 64.
    constexpr std::uint64_t bits(unsigned first, unsigned count) const {
        const std::uint64_t mask = count >= 64 ? ~0ull : (1ull << count) - 1;
        if (first >= 64) return (hi >> (first - 64)) & mask;
        std::uint64_t value = lo >> first;
        if (first != 0 && first + count > 64) value |= hi << (64 - first);
        return value & mask;
    }
    constexpr bool bit(unsigned position) const { return bits(position, 1) != 0; }
    constexpr std::int64_t signed_bits(unsigned first, unsigned count) const {
        return static_cast<std::int64_t>(bits(first, count) << (64 - count)) >> (64 - count);
    }
    constexpr void set_bits(unsigned first, unsigned count, std::uint64_t value) {
        for (unsigned i = 0; i < count; ++i) {
            std::uint64_t& half = first + i < 64 ? lo : hi;
            const std::uint64_t one = 1ull << ((first + i) % 64);
            half = (value >> i) & 1 ? half | one : half & ~one;
        }
    }

    /// Bits 0-11: base opcode (0-8) and operand form (9-11). With uniform() it selects the row of
    /// the opcode table.
    constexpr unsigned opcode() const { return static_cast<unsigned>(lo & 0xfff); }
    constexpr unsigned base_opcode() const { return static_cast<unsigned>(lo & 0x1ff); }
    constexpr unsigned form() const { return static_cast<unsigned>(lo >> 9 & 7); }
    constexpr bool uniform() const { return bit(91); }

    friend constexpr bool operator==(const Word&, const Word&) = default;
};

/// Scheduling information that the compiler put into the instruction (bits 105-125).
struct Control {
    static constexpr std::uint8_t kNoBarrier = 7;

    std::uint8_t stall;          ///< cycles until the warp may issue again
    bool yield;                  ///< prefer another warp (raw bit 109 is 0)
    std::uint8_t write_barrier;  ///< dependence counter released at write-back, 7 = none
    std::uint8_t read_barrier;   ///< dependence counter released at operand read, 7 = none
    std::uint8_t wait_mask;      ///< dependence counters that must be zero before issue
    std::uint8_t reuse;          ///< operands kept in the register reuse cache (bit 0 = source A)

    static constexpr Control of(const Word& word) {
        return {static_cast<std::uint8_t>(word.bits(105, 4)),
                !word.bit(109),
                static_cast<std::uint8_t>(word.bits(110, 3)),
                static_cast<std::uint8_t>(word.bits(113, 3)),
                static_cast<std::uint8_t>(word.bits(116, 6)),
                static_cast<std::uint8_t>(word.bits(122, 4))};
    }
};

}  // namespace lockstep::sass
