// SPDX-License-Identifier: Apache-2.0
#include "workloads/network/tpu/steps.h"

namespace lockstep::network::lowering {

using tpu::Field;
using tpu::Opcode;

void Steps::begin(const std::string& name, std::int64_t macs, bool prefetch) {
    const bool waits = has_kernels_ && builder_.size() != 0;
    prefetches_ = waits && prefetch && may_prefetch_;
    if (waits && !prefetches_) wait_for_all();
    const std::uint32_t step = builder_.begin_step(name, static_cast<std::uint64_t>(macs));
    layers_.push_back({.name = name, .step = step});
}

void Steps::end_prefetch() {
    if (prefetches_) wait_for_all();
    prefetches_ = false;
}

void Steps::wait_for_all() {
    tpu::Instruction sync(Opcode::kSync);
    for (std::size_t queue = 0; queue < tpu::kQueues; ++queue)
        sync.set(static_cast<Field>(queue), 1);
    builder_.emit(sync);
}

void Steps::begin_kernel() {
    wait_for_all();
    builder_.emit(Opcode::kTag, {{Field::kStep, layer().step}});
}

}  // namespace lockstep::network::lowering
