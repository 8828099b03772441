// SPDX-License-Identifier: Apache-2.0
// A machine of kind "npu" as numbers. Meanings: parameter_rows.cpp.
#pragma once

#include <cstdint>
#include <string>

#include "isa/npu/core_speed.h"
#include "isa/npu/program.h"
#include "isa/npu/semantics/state.h"
#include "models/memory/dram/policies.h"

namespace lockstep::config {
class Machine;
}

namespace lockstep::npu {

/// Which operands' widths let a multiplier work on several at once.
enum class Split : std::uint8_t { kNone, kWeights, kBoth };
inline constexpr config::Choice kSplits[] = {
    {"none", "never"},
    {"weights", "where the weights have so few bits"},
    {"both", "where both operands have"},
};

struct ArrayParameters {
    std::uint32_t inputs = 1, outputs = 1, pixels = 1;
    std::uint32_t stripe = 16, depthwise_taps = 1, latency = 0, winograd_values = 9;
    std::uint32_t lines_share_lanes = 1;
    bool taps_share_lanes = false, winograd = false, zero_skipping = false;
    Split split = Split::kNone;
    std::uint32_t macs() const { return inputs * outputs * pixels; }
};

struct DecoderParameters {
    std::uint32_t values = 1, bytes = 1;
};

struct OutputParameters {
    std::uint32_t values = 1, operand_values = 1, window_values = 1, softmax_cycles = 1;
    std::uint32_t latency = 0, move_bytes = 1, neighbour_values = 0;
};

inline constexpr std::uint32_t kMaxBanks = 64;

struct SramParameters {
    std::uint64_t bytes = 0;
    std::uint32_t banks = 1, width = 16, ports = 1;
    bool keeps_results = true;
};

/// How a processor programs commands by writing registers; cycles == 0: they come from memory.
struct RegisterParameters {
    std::uint32_t cycles = 0;             ///< of a write
    std::uint32_t array = 0, output = 0;  ///< writes of a command
    std::uint32_t groups = 0;  ///< commands of a core that have registers at once; 0: any number
    std::uint32_t interrupt = 0;
};

struct DmaParameters {
    std::uint32_t setup = 0, chunk = 256, outstanding = 4;
};

struct MemoryParameters {
    std::string standard;
    std::uint32_t bus_bits = 0, ranks = 1, granule = 1;
    double clock_mhz = 0, latency_ns = 0;
    std::uint64_t bytes = 0;
    memory::dram::Policies policies;
};

/// The processor that the NPU shares its chip and memory with.
struct HostParameters {
    double interrupt_ns = 0, gflops = 1, memory_gb_per_s = 1;
};

struct Parameters {
    double clock_mhz = 1;
    std::uint32_t cores = 1;
    bool clock_gating = true;
    ArrayParameters array;
    DecoderParameters decoder;
    OutputParameters output;
    std::uint64_t accumulators = 0;  ///< bytes of a core
    SramParameters sram;
    std::uint32_t issue_interval = 1, queue_depth = 1;
    RegisterParameters registers;
    DmaParameters dma;
    MemoryParameters memory;
    HostParameters host;

    /// Throws InputError where the machine is no NPU or a name in it does not exist.
    explicit Parameters(const config::Machine& machine);

    CoreLimits limits() const;
    CoreSpeed speed() const;
};

/// From the interrupt to the host's answer: its driver wakes up, computes, and moves operands and
/// results through the shared memory, one after the other.
std::uint64_t host_cycles(const command::HostTask& task, const Parameters& parameters);

}  // namespace lockstep::npu
