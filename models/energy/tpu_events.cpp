// SPDX-License-Identifier: Apache-2.0
// What costs energy on a TPU core.
#include "models/energy/events.h"

namespace lockstep::energy {

namespace {

constexpr double kByteBits = 8, kAccumulatorBits = 32;

constexpr std::string_view kArray = "lockstep__toggle_rate_array.pct";

/// The first generation's operands are int8, those of the others bf16.
double operand_bits(const Counts& counts) {
    return counts.parameter("generation") == 1 ? 8 : 16;
}

double seconds_of(const Counts& counts) {
    constexpr double kMega = 1e6;
    return counts["cycles"] / (counts.parameter("clock.core") * kMega);
}

constexpr Event kEvents[] = {
    {"matrix_unit", "mac", "a multiply-add of a PE, its registers included",
     [](const Counts& c) { return c["lockstep__mapped_macs"]; }, kArray},
    {"accumulators", "accumulator_bit", "a bit from or to the accumulators",
     [](const Counts& c) {
         return (c["lockstep__accumulator_writes"] + c["lockstep__accumulator_reads"]) *
                kAccumulatorBits;
     },
     kArray},
    {"weights", "weight_bit", "a bit of a weight on its way from the FIFO into a PE",
     [](const Counts& c) { return c["lockstep__array_weight_reads"] * operand_bits(c); }, kArray},
    {"unified_buffer", "buffer_bit", "a bit from or to the unified buffer or VMEM",
     [](const Counts& c) {
         return c["lockstep__unified_buffer_accesses"] * c.parameter("unified_buffer.width") *
                kByteBits;
     },
     kArray},
    {"vector", "vector_lane", "a lane of the vector unit for a cycle",
     [](const Counts& c) {
         return c["lockstep__vector_busy_cycles"] * c.parameter("vector.lanes") *
                c.parameter("vector.sublanes");
     },
     kArray},
    {"sequencer", "instruction", "an instruction: fetch, decode, issue",
     [](const Counts& c) { return c["lockstep__instructions"]; }, ""},
    {"dram", "dram_bit", "a bit from or to DRAM, the controller's way included",
     [](const Counts& c) { return (c["dram_bytes_read"] + c["dram_bytes_write"]) * kByteBits; },
     kArray},
    {"host_link", "host_bit", "a bit over the host link",
     [](const Counts& c) {
         return (c["lockstep__host_bytes_read"] + c["lockstep__host_bytes_write"]) * kByteBits;
     },
     kArray},
};

constexpr double kMebi = 1024.0 * 1024, kAccumulatorBytes = 4;

constexpr Part kParts[] = {
    {"matrix_unit", "a PE",
     [](const config::Machine& m) {
         return m.number("array.units") * m.number("array.rows") * m.number("array.columns");
     }},
    {"accumulators", "a mebibyte of accumulators",
     [](const config::Machine& m) {
         return m.number("array.units") * m.number("accumulators.rows") *
                m.number("array.columns") * kAccumulatorBytes / kMebi;
     }},
    {"unified_buffer", "a mebibyte of the unified buffer or VMEM",
     [](const config::Machine& m) { return m.number("unified_buffer.size") / kMebi; }},
    {"vector", "a lane of the vector unit",
     [](const config::Machine& m) {
         return m.number("vector.lanes") * m.number("vector.sublanes");
     }},
    {"other", "interfaces, control, what the rest is", [](const config::Machine&) { return 1.0; }},
};

}  // namespace

Tables tpu_tables() {
    return {kEvents, kParts, seconds_of};
}

}  // namespace lockstep::energy
