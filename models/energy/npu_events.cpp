// SPDX-License-Identifier: Apache-2.0
// What costs energy on an NPU.
#include <cmath>

#include "models/energy/events.h"

namespace lockstep::energy {

namespace {

constexpr double kByteBits = 8, kKibi = 1024.0, kMebi = 1024.0 * 1024;

constexpr std::string_view kValues = "lockstep__toggled.pct";

/// Bits of SRAM as bits of banks of 32 KiB, which energy.sram_bit is the price of. 64 bits of 8 KB,
/// 32 KB and 1 MB cost 7.5, 8.5 and 14 pJ at 7 nm (Jouppi et al., ISCA'21, table 2, recalled):
/// bytes to the power of 0.144.
double sram_bits(const Counts& c) {
    constexpr double kBank = 32 * kKibi, kExponent = 0.144;
    const double bank = c.parameter("sram.size") / c.parameter("sram.banks");
    return (c["lockstep__sram_bytes_read"] + c["lockstep__sram_bytes_write"]) * kByteBits *
           std::pow(bank / kBank, kExponent);
}

constexpr Event kEvents[] = {
    {"mac_array", "mac_8bit", "a product of 8 bits and its addition",
     [](const Counts& c) { return c["lockstep__macs_8bit"]; }, kValues},
    {"mac_array", "mac_4bit", "a product of 4 bits and its addition",
     [](const Counts& c) { return c["lockstep__macs_4bit"]; }, kValues},
    {"mac_array", "mac_2bit", "a product of 2 bits and its addition",
     [](const Counts& c) { return c["lockstep__macs_2bit"]; }, kValues},
    {"clock", "array_clock", "a multiplier's registers for a cycle without a product",
     [](const Counts& c) {
         return (c["lockstep__array_idle_cycles"] - c["lockstep__array_gated_cycles"]) *
                c.parameter("array.inputs") * c.parameter("array.outputs") *
                c.parameter("array.pixels");
     },
     ""},
    {"accumulators", "accumulator", "an accumulator's read and write",
     [](const Counts& c) { return c["lockstep__accumulator_updates"]; }, kValues},
    {"weight_decoder", "weight", "a weight decoded and put into the array's registers",
     [](const Counts& c) { return c["lockstep__decoded_weights"]; }, kValues},
    {"noc", "noc_bit", "a bit on its way between SRAM and cores",
     [](const Counts& c) {
         return (c["lockstep__noc_input_bytes"] + c["lockstep__noc_weight_bytes"] +
                 c["lockstep__noc_output_bytes"]) *
                kByteBits;
     },
     kValues},
    {"sram", "sram_bit", "a bit from or to a bank of 32 KiB", sram_bits, kValues},
    {"output_pipeline", "output_value", "a value requantised, combined and clamped",
     [](const Counts& c) { return c["lockstep__output_values"]; }, kValues},
    {"sequencer", "npu_instruction", "an instruction: fetch, decode, issue",
     [](const Counts& c) { return c["lockstep__instructions"]; }, ""},
    {"dram", "dram_bit", "a bit from or to DRAM, its row open",
     [](const Counts& c) { return (c["dram_bytes_read"] + c["dram_bytes_write"]) * kByteBits; },
     kValues},
    {"dram", "dram_activate", "a row of DRAM opened and closed",
     [](const Counts& c) { return c["lockstep__dram_activates"]; }, ""},
    {"dram", "dram_refresh", "a refresh command of DRAM",
     [](const Counts& c) { return c["lockstep__dram_refreshes"]; }, ""},
};

double seconds_of(const Counts& counts) {
    constexpr double kMega = 1e6;
    return counts["cycles"] / (counts.parameter("clock.core") * kMega);
}

constexpr Part kParts[] = {
    {"mac_array", "a multiplier of 8 bits with its adder and registers",
     [](const config::Machine& m) {
         return m.number("cores") * m.number("array.inputs") * m.number("array.outputs") *
                m.number("array.pixels");
     }},
    {"sram", "a mebibyte of SRAM",
     [](const config::Machine& m) { return m.number("sram.size") / kMebi; }},
    {"other", "sequencer, DMA, output pipeline and the rest of a core",
     [](const config::Machine& m) { return m.number("cores"); }},
};

}  // namespace

Tables npu_tables() {
    return {kEvents, kParts, seconds_of};
}

}  // namespace lockstep::energy
