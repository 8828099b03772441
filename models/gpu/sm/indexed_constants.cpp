// SPDX-License-Identifier: Apache-2.0
// The cache for LDC serves one address at a time to all lanes that ask for it (CUDA C Programming
// Guide, constant memory: requests to different addresses are split). Whether the lines are there
// the core has found out already: constant_delay.
#include "models/gpu/sm/indexed_constants.h"

#include <bit>

namespace lockstep::gpu {

namespace {

unsigned different_addresses(const sass::Access& access) {
    unsigned addresses = 0;
    for (std::uint32_t left = access.lanes; left != 0; ++addresses) {
        const std::uint64_t address = access.address[std::countr_zero(left)];
        for (unsigned l = 0; l < sass::kWarpSize; ++l)
            left &= ~(static_cast<std::uint32_t>(access.address[l] == address) << l);
    }
    return addresses;
}

}  // namespace

engine::Cycle IndexedConstants::load(engine::Cycle now, const MemoryInstruction& in) {
    const unsigned addresses = in.info->is_uniform_address ? 1 : different_addresses(in.access);
    const unsigned beyond = (std::max(1u, addresses) - 1) * p_.constant_address_cycles;
    const engine::Cycle start = std::max(now + in.constant_delay, free_);
    free_ = start + p_.constant_address_cycles + beyond;
    return start + p_.timing(*in.info).result + beyond;
}

}  // namespace lockstep::gpu
