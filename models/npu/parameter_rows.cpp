// SPDX-License-Identifier: Apache-2.0
// The parameters of an NPU: a row each.
#include "models/npu/parameter_rows.h"

#include "models/memory/dram/policy_rows.h"

namespace lockstep::npu {

namespace {

using config::Row;
using config::Type;

constexpr double kGibi = 1024.0 * 1024 * 1024;

std::span<const Row<ArrayParameters>> array_rows() {
    static const std::vector<Row<ArrayParameters>> kRows{
        {"array.inputs", &ArrayParameters::inputs, "1", 1, 4096,
         "input channels that an output's adder tree takes in a cycle, of 8 bits"},
        {"array.outputs", &ArrayParameters::outputs, "1", 1, 512,
         "output channels that are computed beside each other"},
        {"array.pixels", &ArrayParameters::pixels, "1", 1, 64,
         "pixels of a row that are computed beside each other"},
        {"array.stripe", &ArrayParameters::stripe, "1", 1, 4096,
         "positions (of `pixels` pixels each) that pass before the next weights are taken"},
        {"array.depthwise_taps", &ArrayParameters::depthwise_taps, "1", 1, 4096,
         "taps of a depthwise window that an output takes in a cycle, of 8 bits"},
        {"array.taps_share_lanes", &ArrayParameters::taps_share_lanes,
         "where there are fewer input channels than lanes, taps of a kernel row share them"},
        {"array.lines_share_lanes", &ArrayParameters::lines_share_lanes, "1", 1, 4,
         "and of 2 or 4 kernel rows at once, up to this, where so many and what a window moves "
         "over "
         "have room"},
        {"array.latency", &ArrayParameters::latency, "1", 0, 1000,
         "cycles from operands to the accumulator"},
        {"array.split", &ArrayParameters::split, kSplits,
         "where a multiplier works on 2 values of 4 bits or 4 of 2"},
        {"array.winograd", &ArrayParameters::winograd,
         "3 x 3 convolutions of stride 1 are computed by F(2x2, 3x3)"},
        {"array.winograd_values", &ArrayParameters::winograd_values, "1", 9, 16,
         "values of a 3 x 3 kernel in a weight stream for Winograd: 9, or 16 where it is stored "
         "transformed (then the stream has that length; what is computed is the same)"},
        {"array.zero_skipping", &ArrayParameters::zero_skipping,
         "inputs whose weights are zero for all outputs of a group are skipped"},
    };
    return kRows;
}

std::span<const Row<DecoderParameters>> decoder_rows() {
    static const std::vector<Row<DecoderParameters>> kRows{
        {"decoder.values", &DecoderParameters::values, "1", 1, 65536,
         "weights that the decoder gives in a cycle"},
        {"decoder.bytes", &DecoderParameters::bytes, "B", 1, 65536,
         "of a weight stream that the decoder takes in a cycle"},
    };
    return kRows;
}

std::span<const Row<OutputParameters>> output_rows() {
    static const std::vector<Row<OutputParameters>> kRows{
        {"output.values", &OutputParameters::values, "1", 1, 65536,
         "values that the output pipeline requantises in a cycle"},
        {"output.operand_values", &OutputParameters::operand_values, "1", 1, 65536,
         "values that it combines with a second operand in a cycle"},
        {"output.window_values", &OutputParameters::window_values, "1", 1, 65536,
         "inputs of pooling windows, or of resized images, in a cycle"},
        {"output.softmax_cycles", &OutputParameters::softmax_cycles, "1", 1, 10000,
         "cycles for a value of a softmax, all passes"},
        {"output.neighbour_values", &OutputParameters::neighbour_values, "1", 0, 65536,
         "values of a local response normalisation in a cycle; 0: no unit for it"},
        {"output.latency", &OutputParameters::latency, "1", 0, 10000,
         "cycles from the accumulator to the SRAM"},
        {"output.move_bytes", &OutputParameters::move_bytes, "B", 1, 65536,
         "bytes that copy and fill move within the SRAM in a cycle"},
    };
    return kRows;
}

std::span<const Row<SramParameters>> sram_rows() {
    static const std::vector<Row<SramParameters>> kRows{
        {"sram.size", &SramParameters::bytes, "B", 1024, kGibi, "SRAM that all cores share"},
        {"sram.banks", &SramParameters::banks, "1", 1, kMaxBanks,
         "banks of the SRAM; lines follow each other from bank to bank"},
        {"sram.width", &SramParameters::width, "B", 1, 4096, "a line: what a bank gives at once"},
        {"sram.ports", &SramParameters::ports, "1", 1, 8,
         "accesses of a bank in a cycle, reads and writes alike"},
        {"sram.keeps_results", &SramParameters::keeps_results,
         "results may stay in the SRAM for the commands that read them; otherwise every layer's "
         "pass through memory (the compiler's rule)"},
    };
    return kRows;
}

std::span<const Row<RegisterParameters>> register_rows() {
    static const std::vector<Row<RegisterParameters>> kRows{
        {"registers.cycles", &RegisterParameters::cycles, "1", 0, 100000,
         "cycles in which the processor writes a register of a core; 0: commands come from memory "
         "and need no such writes"},
        {"registers.array", &RegisterParameters::array, "1", 0, 10000,
         "registers of a command of the array, its output pipeline's among them"},
        {"registers.output", &RegisterParameters::output, "1", 0, 10000,
         "registers of another command of a core"},
        {"registers.groups", &RegisterParameters::groups, "1", 0, 1000,
         "commands of a core that registers hold at once: 2, the one that runs and the next; 0: "
         "as many as the queue"},
        {"registers.interrupt", &RegisterParameters::interrupt, "1", 0, 1e9,
         "cycles from a result in memory to the transfer of a later layer that waits for it, and "
         "from a command's end to writes into its registers: the interrupt and its answer"},
    };
    return kRows;
}

std::span<const Row<DmaParameters>> dma_rows() {
    static const std::vector<Row<DmaParameters>> kRows{
        {"dma.setup", &DmaParameters::setup, "1", 0, 100000,
         "cycles before a transfer's first request"},
        {"dma.chunk", &DmaParameters::chunk, "B", 16, 1 << 20, "bytes of a request to memory"},
        {"dma.outstanding", &DmaParameters::outstanding, "1", 1, 1024,
         "requests of a queue that are under way"},
    };
    return kRows;
}

std::span<const Row<MemoryParameters>> memory_rows() {
    static const std::vector<Row<MemoryParameters>> kRows{
        {"memory.standard", &MemoryParameters::standard,
         "DRAM standard (models/memory/dram/standards.cpp)"},
        {"memory.bus_width", &MemoryParameters::bus_bits, "bit", 1, 65536, "width of the bus"},
        {"memory.clock", &MemoryParameters::clock_mhz, "MHz", 1, 100000,
         "memory clock; data moves on both edges"},
        {"memory.ranks", &MemoryParameters::ranks, "1", 1, 16, "ranks of a channel"},
        Row<MemoryParameters>{"memory.size", &MemoryParameters::bytes, "B", 1 << 20, 1024 * kGibi,
                              "memory that the NPU may use"}
            .reporting_only(),
        {"memory.latency", &MemoryParameters::latency_ns, "ns", 0, 100000,
         "from the NPU to the controller and back, beside the DRAM's own latency"},
        {"memory.granule", &MemoryParameters::granule, "B", 1, 1 << 20,
         "a row of a transfer moves whole granules"},
    };
    return kRows;
}

std::span<const Row<HostParameters>> host_rows() {
    static const std::vector<Row<HostParameters>> kRows{
        {"host.interrupt", &HostParameters::interrupt_ns, "ns", 0, 1e9,
         "from an interrupt to the driver's first operation, and from its last to the sequencer"},
        {"host.compute", &HostParameters::gflops, "GFLOP/s", 0.001, 1e9,
         "operations that the processor sustains"},
        {"host.memory_bandwidth", &HostParameters::memory_gb_per_s, "GB/s", 0.001, 1e6,
         "memory bandwidth of the processor"},
    };
    return kRows;
}

std::span<const Row<Parameters>> chip_rows() {
    static const std::vector<Row<Parameters>> kRows{
        {"clock.core", &Parameters::clock_mhz, "MHz", 1, 10000, "clock of the NPU"},
        {"clock.gating", &Parameters::clock_gating,
         "an array that has nothing to do gets no clock"},
        {"cores", &Parameters::cores, "1", 1, kMaxCores, "cores with an array each"},
        Row<Parameters>{"accumulators.size", &Parameters::accumulators, "B", 0, kGibi,
                        "sums that a core can keep for its next command"}
            .reporting_only(),
        {"sequencer.issue_interval", &Parameters::issue_interval, "1", 1, 10000,
         "cycles between instructions issued to the queues"},
        {"sequencer.queue_depth", &Parameters::queue_depth, "1", 1, 1 << 20,
         "instructions waiting in a queue"},
    };
    return kRows;
}

}  // namespace

void read_parameters(const config::Machine& machine, Parameters& into) {
    read_rows(machine, chip_rows(), into);
    read_rows(machine, array_rows(), into.array);
    read_rows(machine, decoder_rows(), into.decoder);
    read_rows(machine, output_rows(), into.output);
    read_rows(machine, sram_rows(), into.sram);
    read_rows(machine, register_rows(), into.registers);
    read_rows(machine, dma_rows(), into.dma);
    read_rows(machine, memory_rows(), into.memory);
    read_rows(machine, memory::dram::policy_rows(), into.memory.policies);
    read_rows(machine, memory::dram::refresh_rows(), into.memory.policies);
    read_rows(machine, host_rows(), into.host);
}

std::vector<config::Entry> parameter_entries() {
    std::vector<config::Entry> entries;
    append_entries(entries, chip_rows());
    append_entries(entries, array_rows());
    append_entries(entries, decoder_rows());
    append_entries(entries, output_rows());
    append_entries(entries, sram_rows());
    append_entries(entries, register_rows());
    append_entries(entries, dma_rows());
    append_entries(entries, memory_rows());
    append_entries(entries, memory::dram::policy_rows());
    append_entries(entries, memory::dram::refresh_rows());
    append_entries(entries, host_rows());
    return entries;
}

}  // namespace lockstep::npu
