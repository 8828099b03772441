// SPDX-License-Identifier: Apache-2.0
// Integer arithmetic and logic of the vector datapath.
#include "isa/sass/binder.h"
#include "isa/sass/semantics/lanes.h"

namespace lockstep::sass {

namespace {

void execute_mov(const Instruction& in, Warp& warp) {
    const Row& b = warp.row(in.b);
    write_lanes(warp, in.d, [&](unsigned l) { return b.lane[l]; });
}

bool bind_mov(Binder& binder) {
    binder.out.d = binder.dest_register();
    binder.source_b();
    binder.out.execute = execute_mov;
    return true;
}

constexpr BindEntry kEntries[] = {
    {0x002, bind_mov},
};

}  // namespace

std::span<const BindEntry> integer_semantics() {
    return kEntries;
}

}  // namespace lockstep::sass
