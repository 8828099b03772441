// SPDX-License-Identifier: Apache-2.0
// What follows the sums: requantisation, the second operand, table, clamp, pooling, and the place
// in the SRAM.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isa/npu/semantics/elements.h"
#include "isa/npu/semantics/state.h"

namespace lockstep::npu {

/// multiplier * 2^-shift of each value, or one for all.
struct Scales {
    std::vector<std::int32_t> multipliers, shifts;  ///< one, or one a channel
};
/// values[i] = round(values[i] * scale), saturated to int32.
void rescale(std::span<std::int32_t> values, const Scales& scales, Rounding rounding);

class Output {
  public:
    /// Throws ProgramFault where a shift among the parameters is out of range.
    Output(const Instruction& instruction, State& state);

    /// The biases of all channels, or zeros; empty where the instruction has none.
    std::span<const std::int32_t> biases() const { return biases_; }

    /// Of the pixel (y, x) of the result: sums, biases added. Changes them.
    void put_sums(std::uint64_t y, std::uint64_t x, std::span<std::int32_t> sums);
    /// Values of the first operand, without zero point: combined, or rescaled. Changes them.
    void put_values(std::uint64_t y, std::uint64_t x, std::span<std::int32_t> values);
    /// What only lacks the zero point, table and clamp. Changes it.
    void put_results(std::uint64_t y, std::uint64_t x, std::span<std::int32_t> values);
    /// Pools, where the instruction does so, after all pixels.
    void finish();

  private:
    void combine(std::uint64_t y, std::uint64_t x, std::span<std::int32_t> a);
    void add(std::span<std::int32_t> a, std::span<std::int32_t> b);
    void look_up(std::span<std::int32_t> values) const;
    void store(std::uint64_t y, std::uint64_t x, std::span<const std::int32_t> values);
    void pool_pixel(std::uint64_t y, std::uint64_t x, std::span<std::int32_t> into) const;

    const Instruction& i_;
    State& state_;
    const Image result_, output_, operand_;
    const Rounding rounding_;
    const numerics::IntegerRange range_;
    const bool pools_;
    std::vector<std::int32_t> biases_, operand_values_, scratch_;
    Scales scales_, result_scale_;
    std::vector<std::int32_t> unpooled_;  // [y][x][channel]
    const std::uint8_t* table_ = nullptr;
};

}  // namespace lockstep::npu
