// SPDX-License-Identifier: Apache-2.0
#include "models/gpu/memory/memory_system.h"

#include <algorithm>

namespace lockstep::gpu {

namespace {
/// Under way between two partitions: more than their MSHRs and their SMs' limits let them send.
constexpr std::uint32_t kPeerMessages = 8192;
/// Sectors under way to and from another model of a partition's DRAM.
constexpr std::uint32_t kDramMessages = 1024;
}  // namespace

MemorySystem::MemorySystem(engine::Simulation& simulation, const config::Machine& machine,
                           std::span<CrossbarPort* const> ports, const std::string& prefix,
                           PeerUnit* peers)
    : simulation_(simulation), parameters_(MemoryParameters::of(machine)), map_(parameters_) {
    const std::uint32_t tiles = parameters_.tiles_per_l2_partition;
    for (std::uint32_t part = 0; part < parameters_.l2_partitions; ++part)
        for (std::uint32_t i = 0; i < tiles; ++i)
            partitions_.push_back(
                std::make_unique<MemoryPartition>(simulation, parameters_, map_, part, i, prefix));

    if (parameters_.l2_partitions == 2) {
        const engine::ChannelParameters between{.latency = parameters_.far_latency,
                                                .capacity = kPeerMessages,
                                                .credit_latency = parameters_.far_latency};
        for (std::uint32_t i = 0; i < tiles; ++i) {
            simulation.connect(partitions_[i]->to_peer_, partitions_[tiles + i]->from_peer_,
                               between);
            simulation.connect(partitions_[tiles + i]->to_peer_, partitions_[i]->from_peer_,
                               between);
        }
    }

    // An unanswered request holds an entry of each way at most; an entry is lacking until its
    // credit is back, hence the replies' margin.
    const engine::ChannelParameters requests{.latency = parameters_.request_latency,
                                             .capacity = parameters_.outstanding,
                                             .credit_latency = parameters_.request_latency};
    const engine::ChannelParameters replies{
        .latency = parameters_.reply_latency,
        .capacity =
            parameters_.outstanding + static_cast<std::uint32_t>(parameters_.reply_latency) + 1,
        .credit_latency = parameters_.reply_latency};
    const std::vector<std::vector<double>> shares = shares_of_gpcs(ports);
    for (CrossbarPort* port : ports) {
        LOCKSTEP_CHECK(port->tile_.clock() == parameters_.clock, "SM {} has another clock than L2",
                       port->sm());
        port->parameters_ = &parameters_;
        port->map_ = &map_;
        const std::uint32_t part = parameters_.l2_partition_of(port->sm());
        for (std::uint32_t i = 0; i < tiles; ++i) {
            MemoryPartition& partition = *partitions_[part * tiles + i];
            port->links_.push_back(std::make_unique<CrossbarPort::Link>(port->tile_, i));
            partition.links_.push_back(std::make_unique<MemoryPartition::Link>(
                partition, partition.links_.size(), port->gpc()));
            simulation.connect(port->links_.back()->requests, partition.links_.back()->requests,
                               requests);
            simulation.connect(partition.links_.back()->replies, port->links_.back()->replies,
                               replies);
        }
        if (peers != nullptr && port != &peers->port()) {
            // As far as a memory partition.
            port->peers_ = &peers_;
            port->links_.push_back(std::make_unique<CrossbarPort::Link>(port->tile_, tiles));
            peers->links_.push_back(std::make_unique<PeerUnit::Link>(*peers, peers->links_.size()));
            simulation.connect(port->links_.back()->requests, peers->links_.back()->requests,
                               requests);
            simulation.connect(peers->links_.back()->replies, port->links_.back()->replies,
                               replies);
        }
        port->connected();
    }
    if (peers != nullptr)
        for (std::size_t i = 0; i < peers->parameters_.regions.size(); ++i)
            if (i != peers->parameters_.device)
                peers_.others.push_back(peers->parameters_.regions[i] / kPeerRegionBytes);
    for (const auto& partition : partitions_)
        partition->connected(shares[partition->l2_partition_]);
}

std::vector<std::vector<double>> MemorySystem::shares_of_gpcs(
    std::span<CrossbarPort* const> ports) const {
    std::vector<std::vector<double>> near(parameters_.l2_partitions);
    std::vector<double> all;
    for (const CrossbarPort* port : ports) {
        if (port->gpc() == kNoGpc) continue;
        const std::size_t gpcs = std::max<std::size_t>(all.size(), port->gpc() + std::size_t{1});
        all.resize(gpcs);
        for (auto& part : near) part.resize(gpcs);
        ++all[port->gpc()];
        ++near[parameters_.l2_partition_of(port->sm())][port->gpc()];
    }
    for (auto& part : near)
        for (std::size_t gpc = 0; gpc < all.size(); ++gpc)
            if (all[gpc] != 0) part[gpc] /= all[gpc];
    return near;
}

MemorySystem::~MemorySystem() = default;

void MemorySystem::bind_dram(std::size_t partition,
                             engine::Receiver<engine::MemoryRequest>& requests,
                             engine::Sender<engine::MemoryResponse>& responses) {
    MemoryPartition& at = *partitions_[partition];
    at.dram_port_ = std::make_unique<DramPort>(at);
    simulation_.connect(at.dram_port_->requests, requests,
                        {.latency = parameters_.dram_request_latency,
                         .capacity = kDramMessages,
                         .credit_latency = parameters_.dram_request_latency});
    simulation_.connect(responses, at.dram_port_->responses,
                        {.latency = parameters_.dram_reply_latency,
                         .capacity = kDramMessages,
                         .credit_latency = parameters_.dram_reply_latency});
}

std::uint64_t MemorySystem::carry(memory::dram::Direction direction, std::uint64_t bytes,
                                  engine::Cycle begin, engine::Cycle end) {
    const std::uint64_t lines = bytes / kLineBytes / parameters_.dram.channels;
    ++copies_;
    for (const auto& partition : partitions_)
        partition->carry({copies_, direction, begin, end, lines});
    return copies_;
}

double MemorySystem::left(std::uint64_t traffic) const {
    double most = 0;
    for (const auto& partition : partitions_) most = std::max(most, partition->left(traffic));
    return most;
}

void MemorySystem::stop_copies() {
    for (const auto& partition : partitions_) partition->stop_copies();
}

bool MemorySystem::is_at_rest() const {
    return std::all_of(partitions_.begin(), partitions_.end(),
                       [](const auto& partition) { return partition->finished(); });
}

void MemorySystem::begin_kernel(bool cold) {
    if (cold)
        for (const auto& partition : partitions_) partition->clear_l2();
    before_ = all_counters();
}

MemoryPartition& MemorySystem::partition_of(std::uint32_t l2_partition, std::uint32_t slice) const {
    return *partitions_[l2_partition * parameters_.tiles_per_l2_partition +
                        map_.tile_of_slice(slice)];
}

void MemorySystem::place(engine::Cycle at, std::uint64_t line) {
    const LinePlace place = map_.find(line);
    home_of(place).place(at, place);
}

void MemorySystem::pass(std::uint64_t address, std::uint64_t bytes, Transfer transfer) {
    const std::uint64_t end = (address + bytes + kLineBytes - 1) / kLineBytes;
    for (std::uint64_t line = address / kLineBytes; line < end; ++line) {
        const LinePlace place = map_.find(line);
        home_of(place).pass(place, transfer);
        if (transfer == Transfer::kWrite && parameters_.l2_partitions == 2)
            partition_of(1 - place.l2_partition, place.slice).drop_copy(place);
    }
}

bool MemorySystem::holds(std::uint64_t address, std::uint64_t bytes) const {
    for (std::uint64_t line = address / kLineBytes; line * kLineBytes < address + bytes; ++line) {
        const LinePlace place = map_.find(line);
        if (!home_of(place).holds(line, place)) return false;
    }
    return true;
}

PartitionCounters MemorySystem::counters() const {
    return since(all_counters(), before_);
}

PartitionCounters MemorySystem::all_counters() const {
    PartitionCounters sum;
    for (const auto& partition : partitions_) add(sum, partition->counters());
    return sum;
}

}  // namespace lockstep::gpu
