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

/// SMs of the part that stands for a chip with so many: an eleventh, whole TPCs, but
/// eight at least, for few channels are hit unevenly; 0: the chip is too small for that.
std::uint32_t part_sms(std::uint32_t sms);

/// By how much, in percent, a launch's time on a part may be off: the most that was seen in
/// models/gpu/sampling/README.md.
inline constexpr double kPartError = 16;

/// The machine with `sms` SMs instead of its own.
std::shared_ptr<const config::Machine> part_of(const config::Machine& whole, std::uint32_t sms);

/// CTAs of a grid for a part of a chip: in proportion, so that the SM which gets most gets as many
/// as on the whole chip.
std::uint64_t share_of(std::uint64_t ctas, std::uint64_t sms, std::uint64_t part_sms);

/// So many CTAs of the grid, in the order of the grid: a block of it that is cut out where it is
/// longest. CTAs in a row or a column read the same operand; cut so, a block has less of the larger
/// operand and all of the smaller one.
std::vector<std::uint64_t> block_of(const sass::Dim3& grid, std::uint64_t ctas);

}  // namespace lockstep::gpu
