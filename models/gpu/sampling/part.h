// SPDX-License-Identifier: Apache-2.0
// A part of a chip: so many of its SMs with their share of L2, of its bandwidth and of DRAM, on
// which a share of a grid's CTAs takes about the time that the whole takes on the chip. An SM is as
// it was, and so are latencies; what SMs share is cut in proportion.
#pragma once

#include <memory>
#include <vector>

#include "models/device.h"
#include "sim/config/machine.h"

namespace lockstep::gpu {

/// Whether part_of() can make one: of built-in machines, with whatever `--set` has changed.
bool has_parts(const config::Machine& machine);

/// SMs of the part that stands for a chip with so many: eight, for of fewer the channels are hit
/// unevenly, and more are no nearer to the chip; 0: it has fewer than two such parts.
std::uint32_t part_sms(std::uint32_t sms);
/// Those of another part, to compare with: half as many more, if the chip has room for both.
std::uint32_t second_part_sms(std::uint32_t sms);

/// The machine with `sms` SMs instead of its own.
std::shared_ptr<const config::Machine> part_of(const config::Machine& whole, std::uint32_t sms);

/// CTAs of a grid for a part of a chip: in proportion, so that the SM which gets most gets as many
/// as on the whole chip.
std::uint64_t share_of(std::uint64_t ctas, std::uint64_t sms, std::uint64_t part_sms);

/// So many CTAs of the grid, in the order of the grid: a block of it that is cut out where it is
/// longest. CTAs in a row or a column read the same operand; cut so, a block has less of the larger
/// operand and all of the smaller one. `number`: blocks that lie before it; empty: there is no room
/// for it.
std::vector<std::uint64_t> block_of(const sass::Dim3& grid, std::uint64_t ctas,
                                    std::uint64_t number = 0);

}  // namespace lockstep::gpu
