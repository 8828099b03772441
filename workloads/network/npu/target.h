// SPDX-License-Identifier: Apache-2.0
// What the compiler must know of an NPU, and how long it takes it that things take.
#pragma once

#include <cstdint>

#include "workloads/network/reference/quantised.h"

namespace lockstep::network {

struct NpuTarget {
    std::uint64_t sram_bytes = 1 << 20;
    std::uint32_t cores = 1;
    /// Multipliers of a core: so many input channels of so many output channels, for so many pixels
    /// of a row, each cycle.
    std::uint32_t array_inputs = 32, array_outputs = 32, array_pixels = 1;
    std::uint32_t depthwise_taps = 1;
    bool taps_share_lanes = false;
    std::uint32_t lines_share_lanes = 1;
    /// 3x3 convolutions of stride 1 are computed by F(2x2, 3x3); a kernel takes so many values of a
    /// weight stream: 9, or 16 where it is stored transformed.
    bool winograd = false;
    std::uint32_t winograd_values = 9;
    /// A multiplier works on several values at once where weights, or weights and activations, have
    /// fewer than 8 bits.
    bool splits_for_weights = false, splits_for_both = false;
    std::uint64_t accumulator_bytes = 0;  ///< of a core: sums that it may keep between commands
    double output_values = 16;            ///< that a core's output pipeline takes a cycle
    double window_values = 16;            ///< of pooling windows a cycle
    double neighbour_values = 0;          ///< of a local response normalisation a cycle; 0: no unit
    double move_bytes = 16;               ///< within the SRAM a cycle
    double memory_bytes = 16;             ///< a cycle
    double memory_latency = 100, transfer_setup = 10, command_cycles = 30;  ///< cycles
    double programming_cycles = 0;  ///< of a command, beside the one before
    bool compresses_weights = true;
    bool keeps_values = true;  ///< values may stay in the SRAM between layers
    bool cascades = true;      ///< layers may run in turn on parts of an image
    Requantisation requantisation = Requantisation::kTfLite;
};

}  // namespace lockstep::network
