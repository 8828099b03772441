// SPDX-License-Identifier: Apache-2.0
// Weight streams: the values of a convolution's weights in the order in which the array takes them,
// as they are or compressed without loss. Bits are filled from the lowest of each byte up.
//
// Order: output channels in groups of weight_group (the last may have fewer); of a group, for each
// row and column of the kernel and each input channel, the values of the group's output channels
// side by side. A depthwise convolution has one input channel.
//
// Formats (bits = those of the weight's type):
//   raw           each value
//   zero_runs     records: 4 bits, how many zeros come first, then a value (which may be 0)
//   mask          for each 32 values: a bit each, whether it is not zero, then those that are not
//   palette       a byte: entries - 1 (at most 32); a byte an entry; then each value's index, in
//                 the fewest bits that count the entries (at least 1)
//   palette_runs  the palette likewise, then the records of zero_runs with an index for the value
// Zero runs and records end with the last value. Sources: run lengths as Eyeriss' RLC (Chen et al.,
// JSSC 2017, section V.C), mask as NVDLA's weight mask bits (nvdla.org, weight format), palettes as
// Arm's Ethos-U (Vela, weight compression); the encodings are Lockstep's own.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "isa/npu/enums.h"

namespace lockstep::npu {

inline constexpr std::size_t kMaxPalette = 32;
inline constexpr std::uint32_t kLongestZeroRun = 15;
inline constexpr std::size_t kMaskValues = 32;

/// What of a stream a decoder has worked through.
struct DecodedWeights {
    std::vector<std::int16_t> values;
    std::uint64_t bits = 0;     ///< of the stream
    std::uint64_t records = 0;  ///< that follow each other: values, or runs
    std::string error;          ///< empty, or why the stream does not hold so many values
};
/// `count` values of a stream.
DecodedWeights decode_weights(std::span<const std::uint8_t> stream, ElementType type,
                              WeightFormat format, std::uint64_t count);

/// The stream of values that the type holds (LOCKSTEP_CHECK); none where the format cannot hold
/// them: more different values than a palette has entries.
std::optional<std::vector<std::uint8_t>> encode_weights(std::span<const std::int16_t> values,
                                                        ElementType type, WeightFormat format);

/// The shortest stream and its format.
std::pair<WeightFormat, std::vector<std::uint8_t>> compress_weights(
    std::span<const std::int16_t> values, ElementType type);

/// Values [output][tap][input] (as TensorFlow Lite's OHWI) in the stream's order. Depthwise: inputs
/// is 1.
std::vector<std::int16_t> order_weights(std::span<const std::int16_t> values, std::uint64_t outputs,
                                        std::uint64_t taps, std::uint64_t inputs,
                                        std::uint64_t group);

}  // namespace lockstep::npu
