// SPDX-License-Identifier: Apache-2.0
// Within what is allowed the order is that of issue, so that results are the same in every run.
#include "models/gpu/execution/late_copies.h"

#include <algorithm>

#include "isa/sass/barrier_observer.h"

namespace lockstep::gpu {

using sass::AsyncCopy;

void LateCopies::start(const AsyncCopy& copy) {
    if (!copy.moves()) return;
    if (copy.source->observer != nullptr) copy.source->observer->copy_started(copy);
    // What writes shared memory is the business of those who wait for it there.
    if (copy.writes_shared())
        static_cast<LateCopies*>(copy.target->async)->loads_.push_back(copy);
    else
        open_.push_back(copy);
}

void LateCopies::perform(const AsyncCopy& copy) {
    perform_copy(copy);
    report_copy(copy);
    if (copy.target->observer != nullptr) copy.target->observer->copy_performed(copy);
}

void LateCopies::perform(const Group& group) {
    for (const AsyncCopy& copy : group.copies) perform(copy);
}

void LateCopies::commit(sass::Warp& warp, unsigned counter) {
    Group group{warp.index, counter, {}};
    std::erase_if(open_, [&](const AsyncCopy& copy) {
        if (copy.warp != warp.index) return false;
        group.copies.push_back(copy);
        return true;
    });
    groups_.push_back(std::move(group));
}

void LateCopies::wait(sass::Warp& warp, unsigned counter, unsigned limit) {
    const auto is_awaited = [&](const Group& group) {
        return group.warp == warp.index && group.counter == counter;
    };
    auto pending =
        static_cast<std::size_t>(std::count_if(groups_.begin(), groups_.end(), is_awaited));
    std::erase_if(groups_, [&](const Group& group) {
        if (pending <= limit || !is_awaited(group)) return false;
        --pending;
        perform(group);
        return true;
    });
}

bool LateCopies::settle(sass::Cta&, std::uint32_t mbarrier) {
    const auto due = std::find_if(loads_.begin(), loads_.end(),
                                  [&](const AsyncCopy& copy) { return copy.mbarrier == mbarrier; });
    if (due == loads_.end()) return false;
    const AsyncCopy copy = *due;
    loads_.erase(due);
    perform(copy);
    return true;
}

void LateCopies::end_cta() {
    for (const Group& group : groups_) perform(group);
    groups_.clear();
    for (const AsyncCopy& copy : open_) perform(copy);
    open_.clear();
    for (const AsyncCopy& copy : loads_) perform(copy);
    loads_.clear();
}

}  // namespace lockstep::gpu
