// SPDX-License-Identifier: Apache-2.0
// The DMA queues: into the unified buffer, out of it, and weight tiles into the FIFOs. A transfer
// is cut into requests; a queue has a few under way, begins with the next transfer when it has
// requested all of one, and completes in order. Rows that do not follow each other in memory move
// whole granules.
#include <algorithm>

#include "models/tpu/buffer_streams.h"
#include "models/tpu/core.h"
#include "sim/engine/tlm_memory_port.h"
#include "sim/error/error.h"

namespace lockstep::tpu {

namespace {

using enum Field;
constexpr std::size_t kWeightQueue = static_cast<std::size_t>(Queue::kWeights);
constexpr unsigned kTagShift = 60;  // a request's tag: queue, then the transfer's sequence number

struct Extent {
    bool host = false, write = false, local = false;
    std::uint64_t address = 0, bytes = 0;
};

std::uint64_t rows_of_bytes(std::uint64_t rows, std::uint64_t row_bytes, std::uint64_t pitch,
                            std::uint64_t granule) {
    if (pitch == row_bytes || rows <= 1) return rows * row_bytes;
    return rows * ((row_bytes + granule - 1) / granule * granule);
}

/// A weight tile.
Extent tile_extent(const Instruction& i, const Parameters& parameters) {
    const std::uint64_t size = size_of(i.type(kWeightType));
    const bool transposed = i.flag(kTransposed);
    Extent tile{.local = i.as<WeightSource>(kFrom) == WeightSource::kUnifiedBuffer,
                .address = i[kAddress],
                .bytes = rows_of_bytes(transposed ? i[kColumns] : i[kLanes],
                                       (transposed ? i[kLanes] : i[kColumns]) * size, i[kPitch],
                                       parameters.memory.granule)};
    if (parameters.whole_tiles)
        tile.bytes = static_cast<std::uint64_t>(parameters.array.rows) *
                     static_cast<std::uint64_t>(parameters.array.columns) * size;
    return tile;
}

Extent extent(const Instruction& i, const Parameters& parameters) {
    if (time_of(i.opcode()) == Time::kTile) return tile_extent(i, parameters);
    const bool host = has_field(i.opcode(), kHost), write = i.queue() == Queue::kStore;
    // The rows of a gather lie anywhere.
    const std::uint64_t pitch =
        has_field(i.opcode(), kIndices) ? 0 : i[write ? kDestinationPitch : kSourcePitch];
    return {.host = host,
            .write = write,
            .address = i[host ? kHost : kMemory],
            .bytes = rows_of_bytes(i[kRows], i[kRowBytes], pitch, parameters.memory.granule)};
}

}  // namespace

void Core::take_responses(Cycle now) {
    const auto take = [&](engine::Receiver<engine::MemoryResponse>& responses) {
        while (responses.ready(now)) {
            const std::uint64_t tag = responses.receive(now).tag;
            DmaQueue& queue = dma_[tag >> kTagShift];
            const std::uint64_t sequence = tag & ((std::uint64_t{1} << kTagShift) - 1);
            Transfer& transfer = queue.active[sequence - queue.active.front().sequence];
            --transfer.under_way;
            --queue.under_way;
            // All requests of a transfer are of a chunk but its last.
            const std::uint64_t bytes =
                std::min<std::uint64_t>(transfer.unanswered, parameters_.dma.chunk);
            transfer.unanswered -= bytes;
            queue.bytes_under_way -= bytes;
        }
    };
    take(memory_responses);
    take(host_responses);
}

bool Core::run_dma(std::size_t index, Cycle now) {
    DmaQueue& dma = dma_[index];
    bool any = start_transfer(index, now);
    any |= request(index, now);
    while (!dma.active.empty()) {
        const Transfer& front = dma.active.front();
        if (front.left != 0 || front.under_way != 0 || front.ready > now || front.drained > now)
            break;
        finish_transfer(index, now);
        dma.active.pop_front();
        any = true;
    }
    return any;
}

void Core::finish_transfer(std::size_t index, Cycle now) {
    const Transfer& transfer = dma_[index].active.front();
    const Instruction& done = instruction(transfer.entry);
    const std::size_t queue = std::min(index, kWeightQueue);
    if (trace_ != nullptr) trace_->work(queue, done, transfer.entry.index, transfer.begin, now);
    if (queue != kWeightQueue) return complete(queue, transfer.entry.step, now);
    units_[done[kUnit]].arrived.push_back(now);
    // Waits count completions in the order of issue.
    tiles_done_.insert(transfer.entry.number);
    while (!tiles_done_.empty() && *tiles_done_.begin() == queues_[queue].completed + 1) {
        tiles_done_.erase(tiles_done_.begin());
        complete(queue, transfer.entry.step, now);
    }
}

bool Core::start_transfer(std::size_t index, Cycle now) {
    Queue& queue = queues_[std::min(index, kWeightQueue)];
    DmaQueue& dma = dma_[index];
    if (!dma.active.empty() && dma.active.back().left != 0) return false;
    auto first = queue.waiting.begin();
    if (index >= kWeightQueue)
        first = std::find_if(first, queue.waiting.end(), [&](const Entry& entry) {
            return instruction(entry)[kUnit] == index - kWeightQueue;
        });
    if (first == queue.waiting.end()) return false;
    const Entry& head = *first;
    if (!satisfied(head.need)) return false;
    const Instruction& next = instruction(head);
    if (index >= kWeightQueue) {
        MatrixUnit& unit = units_[next[kUnit]];
        if (unit.reserved >= parameters_.weight_fifo) return false;
        ++unit.reserved;
        ++step(head.step).weight_tiles;
    }
    const Extent what = extent(next, parameters_);
    StepCounters& counters = step(head.step);
    if (!what.local)
        (what.host    ? what.write ? counters.host_bytes_written : counters.host_bytes_read
         : what.write ? counters.dram_bytes_written
                      : counters.dram_bytes_read) += what.bytes;
    // A tile from the unified buffer has no way to go: its shift takes the time.
    Cycle ready = now + parameters_.dma.setup;
    BankLoads accesses{};
    if (what.local) {
        const auto shift = static_cast<Cycle>(tile_.load);
        ready =
            access_buffer(accesses_of(next), shift, now, &StepCounters::dma_bank_stall, head.step) -
            shift + 1;
    } else if (index < kWeightQueue) {
        accesses = accesses_of(next);
        for (const double bank : accesses) counters.buffer_lines += bank;
    }
    dma.active.push_back({.entry = head,
                          .sequence = dma.next_sequence++,
                          .host = what.host,
                          .write = what.write,
                          .address = what.address,
                          .left = what.local ? 0 : what.bytes,
                          .unanswered = what.local ? 0 : what.bytes,
                          .begin = now,
                          .ready = ready,
                          .accesses = accesses,
                          .bytes = what.bytes});
    queue.waiting.erase(first);
    return true;
}

void Core::occupy_buffer(Transfer& transfer, std::uint64_t bytes, Cycle now) {
    // Data passes at the link's speed, after what was requested before.
    Link& link = transfer.host ? host_links_[transfer.write] : memory_link_;
    const Cycle begin = std::max(now, link.free);
    const auto cycles =
        std::max<Cycle>(1, static_cast<Cycle>(static_cast<double>(bytes) / link.bytes_per_cycle));
    link.free = begin + cycles;
    const double passes = static_cast<double>(transfer.bytes) / static_cast<double>(bytes);
    const Cycle end = unified_buffer_.access(
        now, begin, cycles, per_cycle(transfer.accesses, passes * static_cast<double>(cycles)));
    if (end <= begin + cycles) return;
    step(transfer.entry.step).dma_bank_stall += end - begin - cycles;
    transfer.drained = std::max(transfer.drained, end);
}

bool Core::request(std::size_t index, Cycle now) {
    DmaQueue& dma = dma_[index];
    bool any = false;
    if (dma.active.empty()) return false;
    Transfer& last = dma.active.back();
    // Short requests leave room for more of them.
    const std::uint64_t most = std::uint64_t{parameters_.dma.outstanding} * parameters_.dma.chunk;
    while (last.left != 0 && last.ready <= now && dma.under_way < parameters_.dma_requests()) {
        auto& requests = last.host ? host_requests : memory_requests;
        if (requests.credits(now) == 0) break;
        const std::uint64_t bytes = std::min<std::uint64_t>(last.left, parameters_.dma.chunk);
        if (dma.bytes_under_way + bytes > most) break;
        if (index < kWeightQueue) occupy_buffer(last, bytes, now);
        requests.send(now, {.address = last.address,
                            .bytes = static_cast<std::uint32_t>(bytes),
                            .write = last.write,
                            .tag = std::uint64_t{index} << kTagShift | last.sequence});
        last.address += bytes;
        last.left -= bytes;
        ++last.under_way;
        ++dma.under_way;
        dma.bytes_under_way += bytes;
        any = true;
    }
    return any;
}

}  // namespace lockstep::tpu
