// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/execution/mbarrier_report.h"

#include <fmt/format.h>

#include <bit>
#include <cstring>

#include "isa/sass/cluster.h"
#include "isa/sass/program.h"
#include "isa/sass/semantics/address.h"
#include "isa/sass/semantics/mbarrier.h"

namespace lockstep::gpu {

std::string describe_mbarrier(const sass::Cta& cta, std::uint32_t offset) {
    std::uint64_t bits = 0;
    if (offset + std::uint64_t{sizeof bits} > cta.launch->shared_bytes)
        return fmt::format("an mbarrier at shared address {:#x}, outside of shared memory", offset);
    std::memcpy(&bits, cta.shared + offset, sizeof bits);
    const sass::Mbarrier barrier(bits);
    std::string missing = fmt::format("{} of {} arrivals", barrier.pending(), barrier.expected());
    if (barrier.transactions() > 0)
        missing += fmt::format(" and {} bytes", barrier.transactions());
    else if (barrier.transactions() < 0)
        missing +=
            fmt::format(", {} bytes more have come than were expected", -barrier.transactions());
    return fmt::format("phase {} of the mbarrier at shared address {:#x} ({} are missing)",
                       int{barrier.phase()}, offset, missing);
}

std::string describe_phase_check(sass::Warp& warp, std::uint32_t pc) {
    const sass::Instruction& in = warp.cta->launch->program->code()[pc];
    if (!sass::is_phase_check(in)) return "";
    std::uint32_t lanes = warp.active & (warp.predicate[in.guard] ^ in.guard_invert);
    if (lanes == 0) lanes = warp.active;
    if (lanes == 0) return "";
    const std::uint32_t mask = warp.mask;
    warp.mask = lanes;
    sass::compute_addresses(in, warp);
    warp.mask = mask;
    const auto address = static_cast<std::uint32_t>(warp.access.address[std::countr_zero(lanes)]);
    return describe_mbarrier(*warp.cta, sass::own_shared_offset(*warp.cta, address));
}

}  // namespace lockstep::gpu
