// SPDX-License-Identifier: Apache-2.0
// What matters of a core when two ways to cut a product are compared: that queues work in order and
// wait for each other, that loads and stores take turns at the memory's bus request by request and
// have its latency, that an array takes a row a cycle and shifts its next tile in meanwhile, and
// that rows of windows have to be made. Left out, because it is much the same for all ways: bank
// conflicts, depths of FIFOs and queues, lanes that reductions wait for.
#include "workloads/network/tpu/plan_time.h"

#include <algorithm>
#include <array>
#include <deque>
#include <vector>

#include "isa/tpu/footprint.h"
#include "sim/numerics/integer.h"

namespace lockstep::network::lowering {

using numerics::divide_up;

namespace {

using enum tpu::Field;
using tpu::Instruction;
using tpu::Opcode;

constexpr std::size_t kWeightQueue = static_cast<std::size_t>(tpu::Queue::kWeights),
                      kFirstUnit = static_cast<std::size_t>(tpu::Queue::kMatrix0);
/// Of a vector register, which takes about a cycle where nothing else is known.
constexpr std::uint64_t kSublanes = 8;

class PlanTimer {
  public:
    PlanTimer(std::span<const Instruction> instructions, const TpuTarget& target)
        : program_(instructions), target_(target) {}

    std::uint64_t run() {
        // Pieces between syncs: the sequencer waits for all that was issued.
        for (std::size_t begin = 0; begin < program_.size();) {
            std::size_t end = begin;
            while (end < program_.size() && program_[end].opcode() != Opcode::kSync) ++end;
            run_piece(begin, end);
            issue_ = std::max(issue_, end_);
            begin = end + 1;
        }
        return static_cast<std::uint64_t>(end_);
    }

  private:
    /// An instruction in its queue; what it needs are numbers of instructions by queue, from 1.
    struct Entry {
        const Instruction* instruction;
        double issued;
        std::array<std::size_t, tpu::kQueues> need;
    };
    struct Queue {
        std::vector<Entry> entries;
        std::size_t next = 0;
        double free = 0;
        std::vector<double> done;  ///< by number - 1; ascends

        // The transfer that has begun:
        std::uint64_t address = 0, left = 0;  ///< of what is not yet requested, bytes
        double request = 0;                   ///< when the next part of it is
        struct Request {
            double answered;
            std::uint64_t bytes;
        };
        std::deque<Request> under_way;  ///< of this and earlier transfers
        std::uint64_t bytes_under_way = 0;
    };

    void run_piece(std::size_t begin, std::size_t end) {
        for (std::size_t i = begin; i < end; ++i) {
            const Instruction& instruction = program_[i];
            issue_ += target_.speed.issue_interval;
            if (instruction.queue() == tpu::Queue::kSequencer) continue;
            Entry entry{&instruction, issue_, {}};
            for (std::size_t q = 0; q < tpu::kQueues; ++q) {
                const std::size_t distance = instruction.wait(static_cast<tpu::Queue>(q)),
                                  issued = queues_[q].entries.size();
                if (distance != 0 && distance <= issued) entry.need[q] = issued - distance + 1;
            }
            if (instruction.opcode() == Opcode::kReadWeights)
                tiles_[instruction[kUnit]].push_back(queues_[kWeightQueue].entries.size() + 1);
            queues_[static_cast<std::size_t>(instruction.queue())].entries.push_back(entry);
        }
        // Whoever can begin first does, so that transfers share memory in the order of time.
        for (;;) {
            Queue* first = nullptr;
            double at = 0;
            for (std::size_t q = 0; q < tpu::kQueues; ++q) {
                const std::optional<double> start = start_of(q);
                if (!start || (first != nullptr && *start >= at)) continue;
                first = &queues_[q];
                at = *start;
            }
            if (first == nullptr) return;
            begin_next(*first, at);
        }
    }

