// SPDX-License-Identifier: Apache-2.0
#include "models/tpu/counters.h"

#include "models/tpu/parameters.h"

namespace lockstep::tpu {

namespace {

using S = StepResult;
using command::percent;

double array_cycles(const S& s, const Parameters& p) {
    return double(s.cycles) * p.units;
}
template <auto kMember>
double of_array_cycles(const S& s, const Parameters& p) {
    return percent(double(s.*kMember), array_cycles(s, p));
}
double utilization(const S& s, const Parameters& p) {
    return percent(double(s.useful_macs),
                   array_cycles(s, p) * double(p.array.rows) * double(p.array.columns));
}
double unused(const S& s, const Parameters& p) {
    return percent(double(s.active - s.active_others), array_cycles(s, p)) -
           utilization(s, p) * s.share_within();
}
double host_share(const S& s, const Parameters&) {
    return percent(double(s.host_busy), double(s.cycles));
}

constexpr CounterRow kRows[] = {
    {&S::cycles, "cycles", "cycle", "from the end of the step before to the end of this one"},
    {&S::useful_macs, "macs", "1", "multiply-adds that the step is for, padding not counted"},
    {utilization, "array_utilization.pct", "%", "macs of what the arrays could do in its cycles"},
    {&S::weight_stall, "stall_cycles.weight", "cycle", "arrays waited for a weight tile"},
    {&S::weight_shift, "stall_cycles.shift", "cycle",
     "arrays waited while what they hold shifted in or out"},
    {&S::non_matrix, "stall_cycles.nonmatrix", "cycle", "arrays had nothing to do with a tile"},
    {&S::raw_stall, "stall_cycles.raw", "cycle", "the next instruction waited for another unit"},
    {&S::input_stall, "stall_cycles.input", "cycle", "the next instruction waited for a transfer"},
    {&S::bank_stall, "stall_cycles.bank", "cycle",
     "arrays waited for banks of the unified buffer; part of stall_cycles.nonmatrix"},
    {&S::issue_stall, "stall_cycles.issue", "cycle", "the next instruction was still to be issued"},
    {&S::host_busy, "stall_cycles.host", "cycle", "the host worked on its tasks"},
    {&S::dram_bytes_read, "dram_bytes_read", "B", "read from the core's memory"},
    {&S::dram_bytes_written, "dram_bytes_write", "B", "written to the core's memory"},
    {&S::instructions, "lockstep__instructions", "1",
     "instructions but those that the sequencer does itself"},
    {&S::macs, "lockstep__mapped_macs", "1",
     "multiply-adds as the instructions map them: rows x lanes x columns"},
    {&S::active, "lockstep__array_active_cycles", "cycle", "arrays streamed"},
    {of_array_cycles<&S::active>, "lockstep__array_active.pct", "%",
     "arrays streamed, of its cycles"},
    {&S::active_others, "lockstep__array_active_other_steps_cycles", "cycle",
     "arrays streamed for other steps"},
    {&S::active_elsewhere, "lockstep__array_active_elsewhere_cycles", "cycle",
     "arrays streamed for it in the cycles of other steps"},
    {unused, "lockstep__unused_macs.pct", "%",
     "PEs that had no product while arrays streamed for it"},
    {of_array_cycles<&S::weight_stall>, "lockstep__weight_stall.pct", "%",
     "stall_cycles.weight of its cycles"},
    {of_array_cycles<&S::weight_shift>, "lockstep__weight_shift.pct", "%",
     "stall_cycles.shift of its cycles"},
    {of_array_cycles<&S::non_matrix>, "lockstep__non_matrix.pct", "%",
     "stall_cycles.nonmatrix of its cycles"},
    {of_array_cycles<&S::raw_stall>, "lockstep__raw_stall.pct", "%",
     "stall_cycles.raw of its cycles"},
    {of_array_cycles<&S::input_stall>, "lockstep__input_stall.pct", "%",
     "stall_cycles.input of its cycles"},
    {of_array_cycles<&S::bank_stall>, "lockstep__bank_stall.pct", "%",
     "stall_cycles.bank of its cycles"},
    {&S::window_stall, "lockstep__window_stall_cycles", "cycle",
     "arrays waited while rows of a convolution's windows were made"},
    {&S::idle_units, "lockstep__idle_unit_cycles", "cycle",
     "arrays had less to do than the busiest"},
    {&S::vector_bank_stall, "lockstep__vector_bank_stall_cycles", "cycle",
     "the vector unit waited for banks of the unified buffer"},
    {&S::dma_bank_stall, "lockstep__dma_bank_stall_cycles", "cycle",
     "transfers waited for banks of the unified buffer"},
    {&S::buffer_accesses, "lockstep__unified_buffer_accesses", "1",
     "lines of the unified buffer, read and written"},
    {&S::vector_busy, "lockstep__vector_busy_cycles", "cycle", "the vector unit worked"},
    {&S::weight_tiles, "lockstep__weight_tiles", "1", "weight tiles read into the FIFOs"},
    {&S::input_reads, "lockstep__array_input_reads", "1", "elements of rows that enter the arrays"},
    {&S::weight_reads, "lockstep__array_weight_reads", "1",
     "elements of weight tiles that enter the arrays"},
    {&S::sums_written, "lockstep__accumulator_writes", "1", "sums that accumulators take"},
    {&S::sums_read, "lockstep__accumulator_reads", "1", "sums that are added to"},
    {&S::host_bytes_read, "lockstep__host_bytes_read", "B", "read from the host's memory"},
    {&S::host_bytes_written, "lockstep__host_bytes_write", "B", "written to the host's memory"},
    {host_share, "lockstep__host_busy.pct", "%", "the host worked on its tasks, of its cycles"},
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

double StepResult::share_within() const {
    const double within = double(active - active_others);
    return active_elsewhere == 0 ? 1 : within / (within + double(active_elsewhere));
}

std::vector<std::pair<std::string, stats::Value>> StepResult::metrics(
    const Parameters& parameters) const {
    return command::metrics(counter_rows(), *this, parameters);
}

std::string metrics_page() {
    return "# Metrics of a TPU\n"
           "Made from models/tpu/counters.cpp; do not edit. `--stats` has them for each step of "
           "the "
           "program (a layer of a network). Cycles of arrays are summed over the matrix "
           "units.\n\n" +
           command::metrics_table(counter_rows());
}

}  // namespace lockstep::tpu
