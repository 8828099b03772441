// SPDX-License-Identifier: Apache-2.0
// Which ranges an instruction reads and writes: what waits are computed from, and what the model
// checks bounds and missing waits with.
#pragma once

#include <array>
#include <cstdint>
#include <span>

#include "isa/tpu/instruction.h"

namespace lockstep::tpu {

/// [begin, end) in bytes; in rows for the accumulators. Strided accesses are one range around all.
struct Access {
    Space space;
    bool write;
    std::uint64_t begin, end;
};

class Footprint {
  public:
    std::span<const Access> accesses() const { return {list_.data(), count_}; }
    void add(Space space, bool write, std::uint64_t begin, std::uint64_t end) {
        if (begin < end) list_[count_++] = {space, write, begin, end};
    }

  private:
    std::array<Access, 6> list_{};
    std::size_t count_ = 0;
};

/// Sums in the array (os) and rows that it holds (is) are no space: a matrix unit works in order.
/// Of a gather, the table in memory is left out: its rows are known only when it runs.
Footprint footprint(const Instruction& instruction);

inline bool is_fixed_point(const Instruction& instruction) {
    return instruction.as<Rounding>(Field::kRounding) == Rounding::kFixedPoint;
}

/// Of the matrix instructions.
inline Dataflow dataflow_of(const Instruction& instruction) {
    return instruction.as<Dataflow>(Field::kDataflow);
}

/// Whether the rows of a convolution do not lie in the unified buffer as they enter the array.
bool slides(const Instruction& instruction);
/// Whether such rows must also be moved within vector registers of so many lanes: pixels that fill
/// whole registers are loaded from wherever they lie.
inline bool packs(const Instruction& instruction, std::uint64_t register_lanes) {
    return slides(instruction) && instruction[Field::kChannels] % register_lanes != 0;
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

/// What is wrong with the numbers of an instruction by itself (a zero stride, a type that the
/// instruction does not take); empty where nothing is.
std::string check_operands(const Instruction& instruction);

}  // namespace lockstep::tpu
