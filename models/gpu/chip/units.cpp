// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/chip/units.h"

#include <fmt/format.h>

#include <algorithm>

namespace lockstep::gpu {

ChipUnits::ChipUnits(engine::Simulation& simulation, const config::Machine& machine,
                     const SmParameters& parameters, engine::ClockDomain clock,
                     const ChipPlace& place)
    : gcc_parameters_(machine), gpc_map_(machine) {
    const auto count = static_cast<std::size_t>(machine.integer("sm.count"));
    std::vector<CrossbarPort*> ports;
    for (std::size_t i = 0; i < count; ++i) {
        const auto index = static_cast<std::uint16_t>(i);
        sms_.push_back(std::make_unique<Sm>(simulation, fmt::format("{}sm{}", place.prefix, i),
                                            clock, index, machine, parameters));
        ports_.push_back(std::make_unique<CrossbarPort>(
            *sms_.back(), index, static_cast<std::uint8_t>(gpc_map_.gpc_of(index))));
        sms_.back()->connect(*ports_.back());
        ports.push_back(ports_.back().get());
    }
    // The first SM of each TPC gets a CTA before the second of any does.
    if (machine.integer("memory_unit.data_stage_sms") > 1)
        for (std::size_t i = 0; i < count / 2; ++i) {
            sms_[i]->share_data_stage(*sms_[i + count / 2]);
            sms_[i + count / 2]->share_data_stage(*sms_[i]);
        }
    // Ports near alternate parts of L2, as the SMs' are.
    const auto first = static_cast<std::uint32_t>(count + count % 2);
    for (std::uint32_t gpc = 0; gpc < gpc_map_.gpcs(); ++gpc) {
        gccs_.push_back(std::make_unique<Gcc>(simulation, fmt::format("{}gcc{}", place.prefix, gpc),
                                              clock, static_cast<std::uint16_t>(first + 2 * gpc),
                                              gcc_parameters_));
        ports.push_back(&gccs_.back()->port());
    }
    for (std::uint32_t i = 0; i < count; ++i)
        gccs_[gpc_map_.gpc_of(i)]->connect(sms_[i]->fetch_unit());
    if (place.peers != nullptr) {
        peers_ = std::make_unique<PeerUnit>(simulation, place.prefix + "peers", clock,
                                            static_cast<std::uint16_t>(first + 2 * gpc_map_.gpcs()),
                                            *place.peers);
        ports.push_back(&peers_->port());
    }
    memory_ =
        std::make_unique<MemorySystem>(simulation, machine, ports, place.prefix, peers_.get());
    connect_clusters(simulation, machine, clock, place.prefix);
}

void ChipUnits::connect_clusters(engine::Simulation& simulation, const config::Machine& machine,
                                 engine::ClockDomain clock, const std::string& prefix) {
    constexpr std::int64_t kFirstArch = 90;
    if (machine.integer("arch") < kFirstArch) return;
    cluster_parameters_ = std::make_unique<ClusterParameters>(machine);
    for (std::uint32_t gpc = 0; gpc < gpc_map_.gpcs(); ++gpc) {
        networks_.push_back(std::make_unique<ClusterNetwork>(
            simulation, fmt::format("{}cluster_network{}", prefix, gpc), clock,
            *cluster_parameters_));
        for (const std::uint16_t sm : gpc_map_.sms(gpc))
            sms_[sm]->connect(*networks_.back(), *cluster_parameters_);
    }
}

bool ChipUnits::is_at_rest() const {
    const auto is_finished = [](const auto& tile) { return tile->finished(); };
    return std::all_of(sms_.begin(), sms_.end(), is_finished) &&
           std::all_of(gccs_.begin(), gccs_.end(), is_finished) && memory_->is_at_rest();
}

}  // namespace lockstep::gpu
