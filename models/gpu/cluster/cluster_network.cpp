// SPDX-License-Identifier: Apache-2.0
// A crossbar between the SMs of a GPC: any two are equally far from each other (measured on H200:
// the latency does not depend on ranks), and each SM has a port in and one out whose rate bounds
// it. The unit that counts arrivals at barrier.cluster stands in its middle. Simplified: CPCs,
// which share lanes, are taken as their share for each SM.
#include "models/gpu/cluster/cluster_network.h"

#include <fmt/format.h>

#include <algorithm>

#include "models/gpu/cluster/cluster_unit.h"
#include "sim/error/error.h"

namespace lockstep::gpu {

using engine::Cycle;
using engine::kNever;

ClusterParameters::ClusterParameters(const config::Machine& machine) {
    config::read_rows(machine, cluster_rows(), *this);
    constexpr engine::Cycle kShortest = 2;  // a cycle to the network and one from it
    if (hop_latency < kShortest)
        throw InputError(fmt::format("{}: cluster.hop_latency: {} cycles, at least {}",
                                     machine.name(), hop_latency, kShortest));
}

ClusterNetwork::ClusterNetwork(engine::Simulation& simulation, std::string name,
                               engine::ClockDomain clock, const ClusterParameters& parameters)
    : Tile(simulation, std::move(name), clock), parameters_(parameters) {}

void ClusterNetwork::connect(ClusterUnit& unit, std::uint16_t sm) {
    link_of_.resize(std::max<std::size_t>(link_of_.size(), sm + std::size_t{1}));
    link_of_[sm] = static_cast<std::uint32_t>(links_.size());
    links_.push_back(std::make_unique<Link>(*this, sm, parameters_.port_bandwidth));
    simulation().connect(unit.out, links_.back()->in,
                         {.latency = parameters_.to_network(),
                          .capacity = parameters_.channel_messages,
                          .credit_latency = parameters_.to_network()});
    simulation().connect(links_.back()->out, unit.in,
                         {.latency = parameters_.from_network(),
                          .capacity = parameters_.channel_messages,
                          .credit_latency = parameters_.from_network()});
}

void ClusterNetwork::gather(Cycle until) {
    arrivals_.clear();
    for (const auto& link : links_)
        for (Cycle at = link->in.next_ready(); at < until; at = link->in.next_ready())
            arrivals_.push_back({at, link->in.receive(at)});
    std::stable_sort(arrivals_.begin(), arrivals_.end(),
                     [](const Arrival& a, const Arrival& b) { return a.at < b.at; });
}

void ClusterNetwork::leave(const Arrival& arrival, Cycle at) {
    Link& link = *links_[link_of_[arrival.message.to]];
    at = std::max(at, link.port.pass_on(at, arrival.message.bytes));
    if (!link.departures.empty()) at = std::max(at, link.departures.back().at);
    link.departures.push_back({at, arrival.message});
}

void ClusterNetwork::arrive(const Arrival& arrival) {
    const PlacedCluster& placed = *arrival.message.cluster;
    Barrier& barrier = barriers_[placed.number];
    const std::uint32_t bit = 1u << arrival.message.rank;
    barrier.arrived |= bit;
    if (arrival.message.has_exited) barrier.exited |= bit;
    const std::uint32_t all = (1u << placed.size) - 1;
    if (barrier.exited == all) {
        barriers_.erase(placed.number);
        return;
    }
    if ((barrier.arrived | barrier.exited) != all) return;
    for (std::uint32_t rank = 0; rank < placed.size; ++rank) {
        if (barrier.exited >> rank & 1) continue;
        Arrival release = arrival;
        release.message.kind = ClusterMessage::Kind::kRelease;
        release.message.rank = static_cast<std::uint8_t>(rank);
        release.message.to = placed.sm[rank];
        release.message.bytes = 0;
        leave(release, arrival.at + parameters_.barrier_latency);
    }
    barrier.arrived = 0;
}

void ClusterNetwork::route(const Arrival& arrival) {
    if (arrival.message.kind == ClusterMessage::Kind::kArrive) return arrive(arrival);
    leave(arrival, arrival.at);
}

Cycle ClusterNetwork::advance(Cycle from, Cycle until) {
    gather(until);
    for (const Arrival& arrival : arrivals_) route(arrival);
    Cycle next = kNever;
    for (const auto& link : links_) {
        auto& departures = link->departures;
        while (!departures.empty()) {
            const Cycle at = std::max(departures.front().at, from);
            if (at >= until) {
                next = std::min(next, at);
                break;
            }
            if (link->out.credits(at) == 0) {
                next = std::min(next, std::max(link->out.next_credit(at), until));
                break;
            }
            link->out.send(at, departures.front().message);
            departures.pop_front();
        }
    }
    return next;
}

bool ClusterNetwork::finished() const {
    return std::all_of(links_.begin(), links_.end(),
                       [](const auto& link) { return link->departures.empty(); });
}

std::string ClusterNetwork::explain_wait() const {
    std::size_t waiting = 0;
    for (const auto& link : links_) waiting += link->departures.size();
    return fmt::format("{} messages between SMs have not left", waiting);
}

}  // namespace lockstep::gpu
