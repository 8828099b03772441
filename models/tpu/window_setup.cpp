// SPDX-License-Identifier: Apache-2.0
// Generation 1 has a systolic data setup, which slides windows as rows stream. Later arrays are fed
// from vector registers (Norrie et al., IEEE Micro 2021). Pixels of more channels than half a
// register has lanes are padded to whole registers, as XLA's layouts of 8 x 128 are, and loaded
// from wherever they lie (assumed). Narrower ones share registers with their neighbours, so that
// these are loaded, shifted, masked at the image's edge and packed, one register after the other.
// Units that take the same rows with other columns share the registers.
// Our simplification: the vector unit's other work goes on beside it. Windows of one pixel without
// stride are rows as they lie.
#include "models/tpu/window_setup.h"

#include <algorithm>

#include "sim/numerics/integer.h"

namespace lockstep::tpu {

namespace {

using enum Field;

using numerics::divide_up;

}  // namespace

WindowSetup::Cycle WindowSetup::assemble(const Instruction& i, Cycle now) {
    if (parameters_.fixed_function || !packs(i, parameters_.lanes)) return now;
    const WindowRows what = window_rows(i);
    for (const Assembled& one : latest_)
        if (one.what == what && now < one.until) return std::max(now, one.end);
    const std::uint64_t registers =
        divide_up(i[kRows], parameters_.sublanes) * divide_up(i[kLanes], parameters_.lanes);
    free_ = std::max(free_, now) + registers * parameters_.window_cycles;
    latest_[next_] = {what, free_, std::max(free_, now + i[kRows])};
    next_ = (next_ + 1) % latest_.size();
    return free_;
}

}  // namespace lockstep::tpu
