// SPDX-License-Identifier: Apache-2.0
// What matters of a core when two ways to cut a product are compared: that queues work in order and
// wait for each other, that loads and stores share the memory's bandwidth and have its latency,
// that an array takes a row a cycle and its next tile meanwhile, and that rows of windows have to
// be made. Left out, because it is much the same for all ways: bank conflicts, depths of FIFOs and
// queues, DRAM pages.
#include "workloads/network/tpu/plan_time.h"

#include <algorithm>
#include <array>
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
        return start;
    }

    void begin_next(Queue& queue, double start) {
        const Instruction& next = *queue.entries[queue.next++].instruction;
        double done = start;
        switch (next.opcode()) {
            case Opcode::kLoad:
            case Opcode::kStore:
                done = transfer(queue, start, next[kRows] * next[kRowBytes]);
                break;
            case Opcode::kReadWeights:
                if (next.as<tpu::WeightSource>(kFrom) == tpu::WeightSource::kMemory)
                    done =
                        transfer(queue, start,
                                 next[kLanes] * next[kColumns] * size_of(next.type(kWeightType)));
                break;
            case Opcode::kActivate:
            case Opcode::kVector:
            case Opcode::kReduce:
                queue.free = start + static_cast<double>(vector_cycles(next));
                done = queue.free;
                break;
            default:
                queue.free =
                    std::max(start + static_cast<double>(streams(next)), rows_made(next, start));
                done = queue.free + target_.limits.array_rows + target_.limits.array_columns;
        }
        if (!queue.done.empty()) done = std::max(done, queue.done.back());
        queue.done.push_back(done);
        end_ = std::max(end_, done);
    }

    std::uint64_t vector_cycles(const Instruction& next) const {
        if (target_.vector_cycles) return target_.vector_cycles(next);
        return divide_up(next[kRows], kSublanes) *
               divide_up(next[kColumns], target_.limits.array_columns);
    }

    double transfer(Queue& queue, double start, std::uint64_t bytes) {
        link_ = std::max(link_, start) + static_cast<double>(bytes) / target_.speed.memory_bytes /
                                             target_.speed.memory_share;
        queue.free = link_;
        return link_ + target_.speed.memory_latency;
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

    /// Cycles that an array is taken: by what streams, and at least by the next tile's shift.
    std::uint64_t streams(const Instruction& i) const {
        const std::uint64_t rows = target_.limits.array_rows;
        switch (tpu::dataflow_of(i)) {
            case tpu::Dataflow::kWeightStationary:
                return i.flag(kSwitchWeights) ? std::max(i[kRows], rows) : i[kRows];
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
    double issue_ = 0, end_ = 0, link_ = 0, made_ = 0;
};

}  // namespace

std::uint64_t plan_time(std::span<const Instruction> instructions, const TpuTarget& target) {
    return PlanTimer(instructions, target).run();
}

}  // namespace lockstep::network::lowering
