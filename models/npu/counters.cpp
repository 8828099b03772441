// SPDX-License-Identifier: Apache-2.0
#include "models/npu/counters.h"

#include "models/npu/parameters.h"

namespace lockstep::npu {

namespace {

using S = StepResult;
using command::percent;

double core_cycles(const S& s, const Parameters& p) {
    return double(s.cycles) * p.cores;
}
template <auto kMember>
double of_core_cycles(const S& s, const Parameters& p) {
    return percent(double(s.*kMember), core_cycles(s, p));
}
double utilization(const S& s, const Parameters& p) {
    return percent(double(s.useful_macs), core_cycles(s, p) * double(p.array.macs()));
}
double toggles(const S& s, const Parameters&) {
    return percent(double(s.toggled_bits), double(s.stored_bits));
}

constexpr CounterRow kRows[] = {
    {&S::cycles, "cycles", "cycle", "from the end of the step before to the end of this one"},
    {&S::useful_macs, "macs", "1", "multiply-adds that the step is for, padding not counted"},
    {utilization, "array_utilization.pct", "%",
     "macs of what the arrays could do of 8 bits in its cycles"},
    {&S::decode_stall, "stall_cycles.decode", "cycle",
     "arrays waited for the weight decoder to give the next step's weights"},
    {&S::output_stall, "stall_cycles.output", "cycle",
     "arrays waited for the output pipeline to take their sums"},
    {&S::bank_stall, "stall_cycles.bank", "cycle", "cores waited for banks of the SRAM"},
    {&S::dma_stall, "stall_cycles.dma", "cycle",
     "a core had nothing to do while its next instruction waited for a transfer"},
    {&S::core_stall, "stall_cycles.core", "cycle",
     "a core had nothing to do while its next instruction waited for another core"},
    {&S::issue_stall, "stall_cycles.issue", "cycle",
     "a core had nothing to do while its next instruction was still to be issued"},
    {&S::host_busy, "stall_cycles.host", "cycle", "the host worked on its tasks"},
    {&S::dram_bytes_read, "dram_bytes_read", "B", "read from DRAM, whole granules"},
    {&S::dram_bytes_written, "dram_bytes_write", "B", "written to DRAM, whole granules"},
    {&S::instructions, "lockstep__instructions", "1",
     "instructions but those that the sequencer does itself"},
    {&S::macs, "lockstep__mapped_macs", "1",
     "multiply-adds as the instructions say, those of padding counted"},
    {&S::macs_8, "lockstep__macs_8bit", "1", "products that the arrays form of 8 bits"},
    {&S::macs_4, "lockstep__macs_4bit", "1",
     "products that they form two to a multiplier (operands of 4 bits)"},
    {&S::macs_2, "lockstep__macs_2bit", "1",
     "products that they form four to a multiplier (operands of 2 bits)"},
    {&S::array_active, "lockstep__array_active_cycles", "cycle", "arrays multiplied"},
    {of_core_cycles<&S::array_active>, "lockstep__array_active.pct", "%",
     "arrays multiplied, of its cycles"},
    {of_core_cycles<&S::decode_stall>, "lockstep__decode_stall.pct", "%",
     "stall_cycles.decode of its cycles"},
    {of_core_cycles<&S::output_stall>, "lockstep__output_stall.pct", "%",
     "stall_cycles.output of its cycles"},
    {of_core_cycles<&S::bank_stall>, "lockstep__bank_stall.pct", "%",
     "stall_cycles.bank of its cycles"},
    {of_core_cycles<&S::dma_stall>, "lockstep__dma_stall.pct", "%",
     "stall_cycles.dma of its cycles"},
    {&S::core_busy, "lockstep__core_busy_cycles", "cycle", "cores worked on an instruction"},
    {&S::idle, "lockstep__array_idle_cycles", "cycle",
     "arrays did not multiply in its cycles, whatever the cause"},
    {&S::gated, "lockstep__array_gated_cycles", "cycle",
     "of these, those in which they got no clock"},
    {&S::output_busy, "lockstep__output_busy_cycles", "cycle",
     "the output pipeline worked by itself (elementwise, pooling, softmax, copies)"},
    {&S::dma_bank_stall, "lockstep__dma_bank_stall_cycles", "cycle",
     "transfers waited for banks of the SRAM"},
    {&S::sram_bytes_read, "lockstep__sram_bytes_read", "B", "read from the SRAM"},
    {&S::sram_bytes_written, "lockstep__sram_bytes_write", "B", "written to the SRAM"},
    {&S::input_bytes, "lockstep__noc_input_bytes", "B",
     "inputs and operands on their way from the SRAM to the cores"},
    {&S::weight_bytes, "lockstep__noc_weight_bytes", "B",
     "weight streams and parameters on their way to the cores, as often as they are read"},
    {&S::output_bytes, "lockstep__noc_output_bytes", "B",
     "results on their way from the cores to the SRAM"},
    {&S::decoded_weights, "lockstep__decoded_weights", "1",
     "weights that the decoder gives to the array's registers, as often as it does"},
    {&S::accumulator_updates, "lockstep__accumulator_updates", "1",
     "sums that the accumulators add to"},
    {&S::output_values, "lockstep__output_values", "1", "values that the output pipeline makes"},
    {&S::dram_reads, "lockstep__dram_reads", "1", "read commands of DRAM: a burst each"},
    {&S::dram_writes, "lockstep__dram_writes", "1", "write commands of DRAM: a burst each"},
    {&S::dram_activates, "lockstep__dram_activates", "1",
     "rows of DRAM that are opened: each transfer finds its rows closed"},
    {&S::refreshes, "lockstep__dram_refreshes", "1",
     "refresh commands (all banks of a rank) in its cycles"},
    {&S::stored_bits, "lockstep__observed_bits", "bit",
     "of inputs and weights that were looked at for toggled bits; with values only"},
    {&S::toggled_bits, "lockstep__toggled_bits", "bit",
     "of these, those that differ from the same bit of the byte before"},
    {toggles, "lockstep__toggled.pct", "%", "toggled of observed bits"},
    {command::tops<StepResult, Parameters>, "lockstep__tops", "TOP/s",
     "two operations for each of macs, by its time"},
};

}  // namespace

std::span<const CounterRow> counter_rows() {
    return kRows;
}

void StepResult::add(const StepResult& other) {
    command::add(counter_rows(), *this, other);
}

std::vector<std::pair<std::string, stats::Value>> StepResult::metrics(
    const Parameters& parameters) const {
    return command::metrics(counter_rows(), *this, parameters);
}

std::string metrics_page() {
    return "# Metrics of an NPU\n"
           "Made from models/npu/counters.cpp; do not edit. `--stats` has them for each step of "
           "the "
           "program (a layer of a network). Cycles of cores are summed over the cores and counted "
           "for "
           "the step of the instruction, whose work may reach into the next step's cycles.\n\n" +
           command::metrics_table(counter_rows());
}

}  // namespace lockstep::npu
