// SPDX-License-Identifier: Apache-2.0
// Everything behind the SMs' crossbar ports: the crossbar, L2, the MMU, DRAM.
#pragma once

#include <span>

#include "models/gpu/memory/memory_partition.h"
#include "models/gpu/memory/peer_unit.h"
#include "sim/engine/simulation.h"

namespace lockstep::gpu {

/// Makes the memory partitions as Tiles of a simulation and connects them to the SMs' ports, before
/// the simulation's first run. Lives as long as the simulation; L2 keeps its contents from run to
/// run (warm) unless begin_kernel() makes it forget them (cold).
class MemorySystem {
  public:
    /// `ports`: of the SMs, in order, and of others; their Tiles run at clock.sm. Throws InputError
    /// where the machine's numbers do not go together.
    /// `prefix`: of its Tiles' names. `peers`: takes accesses to other devices; null: there are
    /// none.
    MemorySystem(engine::Simulation& simulation, const config::Machine& machine,
                 std::span<CrossbarPort* const> ports, const std::string& prefix = "",
                 PeerUnit* peers = nullptr);
    ~MemorySystem();

    /// Lets another model, reached through these ends, be a partition's DRAM, before the first run.
    /// The latencies of the ways to it and back are those of the built-in controllers.
    void bind_dram(std::size_t partition, engine::Receiver<engine::MemoryRequest>& requests,
                   engine::Sender<engine::MemoryResponse>& responses);

    const MemoryParameters& parameters() const { return parameters_; }
    const LineMap& map() const { return map_; }

    /// Counts from here on. `cold`: L2 forgets what it holds, as after a flush (whose write-backs
    /// take no time and are not counted); nothing may be under way then.
    void begin_kernel(bool cold);

    /// The next kernels find these in L2, beside what it holds; null: nothing. Must outlive them.
    void set_resident(const ResidentLines* lines) {
        for (const auto& partition : partitions_) partition->set_resident(lines);
    }

    /// The line is in its home part of L2 when the kernel begins, at a cycle.
    void place(engine::Cycle at, std::uint64_t line);
    /// A transfer has passed these bytes on, before the kernel: they are in L2, as far as they find
    /// room.
    void pass(std::uint64_t address, std::uint64_t bytes, Transfer transfer);
    /// Whether the lines of these bytes are there already.
    bool holds(std::uint64_t address, std::uint64_t bytes) const;

    /// Bytes that a copy engine reads or writes beside what runs; between windows. Returns a number
    /// for left().
    std::uint64_t carry(memory::dram::Direction direction, std::uint64_t bytes, engine::Cycle begin,
                        engine::Cycle end);
    /// The share of a traffic that DRAM has not been asked for yet, of the channel that is the
    /// furthest behind.
    double left(std::uint64_t traffic) const;
    /// Until the next one is carried.
    void stop_copies();
    /// Nothing is under way.
    bool is_at_rest() const;

    /// The sum over all partitions since begin_kernel().
    PartitionCounters counters() const;
    std::size_t partitions() const { return partitions_.size(); }
    const MemoryPartition& partition(std::size_t i) const { return *partitions_[i]; }

  private:
    PartitionCounters all_counters() const;
    MemoryPartition& partition_of(std::uint32_t l2_partition, std::uint32_t slice) const;
    MemoryPartition& home_of(const LinePlace& place) const {
        return partition_of(place.l2_partition, place.slice);
    }
    /// By L2 partition, then GPC: the part of the GPC's SMs that is near it.
    std::vector<std::vector<double>> shares_of_gpcs(std::span<CrossbarPort* const> ports) const;

    engine::Simulation& simulation_;
    const MemoryParameters parameters_;
    const LineMap map_;
    PeerRegions peers_;
    PartitionCounters before_;                                  ///< when the kernel began
    std::uint64_t copies_ = 0;                                  ///< carried so far
    std::vector<std::unique_ptr<MemoryPartition>> partitions_;  ///< by L2 partition, then number
};

}  // namespace lockstep::gpu
