// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sm/sleep.h"

#include <algorithm>
#include <bit>

#include "models/gpu/sm/kernel_run.h"

namespace lockstep::gpu {

/// NANOSLEEP: the duration, in ns, is a register (form 1) or an immediate. PTX allows anything from
/// 0 to twice the time.
engine::Cycle sleep_cycles(const SmParameters& parameters, const WarpContext& context,
                           std::uint32_t pc) {
    const sass::Warp& warp = *context.warp;
    const sass::Word& word = context.grid->run->launch->program->words()[pc];
    std::uint32_t nanoseconds = static_cast<std::uint32_t>(word.bits(32, 32));
    if (word.form() == 1) {
        const auto number = static_cast<unsigned>(word.bits(32, 8));
        nanoseconds =
            number == sass::kRegisterRZ
                ? 0
                : reinterpret_cast<const sass::Row*>(warp.bases[0])[sass::kRegisterRow + number]
                      .lane[std::countr_zero(warp.mask)];
    }
    constexpr double kLongest = 1e6;  // PTX ISA: at most 1 ms
    return static_cast<engine::Cycle>(std::min<double>(nanoseconds, kLongest) *
                                      parameters.clock_mhz / 1e3);
}

}  // namespace lockstep::gpu
