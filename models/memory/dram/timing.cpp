// SPDX-License-Identifier: Apache-2.0
// A DRAM core is analogue: its delays are times, whatever the clock. The interface counts clocks.
// A standard gives both, and a controller is programmed with the whole number of clocks that covers
// the time. Source: JEDEC JESD79-4 (DDR4), section on rounding, applied to all standards here.
#include "models/memory/dram/timing.h"

#include <algorithm>

namespace lockstep::memory::dram {

std::uint32_t cycles(Duration duration, std::uint64_t clock_khz) {
    // thousandths of a clock: ps * kHz / 10^9 clocks
    const std::uint64_t thousandths = duration.picoseconds * clock_khz / 1'000'000;
    return std::max(duration.clocks, static_cast<std::uint32_t>((thousandths + 974) / 1000));
}

Timing resolve(const Standard& standard, std::uint64_t clock_khz) {
    const TimingOf<Duration>& in = standard.timing;
    const auto of = [&](Duration duration) { return cycles(duration, clock_khz); };
    Timing out{};
    out.RCD_read = of(in.RCD_read), out.RCD_write = of(in.RCD_write);
    out.RP = of(in.RP), out.RAS = of(in.RAS), out.RC = of(in.RC);
    out.CL = of(in.CL), out.CWL = of(in.CWL);
    out.CCD_S = of(in.CCD_S), out.CCD_L = of(in.CCD_L), out.CCD_R = of(in.CCD_R);
    out.RRD_S = of(in.RRD_S), out.RRD_L = of(in.RRD_L), out.FAW = of(in.FAW);
    out.WTR_S = of(in.WTR_S), out.WTR_L = of(in.WTR_L);
    out.turnaround = of(in.turnaround);
    out.RTP = of(in.RTP), out.WR = of(in.WR);
    out.RFC = of(in.RFC), out.RFC_bank = of(in.RFC_bank);
    out.REFI = of(in.REFI), out.RREFD = of(in.RREFD);

    out.burst = standard.organisation.burst_beats / standard.organisation.beats_per_clock;
    out.read_to_write = out.CL + out.burst + out.turnaround - std::min(out.CWL, out.CL);
    out.write_to_read_S = out.CWL + out.burst + out.WTR_S;
    out.write_to_read_L = out.CWL + out.burst + out.WTR_L;
    out.write_to_precharge = out.CWL + out.burst + out.WR;
    return out;
}

}  // namespace lockstep::memory::dram
