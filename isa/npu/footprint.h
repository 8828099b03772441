// SPDX-License-Identifier: Apache-2.0
// Which ranges an instruction reads and writes, and the images that its fields describe.
#pragma once

#include <cstdint>

#include "isa/command/footprint.h"
#include "isa/npu/instruction.h"

namespace lockstep::npu {

using command::Access;
using command::check_operands;
using command::Footprint;
using command::footprint;

/// Values of an image [height][width][channels] in the SRAM.
struct Image {
    std::uint64_t address = 0;
    ElementType type = ElementType::kInt8;
    std::uint64_t height = 1, width = 1, channels = 1;
    std::uint64_t row = 0, pixel = 0;  ///< bytes from one to the next

    /// Bytes of the channels of a pixel.
    std::uint64_t run() const { return packed_bytes(channels, type); }
    std::uint64_t values() const { return height * width * channels; }
    /// Bytes that hold values.
    std::uint64_t bytes() const { return height * width * run(); }
    std::uint64_t end() const { return address + (height - 1) * row + (width - 1) * pixel + run(); }
    bool empty() const { return height == 0 || width == 0 || channels == 0; }
};

Image input_of(const Instruction& instruction);
/// What is stored.
Image output_of(const Instruction& instruction);
/// Sums or values before pooling: out_height x out_width x channels of the result.
Image result_of(const Instruction& instruction);
/// The second operand as it lies there, and for matrix_multiply the matrix: a row of it a `row`.
Image operand_of(const Instruction& instruction);
bool has_operand(const Instruction& instruction);

/// Of the array: multiply-adds of the instruction, padding counted.
std::uint64_t macs_of(const Instruction& instruction);
/// Values in the instruction's weight stream; 0 where it has none.
std::uint64_t weights_of(const Instruction& instruction);
/// Bytes of bias, multipliers and shifts that it reads.
std::uint64_t parameter_bytes(const Instruction& instruction);

/// The sides of a fused pooling's padding, from pool_pads.
struct PoolPads {
    std::uint64_t top, left, bottom, right;
};
PoolPads pool_pads(const Instruction& instruction);

}  // namespace lockstep::npu
