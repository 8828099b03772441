// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/sm/sm_watch.h"

#include <bit>

#include "models/gpu/sm/kernel_run.h"

namespace lockstep::gpu {

void SmWatch::state(const WarpContext& context, WarpState next, engine::Cycle now) {
    if (profile_ != nullptr)
        profile_->waited(context.slot, context.warp->pc, context.state, now - context.since);
    if (trace_ != nullptr) trace_->state(context.slot, next, now);
}

void SmWatch::issued(const WarpContext& context, const StaticInstruction& in, std::uint32_t pc,
                     std::uint32_t mask, engine::Cycle now) {
    if (profile_ != nullptr)
        profile_->issued(context.slot, pc, static_cast<unsigned>(std::popcount(mask)));
    if (trace_ != nullptr)
        traced_ = trace_->issued(context.slot, context.grid->run->trace_names[pc], in, mask, now);
}

/// Global stores and atomics change memory when the window ends, and are looked at there.
void SmWatch::execute(unsigned sub_core, const StaticInstruction& in, const sass::Instruction& code,
                      sass::Warp& warp) {
    const bool is_memory = in.kind == InstructionKind::kMemory && !in.is_register;
    if (toggles_ != nullptr && !is_memory) toggles_->arithmetic(sub_core, in, warp);
    const sass::Word& word = warp.cta->launch->program->words()[warp.pc - 1];
    const bool writes = observes_changes_ && writes_memory(code, word);
    const bool is_known = writes && probe_.begin(code, word, warp);
    code.execute(code, warp);
    if (writes && (!is_known || probe_.has_changed())) ++changes_;
    if (toggles_ != nullptr && is_memory) toggles_->memory(code, warp);
}

}  // namespace lockstep::gpu
