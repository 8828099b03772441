// SPDX-License-Identifier: Apache-2.0
// What an SM's warps do to other CTAs of their clusters, and what those do here. Execution at issue
// hands operations to the SM's end of the network; a memory instruction's leave when it has passed
// the queue to the memory unit, others at once.
#include "models/gpu/sm/sm.h"

namespace lockstep::gpu {

using engine::Cycle;

namespace {

constexpr std::uint32_t kNothing = ~0u;  ///< of MemoryInstructionHeader::remote

}  // namespace

void Sm::connect(ClusterNetwork& network, const ClusterParameters& parameters) {
    cluster_ = std::make_unique<ClusterUnit>(*this, index_, parameters, *this);
    network.connect(*cluster_, index_);
}

/// Loads, stores and atomics wait for an answer; st.async and red.async report to an mbarrier.
void Sm::note_remote(const StaticInstruction& in, WarpContext& context, MemoryInstruction& entry) {
    const sass::Access& access = context.warp->access;
    entry.is_remote = true;
    entry.waits_for_remote = in.is_generic;
    entry.is_remote_store = in.is_generic && (access.is_store || access.is_atomic);
    entry.remote =
        cluster_ != nullptr && cluster_->has_issued() ? cluster_->take_issued() : kNothing;
}

/// What no memory instruction takes with it: arrivals at mbarriers and at barrier.cluster.
void Sm::post_remote(Cycle now) {
    if (cluster_->has_arrived()) cluster_->send_arrivals(now);
    if (!cluster_->has_issued()) return;
    cluster_->request(now + parameters_.memory_issue_latency_uniform, cluster_->take_issued(), {},
                      false);
}

void Sm::remote_accepted(Cycle at, const MemoryInstructionHeader& instruction) {
    const bool waits = instruction.waits_for_remote && instruction.remote != kNothing;
    if (instruction.remote != kNothing)
        cluster_->request(at, instruction.remote, instruction, waits);
    if (!waits) written_back(at, instruction);
}

Cycle Sm::serve_remote(Cycle now, const sass::RemoteOperation& operation) {
    // It may have arrived at an mbarrier, or reported to one.
    const sass::ClusterMember* const member =
        operation.warp->cta->member->cluster->member[operation.rank];
    check_mbarriers(member->cta->slot, now + 1);
    return memory_->serve_remote(now, operation);
}

void Sm::remote_done(Cycle now, const MemoryInstructionHeader& instruction) {
    const bool returns = instruction.info->operation != MemoryOperation::kStoreShared;
    written_back(returns ? memory_->return_remote(now, instruction) : now, instruction);
}

void Sm::cluster_released(Cycle now, sass::Cta& cta) {
    wake_waiting(ctas_[cta.slot], now);
}

}  // namespace lockstep::gpu
