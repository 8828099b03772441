// SPDX-License-Identifier: Apache-2.0
// The MAC array as a SystemC netlist: an sc_module an output lane, a decoder, a sequencer and an
// output stage, with sc_signals between them. For looking at wires, and as a judge of array_time:
// it goes cycle by cycle and knows no formula.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "models/npu/array_plan.h"

namespace lockstep::npu {

/// Lanes a side, positions of a stripe, pixels of a position that the netlist may have at most.
inline constexpr std::uint32_t kLargestArray = 32;

/// The operands of a convolution, without their zero points.
struct NetlistOperands {
    /// Of the input, zero outside of it.
    std::function<std::int32_t(std::int64_t y, std::int64_t x, std::uint64_t channel)> input;
    std::function<std::int32_t(std::uint64_t output, std::uint64_t ky, std::uint64_t kx,
                               std::uint64_t channel)>
        weight;
};

struct NetlistResult {
    std::uint64_t cycles = 0;
    std::vector<std::int32_t> sums;  ///< [pixel][output], biases not added
};

/// Whether the netlist can show an array of this size at all.
bool netlist_fits(const Parameters& parameters);
/// Why the netlist cannot show this instruction on this array; empty where it can.
std::string check_netlist(const Instruction& instruction, const Parameters& parameters);

/// Runs a `convolve`; check_netlist() must have passed. `values_a_cycle` as array_time. `vcd`: the
/// file of the trace, in which a clock cycle is 1 ns; empty: none. Throws InputError where it
/// cannot be written.
NetlistResult run_netlist(const Instruction& instruction, const Parameters& parameters,
                          const NetlistOperands& operands, std::uint32_t values_a_cycle,
                          const std::string& vcd = "");

}  // namespace lockstep::npu