    /// When the next of a queue can begin; nothing where there is none, or what it waits for has
    /// not begun.
    std::optional<double> start_of(std::size_t index) const {
        const Queue& queue = queues_[index];
        if (queue.left != 0) return queue.request;
        if (queue.next == queue.entries.size()) return std::nullopt;
        const Entry& entry = queue.entries[queue.next];
        std::array<std::size_t, tpu::kQueues> need = entry.need;
        if (index >= kFirstUnit && index < kFirstUnit + tpu::kMaxMatrixUnits) {
            const std::size_t unit = index - kFirstUnit;
            need[kWeightQueue] = std::max(
                need[kWeightQueue], tiles_[unit].at(std::min(queue.next, tiles_[unit].size() - 1)));
        }
        double start = std::max(entry.issued, queue.free);
        for (std::size_t q = 0; q < tpu::kQueues; ++q) {
            if (need[q] == 0) continue;
            if (queues_[q].done.size() < need[q]) return std::nullopt;
            start = std::max(start, queues_[q].done[need[q] - 1]);
        }
        if (need[kWeightQueue] != 0 && shifts(*entry.instruction))
            start = std::max({start, queues_[kWeightQueue].done[need[kWeightQueue] - 1] + shift(),
                              switched_[index - kFirstUnit] + shift()});
        return start;
    }

    /// Cycles to shift a tile of weights in, as soon as it is there and the last is in use.
    double shift() const { return target_.limits.array_rows; }
    static bool shifts(const Instruction& i) {
        return time_of(i.opcode()) == tpu::Time::kStream &&
               tpu::dataflow_of(i) == tpu::Dataflow::kWeightStationary && i.flag(kSwitchWeights);
    }

    void begin_next(Queue& queue, double start) {
        if (queue.left != 0) return request(queue, start);
        const Instruction& next = *queue.entries[queue.next++].instruction;
        switch (next.opcode()) {
            case Opcode::kLoad:
                return transfer(queue, start, next[kMemory],
                                bytes_of(next[kRows], next[kRowBytes], next[kSourcePitch]));
            case Opcode::kStore:
                return transfer(queue, start, next[kMemory],
                                bytes_of(next[kRows], next[kRowBytes], next[kDestinationPitch]));
            case Opcode::kReadWeights:
                if (next.as<tpu::WeightSource>(kFrom) == tpu::WeightSource::kMemory)
                    return transfer(
                        queue, start, next[kAddress],
                        next[kLanes] * next[kColumns] * size_of(next.type(kWeightType)));
                return finish(queue, start);
            case Opcode::kActivate:
            case Opcode::kVector:
            case Opcode::kReduce:
                // A loop runs as a whole.
                loop_.push_back(&next);
                if (next.flag(kKeeps)) return;
                queue.free = start + static_cast<double>(vector_cycles());
                for (; !loop_.empty(); loop_.pop_back())
                    finish(queue, queue.free + target_.speed.vector_latency);
                return;
            default:
                if (shifts(next))
                    switched_[static_cast<std::size_t>(next.queue()) - kFirstUnit] = start;
                queue.free =
                    std::max(start + static_cast<double>(streams(next)), rows_made(next, start));
                finish(queue,
                       queue.free + target_.limits.array_rows + target_.limits.array_columns);
        }
    }

    void finish(Queue& queue, double done) {
        if (!queue.done.empty()) done = std::max(done, queue.done.back());
        queue.done.push_back(done);
        end_ = std::max(end_, done);
    }

    std::uint64_t vector_cycles() const {
        if (target_.vector_cycles) return target_.vector_cycles(loop_);
        const Instruction& last = *loop_.back();
        return divide_up(last[kRows], kSublanes) *
               divide_up(last[kColumns], target_.limits.array_columns);
    }

    /// Of rows that do not follow each other.
    std::uint64_t bytes_of(std::uint64_t rows, std::uint64_t row_bytes, std::uint64_t pitch) const {
        if (pitch == row_bytes || rows <= 1) return rows * row_bytes;
        const std::uint64_t granule = target_.speed.memory_granule;
        return rows * divide_up(row_bytes, granule) * granule;
    }

    void transfer(Queue& queue, double start, std::uint64_t address, std::uint64_t bytes) {
        queue.free = start + target_.speed.dma_setup;
        if (bytes == 0) return finish(queue, queue.free);
        queue.address = address;
        queue.left = bytes;
        queue.request = may_request(queue, queue.free);
    }

