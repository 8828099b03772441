// SPDX-License-Identifier: Apache-2.0
// The parameters of a TPU core: a row each.
#include "models/tpu/parameter_rows.h"

#include "models/memory/dram/policy_rows.h"
#include "sim/error/error.h"

namespace lockstep::tpu {

namespace {

using config::Row;
using config::Type;

constexpr double kGibi = 1024.0 * 1024 * 1024;

std::span<const Row<ArrayShape>> array_rows() {
    static const std::vector<Row<ArrayShape>> kRows{
        {"array.rows", &ArrayShape::rows, "1", 1, 4096,
         "PEs of a matrix unit from north to south (lanes)"},
        {"array.columns", &ArrayShape::columns, "1", 1, 4096,
         "PEs of a matrix unit from west to east"},
    };
    return kRows;
}

std::span<const Row<UnifiedBufferParameters>> unified_buffer_rows() {
    static const std::vector<Row<UnifiedBufferParameters>> kRows{
        {"unified_buffer.banks", &UnifiedBufferParameters::banks, "1", 1, 64,
         "banks of the unified buffer; lines follow each other from bank to bank"},
        {"unified_buffer.width", &UnifiedBufferParameters::width, "B", 1, 65536,
         "a line: what a bank gives at once"},
        {"unified_buffer.ports", &UnifiedBufferParameters::ports, "1", 1, 64,
         "accesses of a bank in a cycle, reads and writes alike"},
    };
    return kRows;
}

std::span<const Row<VectorParameters>> vector_rows() {
    static const std::vector<Row<VectorParameters>> kRows{
        {"vector.lanes", &VectorParameters::lanes, "1", 1, 4096,
         "elements of a row that are done at once"},
        {"vector.sublanes", &VectorParameters::sublanes, "1", 1, 64, "rows that are done at once"},
        {"vector.fixed_function", &VectorParameters::fixed_function,
         "a pipeline that a row passes once, whatever is computed; else ALUs that run operations"},
        {"vector.alu_slots", &VectorParameters::alu_slots, "1", 1, 16,
         "operations of the ALUs in a cycle"},
        {"vector.load_slots", &VectorParameters::load_slots, "1", 1, 16,
         "registers loaded in a cycle"},
        {"vector.store_slots", &VectorParameters::store_slots, "1", 1, 16,
         "registers stored in a cycle"},
        {"vector.registers", &VectorParameters::registers, "1", 4, 4096,
         "vector registers: values that a loop of the compiler's keeps between its operations"},
        {"vector.loop_registers", &VectorParameters::loop_registers, "1", 0, 64,
         "registers of a round of a loop, which ends with a cycle of its own; 0: loops cost none"},
        {"vector.conversion_ops", &VectorParameters::conversion_ops, "1", 0, 64,
         "operations to or from a type but fp32"},
        {"vector.transcendental_ops", &VectorParameters::transcendental_ops, "1", 1, 256,
         "operations of exp, tanh and the like"},
        {"vector.divide_ops", &VectorParameters::divide_ops, "1", 1, 256,
         "operations of a division or a root"},
        {"vector.cross_lane_cycles", &VectorParameters::cross_lane_cycles, "1", 1, 4096,
         "cycles from a register whose lanes are joined to the next"},
        {"vector.cross_lane_latency", &VectorParameters::cross_lane_latency, "1", 0, 4096,
         "cycles from a register to the join of its lanes"},
        {"vector.window_cycles", &VectorParameters::window_cycles, "1", 0, 4096,
         "cycles to make a register of rows of a convolution's windows"},
        {"vector.transpose_rows", &VectorParameters::transpose_rows, "1", 1, 4096,
         "rows that the transposer takes a cycle"},
        {"vector.latency", &VectorParameters::latency, "1", 0, 100000,
         "cycles from the last row in to its result"},
    };
    return kRows;
}

std::span<const Row<DmaParameters>> dma_rows() {
    static const std::vector<Row<DmaParameters>> kRows{
        {"dma.setup", &DmaParameters::setup, "1", 0, 100000,
         "cycles before a transfer's first request"},
        {"dma.chunk", &DmaParameters::chunk, "B", 64, 1 << 30, "bytes of a request to memory"},
        {"dma.outstanding", &DmaParameters::outstanding, "1", 1, 64,
         "chunks of a queue that are under way, in one or many requests"},
    };
    return kRows;
}

std::span<const Row<MemoryParameters>> memory_rows() {
    static const std::vector<Row<MemoryParameters>> kRows{
        {"memory.standard", &MemoryParameters::standard,
         "DRAM standard (models/memory/dram/standards.cpp)"},
        {"memory.bus_width", &MemoryParameters::bus_bits, "bit", 1, 65536,
         "width of the core's share of the bus"},
        {"memory.clock", &MemoryParameters::clock_mhz, "MHz", 1, 100000,
         "memory clock; data moves on both edges"},
        {"memory.ranks", &MemoryParameters::ranks, "1", 1, 16, "ranks of a channel"},
        Row<MemoryParameters>{"memory.size", &MemoryParameters::bytes, "B", 1 << 20, 1024 * kGibi,
                              "the core's share of the memory"}
            .reporting_only(),
        {"memory.latency", &MemoryParameters::latency_ns, "ns", 0, 100000,
         "from the core to the controller and back, beside the DRAM's own latency"},
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
         "operations that the host's share for this core sustains"},
        {"host.memory_bandwidth", &HostParameters::memory_gb_per_s, "GB/s", 0.001, 1e6,
         "bandwidth of the host's own memory, its share for this core"},
    };
    return kRows;
}

std::span<const Row<Parameters>> core_rows() {
    static const std::vector<Row<Parameters>> kRows{
        {"generation", &Parameters::generation, "1", 1, 4, "which instructions the core has"},
        {"clock.core", &Parameters::clock_mhz, "MHz", 1, 10000, "clock of the core"},
        {"array.units", &Parameters::units, "1", 1, kMaxMatrixUnits, "matrix units of the core"},
        Row<Parameters>{"array.dataflow", Type::kText, "1", 0, 0, "what a matrix unit holds"}
            .one_of(kDataflows),
        Row<Parameters>{"array.overlap", Type::kText, "1", 0, 0, "of a tile with the one before"}
            .one_of(kOverlaps),
        {"array.weight_fifo", &Parameters::weight_fifo, "1", 1, 1024,
         "weight tiles waiting for a matrix unit"},
        {"array.whole_tiles", &Parameters::whole_tiles,
         "weight memory holds whole tiles: a partial one costs as much"},
        {"accumulators.rows", &Parameters::accumulator_rows, "1", 1, 1 << 20,
         "rows of as many 32-bit values as the array has columns"},
        {"unified_buffer.size", &Parameters::unified_buffer, "B", 1024, 4 * kGibi,
         "unified buffer, or VMEM"},
        {"compiler.resident_share", &Parameters::resident_share, "1", 0, 0.875,
         "of the unified buffer, for values that stay there between kernels (generation 2 on)"},
        {"compiler.full_tiles", &Parameters::full_tiles, "B", 0, 4 * kGibi,
         "values of 16-bit elements from this size on lie in tiles of two registers' rows, which "
         "fill a register; smaller ones fill half of one"},
        {"compiler.window", &Parameters::window, "B", 0, 4 * kGibi,
         "a kernel passes its operand, or weights, by windows of so many, or as a whole; 0: of the "
         "vector unit by sixteenths, of weights as there is room"},
        {"vector.requantisation", &Parameters::requantisation, kRequantisations,
         "of the compiler's int8 programs"},
        {"sequencer.issue_interval", &Parameters::issue_interval, "1", 1, 10000,
         "cycles between instructions issued to the queues"},
        {"sequencer.tag_cycles", &Parameters::tag_cycles, "1", 0, 1000000,
         "cycles between a tag and the next instruction: a step's program is fetched"},
        {"sequencer.queue_depth", &Parameters::queue_depth, "1", 1, 1 << 20,
         "instructions waiting in a queue"},
        {"host.bandwidth", &Parameters::host_gb_per_s, "GB/s", 0.001, 100000,
         "bandwidth of the host link, each way"},
        {"host.latency", &Parameters::host_latency_ns, "ns", 0, 1e9,
         "latency of a request over the host link"},
    };
    return kRows;
}

}  // namespace

void read_parameters(const config::Machine& machine, Parameters& into) {
    read_rows(machine, core_rows(), into);
    read_rows(machine, array_rows(), into.array);
    read_rows(machine, unified_buffer_rows(), into.banks);
    read_rows(machine, vector_rows(), into.vector);
    read_rows(machine, dma_rows(), into.dma);
    read_rows(machine, memory_rows(), into.memory);
    read_rows(machine, memory::dram::policy_rows(), into.memory.policies);
    read_rows(machine, memory::dram::refresh_rows(), into.memory.policies);
    read_rows(machine, host_rows(), into.host);
}

std::vector<config::Entry> parameter_entries() {
    std::vector<config::Entry> entries;
    append_entries(entries, core_rows());
    append_entries(entries, array_rows());
    append_entries(entries, unified_buffer_rows());
    append_entries(entries, vector_rows());
    append_entries(entries, dma_rows());
    append_entries(entries, memory_rows());
    append_entries(entries, memory::dram::policy_rows());
    append_entries(entries, memory::dram::refresh_rows());
    append_entries(entries, host_rows());
    return entries;
}

}  // namespace lockstep::tpu
