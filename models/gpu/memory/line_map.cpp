// SPDX-License-Identifier: Apache-2.0
// NVIDIA does not publish its hash of addresses to slices. Here channels are chosen by the DRAM's
// AddressMap (consecutive chunks rotate through the channels, turned by a hash of the higher bits),
// and each L2 slice caches what its own channels hold, as every published description says. Of two
// neighbouring chunks one is in the other L2 partition as often as not: on an H200 loads of four
// lines wait 57 to 61 cycles longer for DRAM than those of one do, beside what they do for L2; two
// places at random would add a quarter of l2.far_latency, 44, and two in one partition nothing (lat
// lines of validation/measured/h200/questions.txt).
#include "models/gpu/memory/line_map.h"

#include <bit>
#include <numeric>

namespace lockstep::gpu {

namespace {
using memory::dram::AddressField;
constexpr std::array<AddressField, 4> kOrder = {AddressField::kColumn, AddressField::kBankGroup,
                                                AddressField::kBank, AddressField::kRank};

/// Half of the way from one partition to the other, without a common divisor.
std::uint32_t step_of(std::uint32_t channels, std::uint32_t partitions) {
    if (partitions == 1) return 1;
    std::uint32_t step = std::max(1u, channels / partitions / 2);
    while (std::gcd(step, channels) != 1) ++step;
    return step;
}

/// The number by which `step` times `channels` leaves 1.
std::uint32_t inverse(std::uint32_t step, std::uint32_t channels) {
    std::uint32_t back = 1;
    while (std::uint64_t{back} * step % channels != 1 % channels) ++back;
    return back;
}
}  // namespace

LineMap::LineMap(const MemoryParameters& parameters)
    : map_(parameters.dram, {.interleave_bytes = parameters.interleave, .order = kOrder}),
      step_(step_of(parameters.dram.channels, parameters.l2_partitions)),
      back_(inverse(step_, parameters.dram.channels)),
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

memory::dram::ChannelChunk LineMap::chunk_of(std::uint64_t line) const {
    memory::dram::ChannelChunk at = map_.chunk(device_line(line) * kLineBytes);
    if (step_ != 1) at.channel = at.channel * step_ % map_.channels();
    return at;
}

LinePlace LineMap::find(std::uint64_t line) const {
    const memory::dram::ChannelChunk at = chunk_of(line);
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
    at.channel = at.channel * back_ % map_.channels();
    return map_.chunk_number(at) * interleave_lines_ + within;
}

LineSpot LineMap::spot(std::uint64_t line) const {
    const memory::dram::ChannelChunk at = chunk_of(line);
    return {at.channel,
            (at.local * interleave_lines_ + (line & (interleave_lines_ - 1))) * kLineBytes};
}

}  // namespace lockstep::gpu
