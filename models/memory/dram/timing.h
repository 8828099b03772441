// SPDX-License-Identifier: Apache-2.0
// What describes a DRAM: its organisation, and the distances its commands must keep.
#pragma once

#include <cstdint>
#include <limits>

namespace lockstep::memory::dram {

/// Cycles of the memory's command clock (CK), from the start of the simulation.
using Cycle = std::uint64_t;
constexpr Cycle kNever = std::numeric_limits<Cycle>::max();

/// A time as standards give it: so many picoseconds, and at least so many clocks.
struct Duration {
    std::uint32_t picoseconds = 0;
    std::uint32_t clocks = 0;
};
constexpr Duration ns(double nanoseconds, std::uint32_t at_least_clocks = 0) {
    return {static_cast<std::uint32_t>(nanoseconds * 1000 + 0.5), at_least_clocks};
}
constexpr Duration ck(std::uint32_t clocks) {
    return {0, clocks};
}

/// One independently timed channel: an HBM pseudo-channel, half a GDDR6 device, a DDR channel.
struct Organisation {
    std::uint32_t width_bits;
    std::uint32_t beats_per_clock;  ///< data beats of a pin in one command clock
    std::uint32_t burst_beats;
    std::uint32_t bank_groups;
    std::uint32_t banks_per_group;
    std::uint32_t row_bytes;        ///< of this channel, over all devices that form it
    bool separate_row_bus;          ///< a row and a column command may go out in one clock
    std::uint32_t activate_clocks;  ///< of the row command bus that an activation takes

    constexpr std::uint32_t burst_bytes() const { return width_bits / 8 * burst_beats; }
    constexpr std::uint32_t banks_per_rank() const { return bank_groups * banks_per_group; }
};

/// The constraints of a standard, T being Duration (the table) or cycles (at a machine's clock).
/// S: to another bank group; L: within one.
template <class T>
struct TimingOf {
    T RCD_read, RCD_write;  ///< activate to column command
    T RP, RAS, RC;          ///< precharge time, activate to precharge, activate to activate
    T CL, CWL;              ///< column command to first data
    T CCD_S, CCD_L, CCD_R;  ///< column to column; R: to another rank or stack id
    T RRD_S, RRD_L, FAW;    ///< activate to activate; window of four activations
    T WTR_S, WTR_L;         ///< end of write data to read command
    T turnaround;           ///< idle bus between the last read data and the first write data
    T RTP, WR;              ///< read, and end of write data, to precharge
    T RFC, RFC_bank;        ///< duration of an all-bank and of a per-bank refresh
    T REFI;                 ///< every row group of a rank is refreshed once in this time
    T RREFD;                ///< per-bank refresh to activation or refresh of another bank
};

struct Standard {
    const char* name;
    Organisation organisation;
    TimingOf<Duration> timing;
    const char* source;
};

/// The constraints in cycles, and what follows from them.
struct Timing : TimingOf<std::uint32_t> {
    std::uint32_t burst;          ///< data bus cycles of one access
    std::uint32_t read_to_write;  ///< column commands, anywhere in the channel
    std::uint32_t write_to_read_S, write_to_read_L;
    std::uint32_t write_to_precharge;
};

/// Rounds up as JEDEC does (JESD79-4, rounding algorithm): 2.5% of a clock is forgiven.
std::uint32_t cycles(Duration duration, std::uint64_t clock_khz);
Timing resolve(const Standard& standard, std::uint64_t clock_khz);

}  // namespace lockstep::memory::dram
