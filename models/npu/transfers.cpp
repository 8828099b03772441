// SPDX-License-Identifier: Apache-2.0
// The DMA queues: a transfer is cut into requests; a queue has a few under way, begins with the
// next transfer when it has requested all of one, and completes in order. Rows that do not follow
// each other in memory move whole granules.
#include <algorithm>

#include "models/npu/core_complex.h"
#include "models/npu/sram_streams.h"
#include "sim/engine/tlm_memory_port.h"
#include "sim/numerics/integer.h"

namespace lockstep::npu {

namespace {

using enum Field;
using numerics::divide_up;
using numerics::round_up;
constexpr unsigned kTagShift = 60;  // a request's tag: queue, then the transfer's sequence number

/// The side of a transfer in host memory or memory.
struct DramSide {
    std::uint64_t address, pitch, plane;
};

DramSide dram_side(const Instruction& i) {
    const bool out = has_field(i.opcode(), kSource);
    return {i[has_field(i.opcode(), kHost) ? kHost : kMemory],
            i[out ? kDestinationPitch : kSourcePitch], i[out ? kDestinationPlane : kSourcePlane]};
}

/// Bytes that pass, and how many runs of neighbouring bytes they are.
struct Extent {
    std::uint64_t bytes, runs;
};
Extent extent(const Instruction& i, std::uint64_t granule) {
    const DramSide side = dram_side(i);
    std::uint64_t run = i[kRowBytes], runs = i[kRows] * i[kPlanes];
    if (run == 0 || runs == 0) return {0, 0};
    if (side.pitch == run || i[kRows] == 1) {  // a plane is one run
        run *= i[kRows];
        runs = i[kPlanes];
        if (side.plane == run || i[kPlanes] == 1) {
            run *= i[kPlanes];
            runs = 1;
        }
    }
    return {runs * round_up(run, granule), runs};
}

}  // namespace

void CoreComplex::take_responses(Cycle now) {
    while (memory_responses.ready(now)) {
        const std::uint64_t tag = memory_responses.receive(now).tag;
        Dma& dma = dma_[tag >> kTagShift];
        const std::uint64_t sequence = tag & ((std::uint64_t{1} << kTagShift) - 1);
        --dma.active[sequence - dma.active.front().sequence].under_way;
        --dma.under_way;
    }
}

bool CoreComplex::run_dma(std::size_t index, Cycle now) {
    Dma& dma = dma_[index];
    bool any = start_transfer(index, now);
    any |= request(index, now);
    while (!dma.active.empty()) {
        const Transfer& front = dma.active.front();
        if (front.left != 0 || front.under_way != 0 || front.ready > now || front.drained > now)
            break;
        if (trace_ != nullptr)
            trace_->work(index, instruction(front.entry), front.entry.index, front.begin, now);
        complete(index, front.entry.step, now);
        dma.active.pop_front();
        any = true;
    }
    return any;
}

bool CoreComplex::start_transfer(std::size_t index, Cycle now) {
    Queue& queue = queues_[index];
    Dma& dma = dma_[index];
    if (queue.waiting.empty() || (!dma.active.empty() && dma.active.back().left != 0)) return false;
    const Entry& head = queue.waiting.front();
    if (!satisfied(head.need)) return false;
    const Instruction& next = instruction(head);
    const Extent what = extent(next, parameters_.memory.granule);
    const bool write = next.queue() == npu::Queue::kStore;
    StepCounters& counters = step(head.step);
    const std::uint64_t moved = next[kRowBytes] * next[kRows] * next[kPlanes];
    (write ? counters.dram_bytes_written : counters.dram_bytes_read) += what.bytes;
    (write ? counters.sram_bytes_read : counters.sram_bytes_written) += moved;
    (write ? counters.dram_writes : counters.dram_reads) +=
        divide_up(what.bytes, dram_.burst_bytes);
    if (what.runs != 0)
        counters.dram_activates += std::max(what.runs, divide_up(what.bytes, dram_.row_bytes));
    dma.active.push_back({.entry = head,
                          .sequence = dma.next_sequence++,
                          .write = write,
                          .address = dram_side(next).address,
                          .left = what.bytes,
                          .bytes = what.bytes,
                          .begin = now,
                          .ready = now + parameters_.dma.setup +
                                   (head.answers ? parameters_.registers.interrupt : 0),
                          .lines = transfer_lines(next, parameters_.sram)});
    queue.waiting.pop_front();
    return true;
}

void CoreComplex::occupy_sram(Transfer& transfer, std::uint64_t bytes, Cycle now) {
    // Data passes at the bus's speed, after what was requested before.
    const Cycle begin = std::max(now, link_free_);
    const auto cycles =
        std::max<Cycle>(1, static_cast<Cycle>(static_cast<double>(bytes) / link_bytes_));
    link_free_ = begin + cycles;
    const double share = static_cast<double>(bytes) / static_cast<double>(transfer.bytes);
    const Cycle end = banks_.access(
        now, begin, cycles, memory::per_cycle(transfer.lines, static_cast<double>(cycles) / share));
    if (end <= begin + cycles) return;
    step(transfer.entry.step).dma_bank_stall += end - begin - cycles;
    transfer.drained = std::max(transfer.drained, end);
}

bool CoreComplex::request(std::size_t index, Cycle now) {
    Dma& dma = dma_[index];
    if (dma.active.empty()) return false;
    Transfer& last = dma.active.back();
    bool any = false;
    while (last.left != 0 && last.ready <= now && dma.under_way < parameters_.dma.outstanding &&
           memory_requests.credits(now) != 0) {
        const std::uint64_t bytes = std::min<std::uint64_t>(last.left, parameters_.dma.chunk);
        occupy_sram(last, bytes, now);
        memory_requests.send(now, {.address = last.address,
                                   .bytes = static_cast<std::uint32_t>(bytes),
                                   .write = last.write,
                                   .tag = std::uint64_t{index} << kTagShift | last.sequence});
        last.address += bytes;
        last.left -= bytes;
        ++last.under_way;
        ++dma.under_way;
        any = true;
    }
    return any;
}

}  // namespace lockstep::npu
