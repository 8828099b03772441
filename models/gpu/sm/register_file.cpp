// SPDX-License-Identifier: Apache-2.0
// Registers lie in banks by number; a bank has one read port. Allocate reserves the ports of the
// next `window` cycles and holds the pipeline where they do not suffice: bubbles, which issue does
// not foresee. The reuse cache holds one register by bank and operand slot: filled where the reuse
// bit is set, hit by the same warp's same register in the same slot, and forgotten at any other
// read there (Huerta et al., MICRO'25, sections 5.3 and 5.4). Reads of variable-latency
// instructions have lower priority and are not modelled as conflicts.
#include "models/gpu/sm/register_file.h"

#include <algorithm>

namespace lockstep::gpu {

engine::Cycle RegisterFile::allocate(engine::Cycle cycle, const StaticInstruction& in,
                                     std::uint16_t warp) {
    std::array<std::uint8_t, kMaxBanks> reads{};
    for (unsigned i = 0; i < in.operands; ++i) {
        const OperandRead& operand = in.operand[i];
        for (unsigned r = 0; r < operand.count; ++r) {
            const auto number = static_cast<std::uint8_t>(operand.first + r);
            const unsigned bank = number % banks_;
            Entry& entry = reuse_[bank][operand.slot];
            const bool hit = entry.warp == warp && entry.number == number;
            if (operand.reuse)
                entry = {warp, number};
            else
                entry.warp = 0xffff;
            if (!hit) ++reads[bank];
        }
    }
    engine::Cycle delay = 0;
    for (unsigned bank = 0; bank < banks_; ++bank) {
        if (reads[bank] == 0) continue;
        const engine::Cycle last =
            std::max(port_free_[bank], cycle) + reads[bank];  // first cycle after its reads
        const engine::Cycle limit = cycle + std::max<unsigned>(window_, reads[bank]);
        if (last > limit) delay = std::max(delay, last - limit);
    }
    for (unsigned bank = 0; bank < banks_; ++bank)
        if (reads[bank] != 0)
            port_free_[bank] = std::max(port_free_[bank], cycle + delay) + reads[bank];
    return delay;
}

}  // namespace lockstep::gpu
