// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sm/memory_issue.h"

#include <algorithm>
#include <cstddef>
#include <cstring>
#include <type_traits>

#include "models/gpu/sm/kernel_run.h"

namespace lockstep::gpu {

using engine::Cycle;
using Op = MemoryOperation;

namespace {

constexpr std::uint32_t kNothing = ~0u;  ///< of MemoryInstructionHeader::remote

/// What copies alone have, where they write, goes along with them alone.
void take_access(const sass::Access& noted, Op operation, sass::Access& to) {
    static_assert(std::is_trivially_copyable_v<sass::Access>);
    if (operation == Op::kCopyAsync)
        to = noted;
    else
        std::memcpy(static_cast<void*>(&to), &noted, offsetof(sass::Access, copy_to));
}

}  // namespace

/// Its place in the sub-core's queue; what follows of it is to be filled in.
MemoryInstruction& MemoryIssue::queue(WarpContext& context, const StaticInstruction& in,
                                      std::uint32_t pc, const MemoryInstructionInfo& info,
                                      Cycle now) {
    const bool is_uniform = info.is_uniform_address || is_shared(info.operation);
    const unsigned sub_core = warps_.sub_core_of(context);
    MemoryInstruction& entry =
        arbiter_.push(sub_core, info.operation, in.is_long_scoreboard,
                      now + (is_uniform ? parameters_.memory_issue_latency_uniform
                                        : parameters_.memory_issue_latency),
                      now);
    entry.info = &info;
    entry.code_index = pc;
    entry.warp = context.slot;
    entry.age = context.age;
    entry.grid = context.grid;
    entry.sub_core = static_cast<std::uint8_t>(sub_core);
    entry.write_barrier = in.write_barrier;
    entry.read_barrier = in.read_barrier;
    entry.trace = watch_.traced();
    entry.copy_group = context.open_group;
    entry.copy = nullptr;
    entry.texels = nullptr;
    entry.constants = MemoryInstructionHeader::kNoConstants;
    entry.is_remote = entry.is_remote_store = false;
    return entry;
}

/// What the warp has under way with the instruction.
void MemoryIssue::await(WarpContext& context, const StaticInstruction& in,
                        const MemoryInstruction& entry, Cycle now) {
    const Op operation = entry.info->operation;
    const bool is_long = (operation != Op::kLoadShared || entry.is_remote) && in.is_long_scoreboard;
    if (in.write_barrier < kCounters) warps_.hold(context, in.write_barrier, is_long);
    if (in.read_barrier < kCounters) warps_.hold(context, in.read_barrier, is_long);
    ++context.in_flight;
    ++context.in_queue;
    if (has<kChangesGlobal>(operation) || entry.is_remote_store) ++context.stores_in_flight;
    if (operation == Op::kCopyAsync) copies_.add(context);
    arbiter_.update(now + 1);
}

void MemoryIssue::issue(WarpContext& context, const StaticInstruction& in, std::uint32_t pc,
                        Cycle now) {
    const sass::Warp& warp = *context.warp;
    const MemoryInstructionInfo& info = context.grid->run->table->memory(in, warp.access.space);
    MemoryInstruction& entry = queue(context, in, pc, info, now);
    if (info.operation == Op::kBulkCopy) bulk_copies_.take_started(context, entry);
    if (has<kNotesNoAccess>(info.operation)) {
        entry.access.space = sass::Space::kGlobal;
        entry.access.lanes = warp.mask;
        entry.access.width = 0;
        return await(context, in, entry, now);
    }
    take_access(warp.access, info.operation, entry.access);
    // Surface loads have an address a lane and note no texels.
    if (info.operation == Op::kTexture && texels_.noted().taps != 0) entry.texels = texels_.keep();
    if (info.operation == Op::kLoadConstant)
        constants_.request(in, context, entry, now + parameters_.memory_issue_latency_uniform);
    if (warp.access.space == sass::Space::kCluster) [[unlikely]]
        note_remote(in, warp.access, entry);
    await(context, in, entry, now);
    if (const auto counter = row(info.operation).counter) ++(counters_.*counter);
}

void MemoryIssue::issue_for_none(WarpContext& context, const StaticInstruction& in,
                                 std::uint32_t pc, Cycle now) {
    const MemoryInstructionInfo& info = context.grid->run->table->memory(in, sass::Space::kGlobal);
    // TMA and the texture units are told nothing.
    if (info.operation == Op::kBulkCopy || info.operation == Op::kTexture) return;
    MemoryInstruction& entry = queue(context, in, pc, info, now);
    entry.access.space = sass::Space::kGlobal;
    entry.access.lanes = 0;
    entry.access.width = 0;
    await(context, in, entry, now);
}

void MemoryIssue::sources_read(Cycle at, const MemoryInstructionHeader& instruction) {
    if (instruction.read_barrier != sass::Control::kNoBarrier)
        warps_.release_later(warps_[instruction.warp], instruction.read_barrier, at);
}

void MemoryIssue::written_back(Cycle at, const MemoryInstructionHeader& instruction) {
    end(at, instruction, false);
}

void MemoryIssue::sent(Cycle at, const MemoryInstructionHeader& instruction) {
    ++instruction.grid->stores_under_way;
    warps_.events.schedule(
        at, {.kind = EventKind::kStoreSent, .warp = instruction.warp, .age = instruction.age});
}

void MemoryIssue::performed(Cycle at, const MemoryInstructionHeader& instruction) {
    --instruction.grid->stores_under_way;
    instruction.grid->last_store = at;
    end(at, instruction, true);
}

void MemoryIssue::end(Cycle at, const MemoryInstructionHeader& instruction, bool was_sent) {
    const Op operation = instruction.info->operation;
    if (instruction.texels != nullptr) texels_.release(instruction.texels);
    if (watch_.trace() != nullptr) watch_.trace()->written_back(instruction.trace, at);
    warps_.events.schedule(
        at, {.kind = EventKind::kMemoryDone,
             .counter = instruction.write_barrier,
             .warp = instruction.warp,
             .copy_group = instruction.copy_group,
             .is_store = has<kChangesGlobal>(operation) || instruction.is_remote_store,
             .is_copy = operation == Op::kCopyAsync,
             .is_bulk_copy = operation == Op::kBulkCopy,
             .was_sent = was_sent,
             .age = instruction.age});
}

void MemoryIssue::done(WarpContext& context, const Event& event) {
    if (event.counter != sass::Control::kNoBarrier) warps_.release(context, event.counter);
    if (!event.was_sent) --context.in_flight;
    if (event.is_store && --context.stores_in_flight == 0 && context.waits_for_stores) {
        context.waits_for_stores = false;
        warps_.wake(context, std::max(warps_.now(), context.not_before));
    }
    if (event.is_copy) copies_.end(context, event.copy_group);
    if (event.is_bulk_copy) bulk_copies_.end(context, event.copy_group);
}

/// Loads, stores and atomics wait for an answer; st.async and red.async report to an mbarrier.
void MemoryIssue::note_remote(const StaticInstruction& in, const sass::Access& access,
                              MemoryInstruction& entry) {
    entry.is_remote = true;
    entry.waits_for_remote = in.is_generic;
    entry.is_remote_store = in.is_generic && (access.is_store || access.is_atomic);
    entry.remote =
        cluster_ != nullptr && cluster_->has_issued() ? cluster_->take_issued() : kNothing;
}

void MemoryIssue::remote_accepted(Cycle at, const MemoryInstructionHeader& instruction) {
    const bool waits = instruction.waits_for_remote && instruction.remote != kNothing;
    if (instruction.remote != kNothing)
        cluster_->request(at, instruction.remote, instruction, waits);
    if (!waits) written_back(at, instruction);
}

}  // namespace lockstep::gpu
