// SPDX-License-Identifier: Apache-2.0
// Words of constant bank 0 were read off what ptxas emits for the special registers.
#include "models/gpu/device/constant_bank.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "isa/sass/program.h"
#include "models/gpu/device/launch_check.h"
#include "models/gpu/device/module.h"

namespace lockstep::gpu {

std::uint32_t constant_bank0_bytes(const cubin::Function& kernel) {
    return std::max<std::uint32_t>({static_cast<std::uint32_t>(kernel.constant0.size()),
                                    kernel.parameter_base + kernel.parameter_bytes, 0x210});
}

void add_reserved_shared(sass::Launch& launch, std::span<std::byte> bank0) {
    // %reserved_smem_offset_1, where cooperative groups keep the scratch of tiles of several warps.
    // Bytes 0-3 belong to %reserved_smem_offset_0; the real offsets are not published.
    constexpr std::uint32_t kReserved = 1024, kOffset1 = 64, kAlignment = 16;
    // %total_smem_size is SR_SMEMSZ less c[0x0][0x114], %aggr_smem_size the lesser of SR_SMEMSZ and
    // c[0x0][0x13c], of which no limit below what a CTA may have is known.
    constexpr std::uint32_t kReservedSize = 0x114, kAggregateLimit = 0x13c, kNoLimit = ~0u;
    std::uint32_t place = 0x6c, begin = 0;
    if (launch.arch >= 90) {  // in front of the program's own
        launch.shared_bytes =
            std::max(launch.shared_bytes, kReserved + launch.dynamic_shared_bytes);
        std::memcpy(bank0.data() + kAggregateLimit, &kNoLimit, sizeof kNoLimit);
    } else {
        // Behind the program's own, and only where it is asked for: an access that runs over the
        // end of the program's is to be reported.
        place = 0x124;
        const auto& literals = launch.program->literals();
        const auto asks = [&](const sass::Literal& literal) {  // unoptimised code: by a register
            return literal.value == place && (!literal.is_constant || literal.bank == 0);
        };
        if (launch.arch < 80 || std::none_of(literals.begin(), literals.end(), asks)) return;
        begin = (launch.shared_bytes + kAlignment - 1) / kAlignment * kAlignment;
        launch.shared_bytes = begin + kReserved;
    }
    std::memcpy(bank0.data() + kReservedSize, &kReserved, sizeof kReserved);
    const std::uint32_t offset = begin + kOffset1;
    std::memcpy(bank0.data() + place, &offset, sizeof offset);
}

void set_constant_window(const sass::Launch& launch, std::span<std::byte> bank0) {
    const std::span<const std::byte> bank = launch.constant[kUserConstantBank];
    const std::uint64_t window =
        bank.empty() ? ~0ull : reinterpret_cast<std::uint64_t>(bank.data());
    std::memcpy(bank0.data() + (launch.arch >= 90 ? 0xd0 : 0x50), &window, sizeof window);
}

void fill_constant_bank0(std::span<std::byte> bank, std::uint64_t address, int arch,
                         const cubin::Function& kernel, const LaunchRequest& request,
                         const config::Machine& machine, std::uint32_t local_bytes,
                         std::uint64_t launch_id, std::uint64_t grid_workspace) {
    const auto constant0 = std::as_bytes(std::span(kernel.constant0));
    std::fill(std::copy(constant0.begin(), constant0.end(), bank.begin()), bank.end(),
              std::byte{0});
    const auto put32 = [&](std::uint32_t offset, std::uint32_t value) {
        std::memcpy(bank.data() + offset, &value, sizeof value);
    };
    const auto put64 = [&](std::uint32_t offset, std::uint64_t value) {
        std::memcpy(bank.data() + offset, &value, sizeof value);
    };
    const bool is_hopper = arch >= 90;
    const std::uint32_t dims[] = {request.block.x, request.block.y, request.block.z,
                                  request.grid.x,  request.grid.y,  request.grid.z};
    for (std::uint32_t i = 0; i < 6; ++i) put32(4 * i, dims[i]);
    put64(0x18, sass::kSharedWindow);
    put64(0x20, sass::kLocalWindow);
    put32(0x28, local_bytes);  // initial stack pointer: the end of local memory
    put32(0x2c, request.dynamic_shared_bytes);
    put64(0x30, launch_id);
    put32(0x10c, static_cast<std::uint32_t>(machine.integer("sm.count")));
    put64(is_hopper ? 0x208 : 0x118, 0);  // memory descriptor: has no effect here
    // %envreg1 and %envreg2: upper and lower half of the workspace of grid-wide synchronisation.
    put32(is_hopper ? 0x44 : 0x8c, static_cast<std::uint32_t>(grid_workspace >> 32));
    put32(is_hopper ? 0x48 : 0x90, static_cast<std::uint32_t>(grid_workspace));
    if (is_hopper) {
        // Whether clusters were asked for; CTAs of one by dimension, their reciprocals, clusters by
        // dimension; CTAs of one.
        const std::uint32_t cluster[] = {request.cluster.x, request.cluster.y, request.cluster.z};
        put32(0x140, is_clustered(kernel, request));
        for (std::uint32_t i = 0; i < 3; ++i) {
            put32(0x144 + 4 * i, cluster[i]);
            put32(0x150 + 4 * i,
                  std::bit_cast<std::uint32_t>(1.0f / static_cast<float>(cluster[i])));
            put32(0x15c + 4 * i, dims[3 + i] / cluster[i]);
        }
        put32(0x188, static_cast<std::uint32_t>(request.cluster.volume()));
        put64(0x198, address + kernel.parameter_base);
    } else {
        put64(0x40, address);  // pointers to parameters are made from it
    }
    const auto parameters = request.parameters.first(
        std::min<std::size_t>(request.parameters.size(), kernel.parameter_bytes));
    std::copy(parameters.begin(), parameters.end(), bank.begin() + kernel.parameter_base);
}

void LiteralTable::fill(const sass::Program& program,
                        const std::array<std::span<const std::byte>, 32>& constant) {
    const std::size_t known = rows_.size();
    rows_.resize(program.literals().size());
    for (std::size_t i = 0; i < rows_.size(); ++i) {
        const sass::Literal& literal = program.literals()[i];
        if (!literal.is_constant && i < known) continue;
        std::uint32_t value = literal.value;
        if (literal.is_constant) {
            value = 0;
            // A bank ends where its last parameter or variable does, be it within a word.
            const std::span<const std::byte> bank = constant[literal.bank];
            if (literal.value < bank.size())
                std::memcpy(&value, bank.data() + literal.value,
                            std::min(sizeof value, bank.size() - literal.value));
        }
        for (std::uint32_t& lane : rows_[i].lane) lane = value;
    }
}

}  // namespace lockstep::gpu
