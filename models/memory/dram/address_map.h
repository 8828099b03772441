// SPDX-License-Identifier: Apache-2.0
// Which channel, bank, row and column an address lies in.
#pragma once

#include <array>

#include "models/memory/dram/controller.h"

namespace lockstep::memory::dram {

enum class AddressField : std::uint8_t { kBankGroup, kBank, kRank, kColumn };

struct AddressMapParameters {
    std::uint32_t interleave_bytes = 256;  ///< consecutive bytes in one channel
    bool hash_channels = true;             ///< rotate channels by a hash of the higher bits
    bool hash_banks = true;                ///< XOR bank and bank group with low row bits
    /// Fields of a channel's bursts from the least significant; the row comes last.
    std::array<AddressField, 4> order = {AddressField::kBankGroup, AddressField::kColumn,
                                         AddressField::kBank, AddressField::kRank};
};

struct ChannelAddress {
    std::uint32_t channel;
    Location location;
    bool operator==(const ChannelAddress&) const = default;
};

/// A run of interleave_bytes: its channel, and its number among those of the channel.
struct ChannelChunk {
    std::uint32_t channel;
    std::uint64_t local;
};

/// A bijection between the bursts of the memory and (channel, location), for any number of channels
/// and rows; groups, banks and columns are powers of two. Addresses beyond the memory wrap round.
class AddressMap {
  public:
    AddressMap(const Geometry& geometry, const AddressMapParameters& parameters);

    ChannelAddress decode(std::uint64_t address) const;
    /// The first step of decode(): which channel, and the how many-th chunk of it.
    ChannelChunk chunk(std::uint64_t address) const;
    /// The inverse: which run of interleave_bytes of the memory.
    std::uint64_t chunk_number(const ChannelChunk& chunk) const;
    /// The first byte of the burst.
    std::uint64_t encode(const ChannelAddress& where) const;
    /// Bytes in all channels together.
    std::uint64_t bytes() const { return channel_bytes_ * channels_; }
    std::uint32_t channels() const { return channels_; }
    /// Consecutive bytes of a channel that share a row, where columns come first.
    std::uint64_t row_bytes() const {
        return 1ull << (shift_[static_cast<std::size_t>(AddressField::kColumn)] +
                        bits_[static_cast<std::size_t>(AddressField::kColumn)]);
    }

    /// The part within one channel, for callers that choose channels by themselves: an address
    /// among those of the channel alone.
    Location decode_in_channel(std::uint64_t local) const;

  private:
    std::uint32_t rotation(std::uint64_t chunk) const;
    std::uint64_t encode_in_channel(const Location& location) const;

    AddressMapParameters parameters_;
    std::uint32_t channels_, rows_;
    std::uint32_t interleave_bits_, burst_bits_;
    std::uint32_t bank_bits_, group_bits_;
    std::array<std::uint32_t, 4> bits_{}, shift_{};  ///< by AddressField
    std::uint32_t row_shift_ = 0;
    std::uint64_t channel_bytes_;
};

}  // namespace lockstep::memory::dram
