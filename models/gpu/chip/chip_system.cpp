// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/chip/chip_system.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/gpu/chip/advance.h"
#include "models/system/host_link.h"
#include "sim/engine/host_memory.h"

namespace lockstep::gpu {

std::size_t ChipSystem::add(Member member) {
    LOCKSTEP_CHECK(chips_.empty(), "a chip comes to a system that runs");
    members_.push_back(std::move(member));
    return members_.size() - 1;
}

PeerParameters ChipSystem::peers_of(std::size_t number) const {
    const Member& member = members_[number];
    const system::PeerLink link = system::PeerLink::of(*member.machine);
    const auto clock = engine::ClockDomain::from_megahertz(member.parameters->clock_mhz);
    constexpr double kPicoseconds = 1e12;
    PeerParameters out;
    for (const Member& other : members_) out.regions.push_back(other.region);
    out.device = static_cast<std::uint32_t>(number);
    out.latency = std::max<engine::Cycle>(1, clock.cycle_at(link.way.latency));
    // Where no link exists, no access is let through that would take it.
    if (link.exists)
        out.bandwidth =
            link.raw_bytes_per_second * static_cast<double>(clock.period()) / kPicoseconds;
    out.packet_header = static_cast<std::uint32_t>(link.packet_header);
    return out;
}

void ChipSystem::make() {
    engine::grow_in_huge_pages();
    const Member& first = members_.front();
    const auto clock = engine::ClockDomain::from_megahertz(first.parameters->clock_mhz);
    system_ = std::make_unique<system::System>(
        system::SystemOptions{.name = first.machine->name(),
                              .threads = first.options.threads,
                              .names_channels = first.options.trace.signals,
                              .shuffle = first.options.shuffle,
                              .slowest_cycle = clock.start_of(1)});
    const bool are_several = members_.size() > 1;
    peers_.clear();
    for (std::size_t i = 0; are_several && i < members_.size(); ++i) peers_.push_back(peers_of(i));
    for (std::size_t i = 0; i < members_.size(); ++i) {
        const Member& member = members_[i];
        const ChipPlace place{.prefix = are_several ? fmt::format("gpu{}.", i) : "",
                              .peers = are_several ? &peers_[i] : nullptr};
        chips_.push_back(std::make_unique<Chip>(system_->simulation(), *member.machine,
                                                *member.parameters, member.options, place));
    }
    for (std::size_t a = 0; a < chips_.size(); ++a)
        for (std::size_t b = a + 1; b < chips_.size(); ++b)
            PeerUnit::connect(*chips_[a]->peers(), *chips_[b]->peers());
}

Chip& ChipSystem::chip(std::size_t number) {
    if (chips_.empty()) make();
    return *chips_[number];
}

bool ChipSystem::is_idle() const {
    return std::all_of(chips_.begin(), chips_.end(),
                       [](const auto& chip) { return chip->grids() == 0; });
}

engine::Time ChipSystem::advance(engine::Time limit) {
    std::vector<Chip*> chips;
    for (const std::unique_ptr<Chip>& chip : chips_) chips.push_back(chip.get());
    return gpu::advance(chips, limit);
}

void ChipSystem::set_ahead(std::int64_t time) {
    ahead = time;
    for (const std::unique_ptr<Chip>& chip : chips_)
        if (chip->trace() != nullptr)
            chip->trace()->shift(time / static_cast<std::int64_t>(chip->clock().period()));
}

void ChipSystem::clear() {
    chips_.clear();
    system_.reset();
    for (const Member& member : members_)
        if (member.ended) member.ended();
}

}  // namespace lockstep::gpu
