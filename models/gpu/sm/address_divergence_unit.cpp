// SPDX-License-Identifier: Apache-2.0
// The cache for LDC serves one address at a time to all lanes that ask for it (CUDA C Programming
// Guide, constant memory: requests to different addresses are split). Whether the lines are there
// the core has found out already; an instruction whose lines are not waits beside the port, others
// pass it.
#include "models/gpu/sm/address_divergence_unit.h"

#include <algorithm>
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

engine::Cycle AddressDivergenceUnit::take(engine::Cycle now, const MemoryInstruction& in) {
    const unsigned addresses = in.info->is_uniform_address ? 1 : different_addresses(in.access);
    const unsigned beyond = (std::max(1u, addresses) - 1) * p_.constant_address_cycles;
    free_ = now + p_.constant_address_cycles + beyond;
    const unsigned cycles = p_.timing(*in.info).result + beyond;
    if (in.constants != MemoryInstructionHeader::kNoConstants) {
        Waiting& waiting = waiting_[in.constants];
        if (waiting.missing != 0) {
            waiting.has_come = true;
            waiting.start = now;
            waiting.cycles = cycles;
            waiting.instruction = in;
            return engine::kNever;
        }
        waiting = {};
    }
    return now + cycles;
}

std::uint16_t AddressDivergenceUnit::await() {
    auto free = std::find_if(waiting_.begin(), waiting_.end(),
                             [](const Waiting& waiting) { return !waiting.is_used; });
    if (free == waiting_.end()) free = waiting_.insert(free, Waiting{});
    free->is_used = true;
    return static_cast<std::uint16_t>(free - waiting_.begin());
}

std::optional<AddressDivergenceUnit::Done> AddressDivergenceUnit::arrived(engine::Cycle now,
                                                                          std::uint16_t number) {
    Waiting& waiting = waiting_[number];
    if (--waiting.missing != 0 || !waiting.has_come) return std::nullopt;
    const Done done{std::max(now, waiting.start) + waiting.cycles, waiting.instruction};
    waiting = {};
    return done;
}

}  // namespace lockstep::gpu
