// SPDX-License-Identifier: Apache-2.0
// Neighbouring bursts go to different bank groups, since those take column commands closer
// together; a row's columns come next, so that a stream hits open rows; hashes keep power-of-two
// strides from meeting in one channel or bank. Vendors do not publish theirs; the field order and
// XOR of bank and row bits follow Zhang et al., MICRO 2000 (permutation-based interleaving).
// Channels need not be a power of two in number, so they are rotated, not XORed.
#include "models/memory/dram/address_map.h"

#include <bit>

#include "sim/error/error.h"

namespace lockstep::memory::dram {
namespace {

std::uint32_t bits_of(std::uint32_t count, const char* what) {
    if (!std::has_single_bit(count))
        throw InputError(fmt::format("{} {} are not a power of two", count, what));
    return static_cast<std::uint32_t>(std::countr_zero(count));
}

}  // namespace

AddressMap::AddressMap(const Geometry& geometry, const AddressMapParameters& parameters)
    : parameters_(parameters), channels_(geometry.channels), rows_(geometry.rows) {
    const Organisation& organisation = geometry.organisation;
    burst_bits_ = bits_of(organisation.burst_bytes(), "bytes of a burst");
    interleave_bits_ = bits_of(parameters.interleave_bytes, "bytes of channel interleave");
    if (interleave_bits_ < burst_bits_)
        throw InputError(fmt::format("a channel interleave of {} bytes is less than a burst of {}",
                                     parameters.interleave_bytes, organisation.burst_bytes()));
    group_bits_ = bits_of(organisation.bank_groups, "bank groups");
    bank_bits_ = bits_of(organisation.banks_per_group, "banks");
    const auto set = [&](AddressField field, std::uint32_t bits) {
        bits_[static_cast<std::size_t>(field)] = bits;
    };
    set(AddressField::kBankGroup, group_bits_);
    set(AddressField::kBank, bank_bits_);
    set(AddressField::kRank, bits_of(geometry.ranks, "ranks"));
    set(AddressField::kColumn,
        bits_of(organisation.row_bytes / organisation.burst_bytes(), "columns"));
    row_shift_ = burst_bits_;
    for (const AddressField field : parameters.order) {
        shift_[static_cast<std::size_t>(field)] = row_shift_;
        row_shift_ += bits_[static_cast<std::size_t>(field)];
    }
    channel_bytes_ = std::uint64_t{rows_} * organisation.row_bytes * geometry.banks();
}

std::uint32_t AddressMap::rotation(std::uint64_t chunk) const {
    if (!parameters_.hash_channels) return 0;
    const std::uint64_t mixed = chunk * 0x9e3779b97f4a7c15ull;  // golden ratio: Fibonacci hashing
    return static_cast<std::uint32_t>(((mixed >> 32) * channels_) >> 32);
}

ChannelChunk AddressMap::chunk(std::uint64_t address) const {
    const std::uint64_t chunk = address >> interleave_bits_;
    // A division of 32 bits takes a host half the time of one of 64.
    const std::uint64_t local =
        chunk >> 32 == 0 ? static_cast<std::uint32_t>(chunk) / channels_ : chunk / channels_;
    std::uint32_t channel = static_cast<std::uint32_t>(chunk - local * channels_) + rotation(local);
    if (channel >= channels_) channel -= channels_;
    return {channel, local};
}

ChannelAddress AddressMap::decode(std::uint64_t address) const {
    const ChannelChunk at = chunk(address);
    const std::uint64_t offset = address & ((1ull << interleave_bits_) - 1);
    return {at.channel, decode_in_channel(at.local << interleave_bits_ | offset)};
}

Location AddressMap::decode_in_channel(std::uint64_t local) const {
    const auto value = [&](AddressField field) {
        const std::size_t f = static_cast<std::size_t>(field);
        return static_cast<std::uint32_t>(local >> shift_[f]) & ((1u << bits_[f]) - 1);
    };
    const std::uint64_t row = local >> row_shift_;
    Location location;
    location.row = static_cast<std::uint32_t>(row < rows_ ? row : row % rows_);
    location.column = value(AddressField::kColumn);
    const std::uint32_t low_bits = bank_bits_ + group_bits_;
    std::uint32_t low = value(AddressField::kBankGroup) << bank_bits_ | value(AddressField::kBank);
    if (parameters_.hash_banks) low ^= location.row & ((1u << low_bits) - 1);
    location.bank = value(AddressField::kRank) << low_bits | low;
    return location;
}

std::uint64_t AddressMap::encode(const ChannelAddress& where) const {
    const std::uint64_t address = encode_in_channel(where.location);
    const std::uint64_t offset = address & ((1ull << interleave_bits_) - 1);
    return chunk_number({where.channel, address >> interleave_bits_}) << interleave_bits_ | offset;
}

std::uint64_t AddressMap::chunk_number(const ChannelChunk& chunk) const {
    const std::uint32_t turned = (chunk.channel + channels_ - rotation(chunk.local)) % channels_;
    return chunk.local * channels_ + turned;
}

std::uint64_t AddressMap::encode_in_channel(const Location& location) const {
    const std::uint32_t low_bits = bank_bits_ + group_bits_;
    const std::uint32_t mask = (1u << low_bits) - 1;
    std::uint32_t low = location.bank & mask;
    if (parameters_.hash_banks) low ^= location.row & mask;
    std::array<std::uint32_t, 4> value{};
    value[static_cast<std::size_t>(AddressField::kBankGroup)] = low >> bank_bits_;
    value[static_cast<std::size_t>(AddressField::kBank)] = low & ((1u << bank_bits_) - 1);
    value[static_cast<std::size_t>(AddressField::kRank)] = location.bank >> low_bits;
    value[static_cast<std::size_t>(AddressField::kColumn)] = location.column;
    std::uint64_t rest = location.row;
    for (auto field = parameters_.order.rbegin(); field != parameters_.order.rend(); ++field)
        rest = rest << bits_[static_cast<std::size_t>(*field)] |
               value[static_cast<std::size_t>(*field)];
    return rest << burst_bits_;
}

}  // namespace lockstep::memory::dram
