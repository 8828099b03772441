// SPDX-License-Identifier: Apache-2.0
// MOVM.16.MT88: transposes an 8x8 matrix of 16-bit elements held as a fragment (lane 4g + t has
// columns 2t, 2t + 1 of row g). The other layouts (.M832, .M864) are not emitted by ptxas.
#include "isa/sass/semantics/lanes.h"
#include "isa/sass/semantics/tensor/tensor.h"

namespace lockstep::sass {

namespace {

void execute_movm(const Instruction& in, Warp& warp) {
    const Row from = warp.row(in.a);
    const auto element = [&from](unsigned row, unsigned column) {
        return from.lane[4 * row + column / 2] >> (16 * (column % 2)) & 0xffff;
    };
    Row result;
    for (unsigned lane = 0; lane < kWarpSize; ++lane) {
        const unsigned g = lane / 4;
        const unsigned t = lane % 4;
        result.lane[lane] = element(2 * t, g) | element(2 * t + 1, g) << 16;
    }
    copy_lanes(warp.row(in.d), result, warp.mask);
}

}  // namespace

bool bind_movm(Binder& binder) {
    if (binder.word.bits(78, 2) != 0) return false;
    binder.out.d = binder.dest_register();
    binder.out.a = binder.source_register(24);
    binder.out.execute = execute_movm;
    return true;
}

}  // namespace lockstep::sass
