// SPDX-License-Identifier: Apache-2.0
// How a command's multiplications are laid over the MAC array, and how many cycles they take there:
// the closed form that the netlist (mac_array/) and a step-by-step test hold.
//
// The array has `outputs` x `inputs` x `pixels` multipliers of 8 bits. A position is up to `pixels`
// neighbouring pixels of a row. Outputs are taken in groups, positions in stripes, whose sums the
// accumulators hold. For each stripe and group, step by step (a tap and some input channels), the
// step's weights stay while the stripe's positions pass, one a cycle; the decoder meanwhile makes
// the next step's weights. So a step lasts as long as the stripe is, or the decoder needs.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "models/npu/parameters.h"

namespace lockstep::npu {

/// Values of 8, 4 or 2 bits that a multiplier works on at once: 1, 2 or 4.
std::uint32_t split_factor(const Instruction& instruction, const ArrayParameters& array);

/// Kernel rows whose taps the array takes at once, of an input of few channels: 1, 2 or 4. A row's
/// inputs, and those that a window moves over, must fit the share of the lanes.
std::uint64_t lines_together(const Instruction& instruction, const ArrayParameters& array,
                             std::uint64_t lanes);

/// Steps of a kind, one after the other.
struct Steps {
    std::uint64_t count = 0;
    std::uint64_t inputs = 0;   ///< input values that an output takes in one
    std::uint64_t weights = 0;  ///< that the decoder gives for one
    std::uint64_t decode = 0;   ///< cycles that it takes for them
    bool operator==(const Steps&) const = default;
};

struct OutputGroup {
    std::uint64_t outputs = 0;
    std::vector<Steps> steps;
};

struct ArrayPlan {
    std::uint64_t pixels = 0;     ///< of the result
    std::uint64_t positions = 0;  ///< in stripes of `stripe`
    std::uint64_t stripe = 1;
    std::vector<OutputGroup> groups;
    std::uint32_t split = 1;  ///< split_factor

    /// Pixels of the positions before this one.
    std::uint64_t pixels_before(std::uint64_t position) const;

    // What pixels_before() needs.
    std::uint64_t height = 0, width = 0, rows_a_position = 1, pixels_a_position = 1;
};

/// Of an instruction of the array. `used_inputs`: of WeightMatrix, where zeros are skipped; else
/// empty.
ArrayPlan plan_array(const Instruction& instruction, const Parameters& parameters,
                     std::span<const std::uint32_t> used_inputs);

struct ArrayTime {
    std::uint64_t cycles = 0;  ///< until the last result has left the accumulators
    std::uint64_t active = 0;  ///< a position passed
    std::uint64_t decode_stall = 0, output_stall = 0;
    std::uint64_t steps = 0;    ///< of all stripes and groups
    std::uint64_t decoded = 0;  ///< weights, as often as they are
    std::uint64_t stripes = 0;
};

/// `values_a_cycle`: that the output pipeline takes; 0: sums are kept, nothing leaves.
ArrayTime array_time(const ArrayPlan& plan, std::uint32_t values_a_cycle);

}  // namespace lockstep::npu
