// SPDX-License-Identifier: Apache-2.0
// A GPC's cache for code and constants takes what its SMs' own caches miss and asks L2, and L2 asks
// DRAM: a kernel that starts cold waits for its code (Nsight Compute, Profiling Guide, unit gcc:
// "an L1.5 constant cache in the GPC ... caching constant data and instructions for all L1 constant
// caches in the GPC. Any missed data is fetched from the L2 cache"). A launch asks for its code
// ahead (PROGRAM_PREFETCH_SIZE of the launch descriptor, NVIDIA's open-gpu-doc). Simplified:
// translation of code addresses is free, and a line is answered whole.
#include "models/gpu/chip/gcc.h"

#include <algorithm>
#include <bit>

#include "models/gpu/device/parameter_rows.h"
#include "sim/engine/simulation.h"
#include "sim/error/error.h"

namespace lockstep::gpu {

using engine::Cycle;
using engine::kNever;

GccParameters::GccParameters(const config::Machine& machine) {
    const auto integer = [&](const char* path) {
        return static_cast<std::uint32_t>(machine.integer(path));
    };
    read_rows(machine, gcc_rows(), *this);
    lines = integer("gcc.size") / kLineBytes;
    const std::uint32_t fetch = integer("gcc.fetch_granularity");
    fetch_lines = fetch / kLineBytes;
    if (machine.boolean("ideal.instruction_cache")) code_prefetch = 0;
    const std::uint32_t latency = integer("gcc.latency");
    request_latency = latency / 2;
    reply_latency = latency - request_latency;
    if (fetch_lines == 0 || fetch % kLineBytes != 0 || !std::has_single_bit(fetch_lines))
        throw InputError(
            fmt::format("{}: gcc.fetch_granularity: {} B is not a power of two times {} B",
                        machine.name(), fetch, kLineBytes));
}

Gcc::Gcc(engine::Simulation& simulation, std::string name, engine::ClockDomain clock,
         std::uint16_t number, const GccParameters& parameters)
    : Tile(simulation, std::move(name), clock),
      parameters_(parameters),
      port_(*this, number),
      queue_(port_),
      tags_(parameters.lines, parameters.ways) {}

void Gcc::connect(FetchUnit& sm) {
    links_.push_back(std::make_unique<Link>(*this, links_.size()));
    sm.set_most(parameters_.sm_requests);
    // A request that is unanswered holds a place of each way; its credit is back before the next.
    simulation().connect(sm.requests, links_.back()->requests,
                         {.latency = parameters_.request_latency,
                          .capacity = parameters_.sm_requests,
                          .credit_latency = parameters_.reply_latency});
    simulation().connect(links_.back()->replies, sm.replies,
                         {.latency = parameters_.reply_latency,
                          .capacity = parameters_.sm_requests,
                          .credit_latency = parameters_.request_latency});
}

void Gcc::begin_kernel() {
    LOCKSTEP_CHECK(finished(), "{}: emptied while {}", name(), explain_wait());
    tags_.clear();
    arrivals_.clear();
    done_ = 0;
    counters_ = {};
}

void Gcc::prefetch_code(Cycle at, std::uint64_t address, std::uint64_t bytes) {
    prefetch(at, address, prefetched(bytes));
}

/// A warp of a launch's first CTAs waits 174 to 220 cycles for constants on an H200, two lines of
/// its parameters: as long as those are in this cache (measured: Nsight Compute, stalls by
/// imc_miss in fills and a vector addition); with what L2 takes it would be twice as long.
void Gcc::prefetch_constants(Cycle at, std::uint64_t address, std::uint64_t bytes) {
    if (parameters_.constant_prefetch) prefetch(at, address, bytes);
}

void Gcc::prefetch(Cycle at, std::uint64_t address, std::uint64_t bytes) {
    if (bytes == 0) return;
    for (std::uint64_t line = address / kLineBytes; line <= (address + bytes - 1) / kLineBytes;
         ++line)
        if (tags_.find(line) == kNever && find_miss(line) == nullptr) begin_miss(at, line);
    wake(at);
}

void Gcc::gather(Cycle until) {
    arrivals_.erase(arrivals_.begin(), arrivals_.begin() + static_cast<std::ptrdiff_t>(done_));
    done_ = 0;
    const auto first = static_cast<std::ptrdiff_t>(arrivals_.size());
    for (std::uint32_t i = 0; i < links_.size(); ++i) {
        engine::Receiver<FetchRequest>& requests = links_[i]->requests;
        for (Cycle at = requests.next_ready(); at < until; at = requests.next_ready())
            arrivals_.push_back({at, i, requests.receive(at)});
    }
    // Those that were left from the last window came earlier; links are in order already.
    std::stable_sort(arrivals_.begin() + first, arrivals_.end(),
                     [](const Arrival& a, const Arrival& b) { return a.at < b.at; });
}

Cycle Gcc::next_arrival() const {
    return done_ == arrivals_.size() ? kNever : std::max(arrivals_[done_].at, free_);
}

Cycle Gcc::advance(Cycle from, Cycle until) {
    gather(until);
    while (true) {
        const Cycle next = std::min({next_arrival(), port_.next_reply(), queue_.next_event()});
        if (next == kNever) break;
        const Cycle now = std::max(next, from);
        if (now >= until) return now;
        while (port_.next_reply() <= now) take(now, port_.receive(now));
        if (next_arrival() <= now) {
            look_up(now, arrivals_[done_++]);
            free_ = now + parameters_.interval;
        }
        queue_.advance(now);
        from = now;
    }
    return kNever;
}

void Gcc::look_up(Cycle now, const Arrival& arrival) {
    const std::uint64_t line = arrival.request.address / kLineBytes;
    if (tags_.find(line) != kNever) {
        ++counters_.hits;
        links_[arrival.link]->replies.send(now, arrival.request.line);
        return;
    }
    ++counters_.misses;
    Miss* miss = find_miss(line);
    if (miss == nullptr) {
        begin_miss(now, line).waiters.push_back({arrival.link, arrival.request.line});
        const std::uint64_t group = line & ~std::uint64_t{parameters_.fetch_lines - 1};
        for (std::uint64_t other = group; other < group + parameters_.fetch_lines; ++other)
            if (tags_.find(other) == kNever && find_miss(other) == nullptr) begin_miss(now, other);
        return;
    }
    miss->waiters.push_back({arrival.link, arrival.request.line});
}

Gcc::Miss* Gcc::find_miss(std::uint64_t line) {
    const auto at = std::find_if(misses_.begin(), misses_.end(), [&](const Miss& miss) {
        return miss.missing != 0 && miss.line == line;
    });
    return at == misses_.end() ? nullptr : &*at;
}

Gcc::Miss& Gcc::begin_miss(Cycle now, std::uint64_t line) {
    auto at = std::find_if(misses_.begin(), misses_.end(),
                           [](const Miss& miss) { return miss.missing == 0; });
    if (at == misses_.end()) at = misses_.insert(at, Miss{});
    at->line = line;
    at->missing = kAllSectors;
    ++missing_;
    queue_.push(now, {.line = line,
                      .id = static_cast<std::uint32_t>(at - misses_.begin()),
                      .sectors = kAllSectors});
    return *at;
}

void Gcc::take(Cycle now, const MemoryReply& reply) {
    Miss& miss = misses_[reply.id];
    miss.missing &= static_cast<std::uint8_t>(~reply.sectors);
    if (miss.missing != 0) return;
    --missing_;
    tags_.insert(miss.line, now);
    for (const Waiter& waiter : miss.waiters) links_[waiter.link]->replies.send(now, waiter.line);
    miss.waiters.clear();
}

bool Gcc::finished() const {
    return missing_ == 0 && done_ == arrivals_.size();
}

std::string Gcc::explain_wait() const {
    return fmt::format("{} lines asked for at L2, {} requests not looked up", missing_,
                       arrivals_.size() - done_);
}

}  // namespace lockstep::gpu
