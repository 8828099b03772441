// SPDX-License-Identifier: Apache-2.0
// What the files of the control flow family share.
#pragma once

#include "isa/sass/binder.h"
#include "isa/sass/convergence.h"
#include "isa/sass/semantics/lanes.h"

namespace lockstep::sass {

/// Lanes for which the guard and the instruction's own predicate hold.
inline std::uint32_t condition(const Instruction& in, const Warp& warp) {
    return warp.mask & warp.read(in.ps[0]);
}

/// Offset of a target in bytes. sm_90 has 8 more bits below the field, at 16-23 (nvdisasm, probed).
inline std::int64_t target_offset(const Binder& binder) {
    const std::int64_t field = binder.word.signed_bits(34, 48);
    if (binder.arch < 90) return field * 4;
    return (field * 256 + static_cast<std::int64_t>(binder.word.bits(16, 8))) * 4;
}

/// Sets out.immediate to the code index of a relative target; false where no code lies there.
inline bool bind_relative_target(Binder& binder) {
    const std::int64_t bytes =
        (std::int64_t{binder.index} + 1) * Word::kBytes + target_offset(binder);
    if (bytes < 0 || bytes % Word::kBytes != 0) return false;
    binder.out.immediate = static_cast<std::uint64_t>(bytes) / Word::kBytes;
    return binder.out.immediate < binder.code_count();
}

inline void bind_condition(Binder& binder) {
    binder.out.ps[0] = binder.source_predicate(87, 90);
}

/// BRA to a target that the instruction holds.
inline void execute_bra(const Instruction& in, Warp& warp) {
    branch(warp, condition(in, warp), static_cast<std::uint32_t>(in.immediate));
}

}  // namespace lockstep::sass
