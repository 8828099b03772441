// SPDX-License-Identifier: Apache-2.0
// FCHK: tells whether a / b needs the slow path of software division, whose fast path is
// r = RCP(b), one Newton step, q = a r, two FFMAs. The hardware's exact condition is not published;
// what the sequence needs is that r and q are normal, that the remainder a - b q is exact, and that
// a is not zero (the sequence loses the sign of -0). We use the condition that POWER's xvtdivsp
// publishes for the same purpose, plus a = 0. Both paths round correctly where they are taken.
#include "isa/sass/semantics/float.h"
#include "isa/sass/semantics/float_operands.h"

namespace lockstep::sass {

namespace {

/// a and b are bits of the dividend and the divisor.
inline bool needs_slow_division(std::uint32_t a, std::uint32_t b) {
    const int ea = static_cast<int>(a >> 23 & 0xff), eb = static_cast<int>(b >> 23 & 0xff);
    const int difference = ea - eb;
    const bool extreme_a = ea <= 127 - 103 || ea == 255;  // zero and subnormal are among these
    const bool extreme_b = eb <= 127 - 126 || eb >= 127 + 125;
    return extreme_a || extreme_b || difference >= 127 || difference <= -125;
}

void execute_fchk(const Instruction& in, Warp& warp) {
    const Row& a = warp.row(in.a);
    const Row& b = warp.row(in.b);
    warp.write(in.pd[0],
               lane_mask([&](unsigned l) { return needs_slow_division(a.lane[l], b.lane[l]); }));
}

}  // namespace

bool bind_fchk(Binder& binder) {
    binder.out.pd[0] = binder.dest_predicate(81);
    binder.sources_ab();
    binder.out.execute = execute_fchk;  // looks at exponents alone: signs do not matter
    return true;
}

}  // namespace lockstep::sass
