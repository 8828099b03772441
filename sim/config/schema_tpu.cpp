// SPDX-License-Identifier: Apache-2.0
#include "sim/config/schema_sections.h"

namespace lockstep::config {

namespace {

constexpr double kGibi = 1024.0 * 1024 * 1024;

constexpr Entry kTpu[] = {
    {"generation", Type::kInteger, "1", 1, 4, "which instructions the core has"},
    {"clock.core", Type::kNumber, "MHz", 1, 10000, "clock of the core"},
    {"array.units", Type::kInteger, "1", 1, 4, "matrix units of the core"},
    {"array.rows", Type::kInteger, "1", 1, 4096,
     "PEs of a matrix unit from north to south (lanes)"},
    {"array.columns", Type::kInteger, "1", 1, 4096, "PEs of a matrix unit from west to east"},
    {"array.dataflow", Type::kText, "1", 0, 0,
     "what a matrix unit holds: ws (weights), os (sums) or is (inputs)"},
    {"array.overlap", Type::kText, "1", 0, 0,
     "of a tile with the one before: none, drain (fill and drain hidden), double (exchange of what "
     "the array holds, too)"},
    {"array.weight_fifo", Type::kInteger, "1", 1, 1024, "weight tiles waiting for a matrix unit"},
    {"array.whole_tiles", Type::kBoolean, "1", 0, 0,
     "weight memory holds whole tiles: a partial one costs as much"},
    {"accumulators.rows", Type::kInteger, "1", 1, 1 << 20,
     "rows of as many 32-bit values as the array has columns"},
    {"unified_buffer.size", Type::kInteger, "B", 1024, 4 * kGibi, "unified buffer, or VMEM"},
    {"unified_buffer.banks", Type::kInteger, "1", 1, 64,
     "banks of the unified buffer; lines follow each other from bank to bank"},
    {"unified_buffer.width", Type::kInteger, "B", 1, 65536, "a line: what a bank gives at once"},
    {"unified_buffer.ports", Type::kInteger, "1", 1, 64,
     "accesses of a bank in a cycle, reads and writes alike"},
    {"vector.lanes", Type::kInteger, "1", 1, 4096, "elements of a row that are done at once"},
    {"vector.sublanes", Type::kInteger, "1", 1, 64, "rows that are done at once"},
    {"vector.fixed_function", Type::kBoolean, "1", 0, 0,
     "a pipeline that a row passes once, whatever is computed; else ALUs that run operations"},
    {"vector.alu_slots", Type::kInteger, "1", 1, 16, "operations of the ALUs in a cycle"},
    {"vector.load_slots", Type::kInteger, "1", 1, 16, "registers loaded in a cycle"},
    {"vector.store_slots", Type::kInteger, "1", 1, 16, "registers stored in a cycle"},
    {"vector.conversion_ops", Type::kInteger, "1", 0, 64, "operations to or from a type but fp32"},
    {"vector.transcendental_ops", Type::kInteger, "1", 1, 256,
     "operations of exp, tanh and the like"},
    {"vector.divide_ops", Type::kInteger, "1", 1, 256, "operations of a division or a root"},
    {"vector.cross_lane_cycles", Type::kInteger, "1", 1, 4096,
     "cycles to join the lanes of a register"},
    {"vector.window_cycles", Type::kInteger, "1", 0, 4096,
     "cycles to make a register of rows of a convolution's windows"},
    {"vector.transpose_rows", Type::kInteger, "1", 1, 4096,
     "rows that the transposer takes a cycle"},
    {"vector.requantisation", Type::kText, "1", 0, 0,
     "of the compiler's int8 programs: fp32 (products, ties to even), fixed_point (multiplier and "
     "shift, ties up)"},
    {"vector.latency", Type::kInteger, "1", 0, 100000, "cycles from the last row in to its result"},
    {"sequencer.issue_interval", Type::kInteger, "1", 1, 10000,
     "cycles between instructions issued to the queues"},
    {"sequencer.tag_cycles", Type::kInteger, "1", 0, 1000000,
     "cycles between a tag and the next instruction: a step's program is fetched"},
    {"sequencer.queue_depth", Type::kInteger, "1", 1, 1 << 20, "instructions waiting in a queue"},
    {"dma.setup", Type::kInteger, "1", 0, 100000, "cycles before a transfer's first request"},
    {"dma.chunk", Type::kInteger, "B", 64, 1 << 30, "bytes of a request to memory"},
    {"dma.outstanding", Type::kInteger, "1", 1, 64,
     "chunks of a queue under way, in one or many requests"},
    {"memory.standard", Type::kText, "1", 0, 0, "DRAM standard (models/memory/dram/standards.cpp)"},
    {"memory.bus_width", Type::kInteger, "bit", 1, 65536, "width of the core's share of the bus"},
    {"memory.clock", Type::kNumber, "MHz", 1, 100000, "memory clock; data moves on both edges"},
    {"memory.ranks", Type::kInteger, "1", 1, 16, "ranks of a channel"},
    {"memory.size", Type::kInteger, "B", 1 << 20, 1024 * kGibi, "the core's share of the memory"},
    {"memory.latency", Type::kNumber, "ns", 0, 100000,
     "from the core to the controller and back, beside the DRAM's own latency"},
    {"memory.granule", Type::kInteger, "B", 1, 1 << 20, "a row of a transfer moves whole granules"},
    {"host.bandwidth", Type::kNumber, "GB/s", 0.001, 100000, "of the host link, each way"},
    {"host.latency", Type::kNumber, "ns", 0, 1e9, "of a request over the host link"},
    {"host.interrupt", Type::kNumber, "ns", 0, 1e9,
     "from an interrupt to the driver's first operation, and from its last to the sequencer"},
    {"host.compute", Type::kNumber, "GFLOP/s", 0.001, 1e9,
     "that the host's share for this core sustains"},
    {"host.memory_bandwidth", Type::kNumber, "GB/s", 0.001, 1e6,
     "of the host's own memory, its share for this core"},
};

}  // namespace

std::span<const Entry> tpu() {
    return kTpu;
}

}  // namespace lockstep::config
