// SPDX-License-Identifier: Apache-2.0
// A machine of kind "tpu" as numbers. Meanings: parameter_rows.cpp.
#pragma once

#include <algorithm>
#include <string>

#include "isa/tpu/core_speed.h"
#include "isa/tpu/program.h"
#include "isa/tpu/semantics/state.h"
#include "models/memory/banks/bank_arbiter.h"
#include "models/memory/dram/policies.h"
#include "models/tpu/systolic/schedule.h"

namespace lockstep::config {
class Machine;
}

namespace lockstep::tpu {

struct VectorParameters {
    std::uint32_t lanes = 1, sublanes = 1;
    bool fixed_function = true;
    std::uint32_t alu_slots = 1, load_slots = 1, store_slots = 1;
    std::uint32_t conversion_ops = 0, transcendental_ops = 1, divide_ops = 1;
    std::uint32_t cross_lane_cycles = 1, cross_lane_latency = 0, window_cycles = 0,
                  transpose_rows = 1, latency = 0;
    std::uint32_t registers = 32, loop_registers = 0;
};

using UnifiedBufferParameters = memory::BankParameters;

struct DmaParameters {
    std::uint32_t setup = 0, chunk = 65536, outstanding = 4;
};

struct MemoryParameters {
    std::string standard;
    std::uint32_t bus_bits = 0, ranks = 1, granule = 1;
    memory::dram::Policies policies;
    double clock_mhz = 0, latency_ns = 0;
    std::uint64_t bytes = 0;

    /// Throws InputError where there is no such standard, or it has no such bus.
    memory::dram::Geometry geometry() const;
    bool operator==(const MemoryParameters&) const = default;
};

/// Of the computer that the board is in.
struct HostParameters {
    double interrupt_ns = 0, gflops = 1, memory_gb_per_s = 1;
};

enum class Requantisation : std::uint8_t { kFp32, kFixedPoint };
inline constexpr config::Choice kRequantisations[] = {
    {"fp32", "products, ties to even"},
    {"fixed_point", "multiplier and shift, ties up"},
};

struct Parameters {
    int generation = 1;
    double clock_mhz = 1;
    ArrayShape array;
    Overlap overlap = Overlap::kDouble;
    std::uint32_t units = 1, weight_fifo = 1;
    bool whole_tiles = false;
    std::uint32_t accumulator_rows = 0;
    std::uint64_t unified_buffer = 0;
    UnifiedBufferParameters banks;
    VectorParameters vector;
    Requantisation requantisation = Requantisation::kFp32;
    bool fixed_point = false;      ///< how the compiler has int8 requantised
    double resident_share = 0;     ///< of the unified buffer, for the compiler's values that stay
    std::uint64_t full_tiles = 0;  ///< bytes of a value from which its tiles fill registers
    std::uint64_t window = 0;      ///< bytes of an operand that pass at a time; 0: a sixteenth
    std::uint32_t issue_interval = 1, tag_cycles = 0, queue_depth = 1;
    DmaParameters dma;
    MemoryParameters memory;
    double host_gb_per_s = 1, host_latency_ns = 0;
    HostParameters host;

    /// Throws InputError where the machine is no TPU or a name in it does not exist.
    explicit Parameters(const config::Machine& machine);

    CoreLimits limits() const;
    CoreSpeed speed() const;
    /// Requests of a DMA queue that can be under way: those of all the instructions that wait.
    std::uint32_t dma_requests() const { return std::max(dma.outstanding, queue_depth); }
};

/// From the interrupt to the host's answer: its driver wakes up, computes, and moves all operands
/// and results of its operators through its memory, one after the other.
std::uint64_t host_cycles(const HostTask& task, const Parameters& parameters);

}  // namespace lockstep::tpu
