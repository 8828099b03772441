// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sm/constant_loads.h"

#include <bit>

namespace lockstep::gpu {

void ConstantLoads::request(const StaticInstruction& in, const WarpContext& context,
                            MemoryInstruction& entry, engine::Cycle at) {
    const sass::Warp& warp = *context.warp;
    const MemoryInstructionInfo& info = *entry.info;
    const auto look_up = [&](std::uint32_t line) {
        line += context.constant_offset;
        if (cache_.request(at, line)) return;
        if (entry.constants == MemoryInstructionHeader::kNoConstants)
            entry.constants = memory_->await_constants();
        memory_->await_constants(entry.constants);
        awaited_.emplace_back(line, entry.constants);
    };
    if (info.is_uniform_address) {  // execution notes no access where the offset is known
        entry.access.space = sass::Space::kConstant;
        entry.access.lanes = warp.mask;
        entry.access.width = info.width;
        return look_up(in.constant_line);
    }
    std::uint32_t last = WarpContext::kNoLine;
    for (std::uint32_t lanes = warp.access.lanes; lanes != 0; lanes &= lanes - 1) {
        const std::uint64_t offset = warp.access.address[std::countr_zero(lanes)] & 0xffff;
        const std::uint64_t address = std::uint64_t{info.constant_bank} << 16 | offset;
        const auto line = static_cast<std::uint32_t>(address / parameters_.constant_line);
        if (line != last) look_up(line);
        last = line;
    }
}

void ConstantLoads::arrived(std::uint32_t line, engine::Cycle now) {
    cache_.arrived(now, line);
    std::erase_if(awaited_, [&](const auto& awaited) {
        if (awaited.first != line) return false;
        memory_->constants_arrived(now, awaited.second);
        return true;
    });
}

}  // namespace lockstep::gpu
