// SPDX-License-Identifier: Apache-2.0
// What a product's commands read of constants: streams of weights, each with its parameters.
#pragma once

#include "workloads/network/npu/emit.h"

namespace lockstep::network::npu_code {

/// Input channels of a convolution in one group; `count` 0: all.
struct InputSlice {
    std::int64_t first = 0, count = 0;
};

struct WeightStreams {
    std::vector<std::uint8_t> bytes;  ///< zeros where the step has no values
    std::uint64_t raw_bytes = 0;      ///< of the weights, uncompressed
    std::vector<WeightPart> parts;
};

/// Streams and parameters of these output channels: in as many parts as there are groups of a
/// convolution, or cores that share the channels (`by_core`). Each is compressed on its own.
WeightStreams weight_streams(const Step& step, const NpuTarget& target, std::int64_t first,
                             std::int64_t channels, bool by_core, InputSlice slice = {});

}  // namespace lockstep::network::npu_code
