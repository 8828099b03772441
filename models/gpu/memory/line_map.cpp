// SPDX-License-Identifier: Apache-2.0
// NVIDIA does not publish its hash of addresses to slices. Here channels are chosen by the DRAM's
// AddressMap (consecutive chunks rotate through the channels, turned by a hash of the higher bits),
// and each L2 slice caches what its own channels hold, as every published description says.
#include "models/gpu/memory/line_map.h"

#include <bit>

namespace lockstep::gpu {

namespace {
using memory::dram::AddressField;
constexpr std::array<AddressField, 4> kOrder = {AddressField::kColumn, AddressField::kBankGroup,
                                                AddressField::kBank, AddressField::kRank};
}  // namespace

LineMap::LineMap(const MemoryParameters& parameters)
    : map_(parameters.dram, {.interleave_bytes = parameters.interleave, .order = kOrder}),
      channels_per_slice_(std::max(1u, parameters.dram.channels / parameters.slices)),
      slices_per_channel_(std::max(1u, parameters.slices / parameters.dram.channels)),
      slices_(parameters.slices_per_l2_partition()),
      interleave_lines_(parameters.interleave / kLineBytes),
      row_chunks_(static_cast<std::uint32_t>(
          std::max<std::uint64_t>(1, map_.row_bytes() / parameters.interleave))) {
    // Groups of slices that share a channel are dealt to the Tiles as evenly as may be.
    const std::uint32_t groups = slices_ / slices_per_channel_;
    for (std::uint32_t slice = 0; slice < slices_; ++slice)
        tile_of_slice_.push_back(slice / slices_per_channel_ * parameters.tiles_per_l2_partition /
                                 groups);
}

LinePlace LineMap::find(std::uint64_t line) const {
    const memory::dram::ChannelChunk at = map_.chunk(device_line(line) * kLineBytes);
    const auto within = static_cast<std::uint32_t>(line) & (interleave_lines_ - 1);
    const auto local = static_cast<std::uint32_t>(at.local);
    LinePlace place;
    place.channel = at.channel;
    std::uint32_t slice;
    if (slices_per_channel_ == 1) {
        slice = at.channel / channels_per_slice_;
        place.index =
            (local * channels_per_slice_ + at.channel % channels_per_slice_) * interleave_lines_ +
            within;
    } else {
        slice = at.channel * slices_per_channel_ + local % slices_per_channel_;
        place.index = local / slices_per_channel_ * interleave_lines_ + within;
    }
    place.l2_partition = slice / slices_;
    place.slice = slice % slices_;
    return place;
}

std::uint64_t LineMap::line_of(std::uint32_t l2_partition, std::uint32_t slice,
                               std::uint32_t index) const {
    const std::uint32_t of_chip = l2_partition * slices_ + slice;
    const std::uint32_t within = index & (interleave_lines_ - 1);
    const std::uint32_t chunk = index / interleave_lines_;
    memory::dram::ChannelChunk at;
    if (slices_per_channel_ == 1)
        at = {of_chip * channels_per_slice_ + chunk % channels_per_slice_,
              chunk / channels_per_slice_};
    else
        at = {of_chip / slices_per_channel_,
              std::uint64_t{chunk} * slices_per_channel_ + of_chip % slices_per_channel_};
    return map_.chunk_number(at) * interleave_lines_ + within;
}

LineSpot LineMap::spot(std::uint64_t line) const {
    const memory::dram::ChannelChunk at = map_.chunk(device_line(line) * kLineBytes);
    return {at.channel,
            (at.local * interleave_lines_ + (line & (interleave_lines_ - 1))) * kLineBytes};
}

}  // namespace lockstep::gpu
