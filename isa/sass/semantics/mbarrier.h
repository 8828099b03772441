// SPDX-License-Identifier: Apache-2.0
// The 64-bit mbarrier object in shared memory. Programs only see it through instructions, but the
// compiler writes the initial value (SYNCS.EXCH) and reads the pending count by plain arithmetic,
// which fixes these places on sm_90:
//   bits 1-20   2^20 - arrivals expected in every phase
//   bits 43-62  2^20 - arrivals still pending in this phase
//   bit 63      phase, which a waiting thread compares with the one it arrived in
// The transaction count (bytes that copies have yet to deliver) lies in what is left, bits 21-42,
// as a signed number; that place is our choice.
// On sm_80 the low word is 2^30 - expected and the high word 2^31 - pending, so that counting it up
// carries into bit 31, the phase.
#pragma once

#include <cstdint>

namespace lockstep::sass {

class Mbarrier {
  public:
    explicit constexpr Mbarrier(std::uint64_t bits) : bits_(bits) {}
    constexpr std::uint64_t bits() const { return bits_; }

    /// `expected` arrivals a phase; nothing arrived yet.
    static constexpr Mbarrier of(std::uint32_t expected) {
        const std::uint64_t count = kCountLimit - expected;
        return Mbarrier(count << kExpectedBit | count << kPendingBit);
    }

    constexpr std::uint32_t expected() const { return count(kExpectedBit); }
    constexpr std::uint32_t pending() const {
        const std::uint32_t value = count(kPendingBit);
        return value == kCountLimit ? 0 : value;  // only a phase that waits for bytes has none
    }
    constexpr std::int32_t transactions() const {
        return static_cast<std::int32_t>(static_cast<std::int64_t>(bits_ << (21)) >> 42);
    }
    constexpr bool phase() const { return bits_ >> 63; }

    /// `count` threads arrive, `bytes` more (or, negative, fewer) are to come.
    constexpr void arrive(std::uint32_t count, std::int32_t bytes) {
        const std::uint32_t left = pending();
        set(kPendingBit, left > count ? left - count : 0);
        set_transactions(transactions() + bytes);
        if (pending() == 0 && transactions() == 0) {
            bits_ ^= 1ull << 63;
            set(kPendingBit, expected());
        }
    }
    /// So many threads less are expected in the phases after this one.
    constexpr void drop(std::uint32_t count) { set(kExpectedBit, expected() - count); }

  private:
    static constexpr unsigned kExpectedBit = 1, kTransactionBit = 21, kPendingBit = 43;
    static constexpr std::uint32_t kCountLimit = 1u << 20;
    static constexpr std::uint64_t kTransactionMask = (1ull << 22) - 1;

    constexpr std::uint32_t count(unsigned bit) const {
        return kCountLimit - static_cast<std::uint32_t>(bits_ >> bit & (kCountLimit - 1));
    }
    constexpr void set(unsigned bit, std::uint32_t value) {
        const std::uint64_t field = (kCountLimit - value) & (kCountLimit - 1);
        bits_ = (bits_ & ~(std::uint64_t{kCountLimit - 1} << bit)) | field << bit;
    }
    constexpr void set_transactions(std::int32_t value) {
        bits_ = (bits_ & ~(kTransactionMask << kTransactionBit)) |
                (static_cast<std::uint64_t>(value) & kTransactionMask) << kTransactionBit;
    }

    std::uint64_t bits_;
};

struct Instruction;
/// True of SYNCS.PHASECHK: test_wait, try_wait.
bool is_phase_check(const Instruction& in);

/// sm_80's: one arrival.
constexpr std::uint64_t arrive_sm80(std::uint64_t bits) {
    const auto low = static_cast<std::uint32_t>(bits);
    auto high = static_cast<std::uint32_t>(bits >> 32);
    constexpr std::uint32_t kPhase = 0x80000000u, kExpectedLimit = 0x40000000u;
    const std::uint32_t phase = high & kPhase;
    ++high;
    if ((high & ~kPhase) == 0)  // the carry has turned the phase; count down from `expected` again
        high = (phase ^ kPhase) | ((low & (kExpectedLimit - 1)) + kExpectedLimit);
    return low | std::uint64_t{high} << 32;
}

}  // namespace lockstep::sass
