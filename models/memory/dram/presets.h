// SPDX-License-Identifier: Apache-2.0
// The memory systems of known machines.
#pragma once

#include <span>
#include <string_view>

#include "models/memory/dram/standards.h"

namespace lockstep::memory::dram {

struct Preset {
    const char* name;
    const char* standard;
    std::uint32_t bus_bits;
    std::uint64_t memory_khz;  ///< as machine files give it: half the data rate of a pin
    std::uint32_t ranks;       ///< of each channel; HBM: stack ids
    std::uint64_t bytes;       ///< capacity
    double published_gb_per_s;
    const char* source;
};

std::span<const Preset> presets();
/// Throws InputError that lists the known names.
const Preset& find_preset(std::string_view name);

/// A memory system with its numbers resolved.
struct Geometry {
    Organisation organisation;
    Timing timing;
    std::uint32_t channels;  ///< independently timed (HBM: pseudo-channels)
    std::uint32_t ranks;
    std::uint32_t rows;       ///< of a bank
    std::uint64_t clock_khz;  ///< command clock

    std::uint32_t banks() const { return ranks * organisation.banks_per_rank(); }
    /// Bytes that one channel's bus carries in a command clock.
    std::uint32_t bytes_per_cycle() const {
        return organisation.width_bits / 8 * organisation.beats_per_clock;
    }
    double peak_gb_per_s() const { return 1e-6 * channels * bytes_per_cycle() * clock_khz; }
};

/// Throws InputError where the bus is no whole number of channels or a channel has over 64 banks.
Geometry make_geometry(const Standard& standard, std::uint32_t bus_bits, std::uint64_t memory_khz,
                       std::uint32_t ranks, std::uint64_t bytes);
Geometry make_geometry(const Preset& preset);

}  // namespace lockstep::memory::dram
