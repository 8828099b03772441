// SPDX-License-Identifier: Apache-2.0
// How long a core takes for a command where nothing is in its way, and what it moves meanwhile.
#pragma once

#include <cstdint>
#include <span>

#include "models/npu/array_plan.h"

namespace lockstep::npu {

struct CommandTime {
    std::uint64_t cycles = 0;   ///< that the core is busy
    std::uint64_t latency = 0;  ///< from there to the last result in the SRAM
    ArrayTime array;            ///< of the array's commands
    std::uint32_t split = 1;

    // Of the SRAM, bytes.
    std::uint64_t input_bytes = 0, weight_bytes = 0, operand_bytes = 0, parameter_bytes = 0;
    std::uint64_t output_bytes = 0;

    // Of the registers and adders, values.
    std::uint64_t accumulator_updates = 0, output_values = 0;
    std::uint64_t executed_macs = 0;  ///< products that the array forms

    std::uint64_t read_bytes() const {
        return input_bytes + weight_bytes + operand_bytes + parameter_bytes;
    }
};

/// Values that the output pipeline takes of the instruction's in a cycle; 0: sums are kept.
std::uint32_t output_rate(const Instruction& instruction, const OutputParameters& output);

/// Registers that a processor writes for a core's command; 0 where it comes from memory.
std::uint64_t register_writes(const Instruction& instruction, const RegisterParameters& registers);

/// `used_inputs` as plan_array.
CommandTime command_time(const Instruction& instruction, const Parameters& parameters,
                         std::span<const std::uint32_t> used_inputs = {});

}  // namespace lockstep::npu
