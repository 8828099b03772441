// SPDX-License-Identifier: Apache-2.0
// Where a line lives: its DRAM channel, its home slice of L2, the Tile that holds them.
#pragma once

#include "models/gpu/memory/memory_parameters.h"
#include "models/memory/dram/address_map.h"

namespace lockstep::gpu {

struct LinePlace {
    std::uint32_t channel;       ///< of the chip
    std::uint32_t slice;         ///< of an L2 partition: 0 to slices_per_l2_partition() - 1
    std::uint32_t index;         ///< among the lines of that slice, densely numbered
    std::uint32_t l2_partition;  ///< the home: where the DRAM channel is
};

/// Where a line lies in DRAM.
struct LineSpot {
    std::uint32_t channel;  ///< of the chip
    std::uint64_t address;  ///< within the channel, in bytes
};

/// A slice is one with its DRAM channels. With two L2 partitions slice i of each caches the lines
/// whose home is slice i of either, for the SMs near it.
class LineMap {
  public:
    explicit LineMap(const MemoryParameters& parameters);

    /// A line's number without the bits that only tell where device memory begins.
    static std::uint64_t device_line(std::uint64_t line) { return line & 0xffff'ffffu; }

    LinePlace find(std::uint64_t line) const;
    /// The device_line() of which find() tells these.
    std::uint64_t line_of(std::uint32_t l2_partition, std::uint32_t slice,
                          std::uint32_t index) const;
    LineSpot spot(std::uint64_t line) const;
    /// Calls visit(index) for the lines of a slice that lie in one DRAM row with a line of it.
    template <typename F>
    void for_row(std::uint32_t slice_of_chip, std::uint32_t index, F&& visit) const {
        const std::uint32_t chunk = index / interleave_lines_;
        const std::uint32_t channel = chunk % channels_per_slice_;
        const std::uint32_t turn = slice_of_chip % slices_per_channel_;
        const std::uint32_t local = chunk / channels_per_slice_ * slices_per_channel_ + turn;
        const std::uint32_t first = local / row_chunks_ * row_chunks_;
        for (std::uint32_t l = first; l < first + row_chunks_; ++l) {
            if (l % slices_per_channel_ != turn) continue;
            const std::uint32_t begin =
                (l / slices_per_channel_ * channels_per_slice_ + channel) * interleave_lines_;
            for (std::uint32_t i = begin; i < begin + interleave_lines_; ++i) visit(i);
        }
    }
    /// Of its first sector; the others follow in the same row.
    memory::dram::Location location(const LineSpot& spot) const {
        return map_.decode_in_channel(spot.address);
    }

    /// Slices of an L2 partition.
    std::uint32_t slices() const { return slices_; }
    std::uint32_t tile_of_slice(std::uint32_t slice) const { return tile_of_slice_[slice]; }

  private:
    memory::dram::ChannelChunk chunk_of(std::uint64_t line) const;

    memory::dram::AddressMap map_;
    std::uint32_t step_, back_;  ///< between the places of neighbouring chunks; undoes it
    std::uint32_t channels_per_slice_, slices_per_channel_, slices_;
    std::uint32_t interleave_lines_;
    std::uint32_t row_chunks_;  ///< of the interleaving, in a DRAM row
    std::vector<std::uint32_t> tile_of_slice_;
};

}  // namespace lockstep::gpu
