// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/device/copies_beside.h"

#include <algorithm>

namespace lockstep::gpu {

void CopiesBeside::carry(WorkId transfer, bool writes, std::uint64_t bytes, SimulatedTime begin,
                         SimulatedTime end, bool kernels_run) {
    std::erase_if(copies_, [&](const Copy& copy) { return left(copy, begin) == 0; });
    copies_.push_back({transfer, writes, bytes, begin, end, {}});
    if (kernels_run) put_on_chip(copies_.back(), begin);
}

bool CopiesBeside::meet_kernel(SimulatedTime at) {
    bool has_met = false;
    for (Copy& copy : copies_) {
        if (left(copy, at) == 0) continue;
        if (!copy.traffic) put_on_chip(copy, at);
        has_met = true;
    }
    return has_met;
}

SimulatedTime CopiesBeside::left(const Copy& copy, SimulatedTime now) const {
    if (!copy.traffic) return copy.end > now ? copy.end - now : 0;
    const double share = chip().memory().left(*copy.traffic);
    if (share == 0) return 0;
    return std::max<SimulatedTime>(
        1, static_cast<SimulatedTime>(share * static_cast<double>(copy.end - copy.begin)));
}

SimulatedTime CopiesBeside::left(WorkId transfer, SimulatedTime now) {
    SimulatedTime most = 0;
    for (const Copy& copy : copies_)
        if (copy.transfer == transfer) most = std::max(most, left(copy, now));
    return most;
}

void CopiesBeside::put_on_chip(Copy& copy, SimulatedTime from) {
    from = std::max(from, copy.begin);
    const double share = static_cast<double>(copy.end - from) /
                         static_cast<double>(std::max<SimulatedTime>(copy.end - copy.begin, 1));
    copy.bytes = static_cast<std::uint64_t>(share * static_cast<double>(copy.bytes));
    copy.begin = from;
    const auto cycle = [&](SimulatedTime time) {
        const auto on_chip = static_cast<std::int64_t>(time) - chips_.ahead;
        return chip().clock().first_cycle_from(
            std::max(chip().time(), static_cast<engine::Time>(std::max<std::int64_t>(on_chip, 0))));
    };
    copy.traffic = chip().memory().carry(
        copy.writes ? memory::dram::Direction::kWrite : memory::dram::Direction::kRead, copy.bytes,
        cycle(from), cycle(copy.end));
}

void CopiesBeside::take_off_chip(SimulatedTime now) {
    for (Copy& copy : copies_) {
        if (!copy.traffic) continue;
        const double share = chip().memory().left(*copy.traffic);
        copy.end = now + left(copy, now);
        copy.begin = now;
        copy.bytes = static_cast<std::uint64_t>(share * static_cast<double>(copy.bytes));
        copy.traffic.reset();
    }
}

}  // namespace lockstep::gpu
