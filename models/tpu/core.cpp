// SPDX-License-Identifier: Apache-2.0
// What a TPU core does of its own where a sequencer issues and completes; transfers.cpp,
// matrix_unit.cpp and units.cpp have the units.
#include "models/tpu/core.h"

#include <algorithm>

#include "sim/engine/tlm_memory_port.h"
#include "sim/error/error.h"

namespace lockstep::tpu {

namespace {

double host_bytes_per_cycle(const Parameters& parameters) {
    return parameters.host_gb_per_s * 1e3 / parameters.clock_mhz;
}

}  // namespace

Core::Core(engine::Simulation& owner, std::string name, const Parameters& parameters,
           const Program& program, const Storage& storage, State* state, CoreTrace* trace)
    : Sequencer(owner, std::move(name), parameters, program, state, trace),
      limits_(parameters.limits()),
      storage_(storage),
      tile_(tile_timing(parameters.array, parameters.overlap, 1)),
      unified_buffer_(parameters.banks),
      windows_(parameters_.vector),
      memory_link_{parameters.speed().memory_bytes},
      host_links_{Link{host_bytes_per_cycle(parameters)}, Link{host_bytes_per_cycle(parameters)}},
      timelines_(parameters.units) {}

Core::~Core() = default;

bool Core::retire(Cycle now) {
    bool any = false;
    for (std::size_t unit = 0; unit < parameters_.units; ++unit)
        any |=
            drain(units_[unit].results, static_cast<std::size_t>(tpu::Queue::kMatrix0) + unit, now);
    any |= drain(vector_results_, static_cast<std::size_t>(tpu::Queue::kVector), now);
    return any;
}

engine::Cycle Core::issue_interval(const Instruction& instruction) const {
    return instruction.opcode() == Opcode::kTag
               ? std::max(parameters_.issue_interval, parameters_.tag_cycles)
               : parameters_.issue_interval;
}

bool Core::issue(const Instruction& next, Cycle) {
    const auto queue_index = static_cast<std::size_t>(next.queue());
    Queue& queue = queues_[queue_index];
    if (queue.waiting.size() >= parameters_.queue_depth) return false;
    const std::string wrong = check_bounds(next, limits_, storage_);
    if (!wrong.empty()) fault(next_instruction_, wrong);
    compute(next);
    queue.waiting.push_back(next_entry(queue, next));
    ++queue.issued;
    ++step(current_step_).instructions;
    return true;
}

bool Core::run_units(Cycle now) {
    bool any = false;
    for (std::size_t index = 0; index < 2 + parameters_.units; ++index) any |= run_dma(index, now);
    for (std::size_t unit = 0; unit < parameters_.units; ++unit) any |= run_matrix(unit, now);
    any |= run_vector(now);
    return any;
}

void Core::halt() {
    for (Timeline& timeline : timelines_) timeline.add(end_, ArrayState::kNonMatrix, current_step_);
}

engine::Cycle Core::next_event(Cycle now) {
    Cycle next = engine::kNever;
    const auto consider = [&](Cycle at) {
        if (at > now) next = std::min(next, at);
    };
    consider(next_issue_);
    consider(host_done_);
    consider(vector_free_);
    if (!vector_results_.empty()) consider(vector_results_.front().at);
    for (std::size_t index = 0; index < parameters_.units; ++index) {
        const MatrixUnit& unit = units_[index];
        consider(unit.stream_end);
        consider(unit.sums_free);
        if (unit.shadow) consider(unit.shadow_ready);
        if (!unit.results.empty()) consider(unit.results.front().at);
    }
    for (const DmaQueue& queue : dma_)
        for (const Transfer& transfer : queue.active) {
            consider(transfer.ready);
            consider(transfer.drained);
        }
    consider(memory_responses.next_ready());
    consider(host_responses.next_ready());
    if (memory_requests.credits(now) == 0) consider(memory_requests.next_credit(now));
    if (host_requests.credits(now) == 0) consider(host_requests.next_credit(now));
    return next;
}

}  // namespace lockstep::tpu
