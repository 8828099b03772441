// SPDX-License-Identifier: Apache-2.0
// What a controller counts.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

namespace lockstep::memory::dram {

/// Times that requests waited, in powers of two: bucket b holds 2^(b-1) <= cycles < 2^b, bucket 0
/// those that did not wait.
struct Histogram {
    std::array<std::uint64_t, 24> buckets{};
    void add(std::uint64_t cycles) {
        const std::size_t bucket = static_cast<std::size_t>(std::bit_width(cycles));
        ++buckets[bucket < buckets.size() ? bucket : buckets.size() - 1];
    }
    bool operator==(const Histogram&) const = default;
};

struct Statistics {
    std::uint64_t reads = 0, writes = 0;
    std::uint64_t bytes_read = 0, bytes_written = 0;
    std::uint64_t row_hits = 0, row_misses = 0, row_conflicts = 0;
    std::uint64_t activations = 0, precharges = 0;
    std::uint64_t refreshes_all = 0, refreshes_bank = 0;
    std::uint64_t turnarounds = 0;      ///< of the data bus, either way
    std::uint64_t bus_busy_cycles = 0;  ///< in which data moved
    std::uint64_t queue_cycles = 0;     ///< from arrival to column command, summed over requests
    Histogram queue_latency;

    bool operator==(const Statistics&) const = default;

    /// Calls visit(name, unit, value) for every counter.
    template <class Visit>
    void for_each(Visit&& visit) const {
        visit("reads", "requests", reads);
        visit("writes", "requests", writes);
        visit("bytes_read", "B", bytes_read);
        visit("bytes_written", "B", bytes_written);
        visit("row_hits", "requests", row_hits);
        visit("row_misses", "requests", row_misses);
        visit("row_conflicts", "requests", row_conflicts);
        visit("activations", "commands", activations);
        visit("precharges", "commands", precharges);
        visit("refreshes_all", "commands", refreshes_all);
        visit("refreshes_bank", "commands", refreshes_bank);
        visit("turnarounds", "turnarounds", turnarounds);
        visit("bus_busy_cycles", "cycles", bus_busy_cycles);
        visit("queue_cycles", "cycles", queue_cycles);
    }
};

}  // namespace lockstep::memory::dram