    /// When the next part of a transfer is requested: so many bytes of a queue are under way.
    double may_request(Queue& queue, double at) const {
        const tpu::CoreSpeed& speed = target_.speed;
        const std::uint64_t bytes = std::min(queue.left, speed.dma_chunk);
        while (!queue.under_way.empty() &&
               (queue.under_way.front().answered <= at ||
                queue.bytes_under_way + bytes > speed.dma_outstanding * speed.dma_chunk)) {
            at = std::max(at, queue.under_way.front().answered);
            queue.bytes_under_way -= queue.under_way.front().bytes;
            queue.under_way.pop_front();
        }
        return at;
    }

    /// The memory serves requests in order of arrival (models/memory/stream).
    void request(Queue& queue, double at) {
        const tpu::CoreSpeed& speed = target_.speed;
        const bool writes = &queue == &queues_[static_cast<std::size_t>(tpu::Queue::kStore)];
        const std::uint64_t bytes = std::min(queue.left, speed.dma_chunk);
        const double share = static_cast<double>(bytes) / static_cast<double>(speed.dma_chunk);
        double cycles =
            static_cast<double>(bytes) / (writes ? speed.write_bytes : speed.read_bytes);
        if (streams_[writes ? 0 : 1].until > at)
            cycles += speed.memory_turn * share;
        else if (bus_ > at && streams_[writes ? 1 : 0].end != queue.address)
            cycles += speed.memory_jump * share;
        bus_ = std::max(bus_, at) + cycles;
        queue.address += bytes;
        queue.left -= bytes;
        streams_[writes ? 1 : 0] = {queue.address, bus_};
        const double answered = bus_ + speed.memory_latency;
        queue.under_way.push_back({answered, bytes});
        queue.bytes_under_way += bytes;
        queue.free = at;
        if (queue.left == 0)
            finish(queue, answered);
        else
            queue.request = may_request(queue, at);
    }

    /// When the rows of a convolution's windows are there; units share those that are the same.
    double rows_made(const Instruction& next, double start) {
        if (!tpu::packs(next, target_.speed.vector_lanes)) return start;
        const tpu::WindowRows rows = tpu::window_rows(next);
        for (const auto& [what, made, used] : windows_)
            if (what == rows && start < used) return made;
        const auto count = static_cast<double>(next[kRows]);
        const auto registers =
            static_cast<double>(divide_up(next[kLanes], target_.speed.vector_lanes));
        made_ = std::max(made_, start) + count * registers * target_.speed.window_row;
        windows_[next_window_++ % windows_.size()] = {rows, made_, std::max(made_, start + count)};
        return made_;
    }

    /// Cycles that an array is taken: by what streams, and at least by what shifts with it.
    std::uint64_t streams(const Instruction& i) const {
        const std::uint64_t rows = target_.limits.array_rows;
        switch (tpu::dataflow_of(i)) {
            case tpu::Dataflow::kWeightStationary:
                return i[kRows];
            case tpu::Dataflow::kOutputStationary:
                return i.flag(kUnload) ? std::max(i[kLanes], rows) : i[kLanes];
            case tpu::Dataflow::kInputStationary:
                return i.flag(kSwitchInputs) ? std::max(i[kColumns], rows) : i[kColumns];
        }
        return 0;
    }

    const std::span<const Instruction> program_;
    const TpuTarget& target_;
    std::array<Queue, tpu::kQueues> queues_;
    /// By unit and its matrix instructions, the number of the tile in the weight queue.
    std::array<std::vector<std::size_t>, tpu::kMaxMatrixUnits> tiles_;
    struct Made {
        tpu::WindowRows rows{};
        double made = 0, used = 0;  ///< until when
    };
    std::array<Made, tpu::kMaxMatrixUnits> windows_{};
    std::size_t next_window_ = 0;
    std::array<double, tpu::kMaxMatrixUnits> switched_{};  ///< when a unit took its last tile
    std::vector<const Instruction*> loop_;  ///< of the vector unit, that has not ended
    struct Stream {
        std::uint64_t end = 0;  ///< address
        double until = 0;
    };
    std::array<Stream, 2> streams_{};  ///< reads, writes
    double issue_ = 0, end_ = 0, bus_ = 0, made_ = 0;
};

}  // namespace

std::uint64_t plan_time(std::span<const Instruction> instructions, const TpuTarget& target) {
    return PlanTimer(instructions, target).run();
}

}  // namespace lockstep::network::lowering
