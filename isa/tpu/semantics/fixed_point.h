// SPDX-License-Identifier: Apache-2.0
// Integer results by multiplier and shift (rounding=fixed_point): sim/numerics/requantise.h with
// the limits of an element type. Stored integers of 16 bits and less pass between the pipeline's
// stages as fp32, which holds them exactly.
#pragma once

#include "isa/tpu/semantics/state.h"
#include "sim/error/error.h"
#include "sim/numerics/requantise.h"

namespace lockstep::tpu {

inline numerics::IntegerRange range_of(DataType type) {
    switch (type) {
        case DataType::kInt8:
            return {-128, 127};
        case DataType::kUint8:
            return {0, 255};
        default:
            return {-32768, 32767};
    }
}

/// Multiplier and shift as they stand in the unified buffer; ProgramFault where they are none.
inline numerics::FixedPointScale checked_scale(std::int32_t multiplier, std::int32_t shift) {
    if (shift < 1 || shift > 62)
        throw ProgramFault(fmt::format("a shift of {} in the parameters (1 to 62)", shift));
    return {multiplier, shift};
}

/// What follows the rounding: relu, then the table.
class FixedPointTail {
  public:
    FixedPointTail(const Instruction& instruction, bool relu, std::int32_t zero, State& state)
        : range_(range_of(instruction.type(Field::kType))), relu_(relu), zero_(zero) {
        if (instruction.flag(Field::kHasTable))
            table_ = state.unified_buffer(instruction[Field::kTable]);
        is_signed_ = instruction.type(Field::kType) == DataType::kInt8;
    }
    float operator()(std::int32_t value) const {
        if (relu_) value = std::max(value, zero_);
        if (table_ == nullptr) return static_cast<float>(value);
        const std::uint8_t found = table_[value - range_.low];
        return is_signed_ ? static_cast<float>(static_cast<std::int8_t>(found))
                          : static_cast<float>(found);
    }

  private:
    numerics::IntegerRange range_;
    bool relu_, is_signed_;
    std::int32_t zero_;
    const std::uint8_t* table_ = nullptr;
};

}  // namespace lockstep::tpu
