// SPDX-License-Identifier: Apache-2.0
// Which ranges an instruction reads and writes, and other things that its fields say.
#pragma once

#include <array>
#include <cstdint>

#include "isa/command/footprint.h"
#include "isa/tpu/instruction.h"

namespace lockstep::tpu {

// Accesses are in bytes; in rows for the accumulators. Sums in the array (os) and rows that it
// holds (is) are no space: a matrix unit works in order. Of a gather, the table in memory is left
// out: its rows are known only when it runs.
using command::Access;
using command::check_operands;
using command::Footprint;
using command::footprint;
using command::Pattern;

inline bool is_fixed_point(const Instruction& instruction) {
    return instruction.as<Rounding>(Field::kRounding) == Rounding::kFixedPoint;
}

/// Of the matrix instructions.
inline Dataflow dataflow_of(const Instruction& instruction) {
    return instruction.as<Dataflow>(Field::kDataflow);
}

/// Whether the rows of a convolution do not lie in the unified buffer as they enter the array.
bool slides(const Instruction& instruction);
/// Whether several pixels share a vector register: those with at most half as many channels as it
/// has lanes. Others are padded to whole registers.
inline bool share_registers(std::uint64_t channels, std::uint64_t lanes) {
    return channels * 2 <= lanes;
}
/// Whether such rows must also be moved within vector registers: of pixels that share one. Others
/// are loaded from wherever they lie.
inline bool packs(const Instruction& instruction, std::uint64_t lanes) {
    return slides(instruction) && share_registers(instruction[Field::kChannels], lanes);
}
/// What tells the rows of a convolution apart from those of others.
using WindowRows = std::array<std::uint64_t, 7>;
WindowRows window_rows(const Instruction& instruction);

/// The number of output rows that `activate` stores: fewer than it reads where it pools.
std::uint64_t activate_output_rows(const Instruction& instruction);
/// Height or width of a pooled image.
inline std::uint64_t pooled(std::uint64_t size, std::uint64_t kernel, std::uint64_t stride,
                            std::uint64_t pads) {
    return size + pads < kernel || stride == 0 ? 0 : (size + pads - kernel) / stride + 1;
}

}  // namespace lockstep::tpu
