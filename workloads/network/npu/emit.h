// SPDX-License-Identifier: Apache-2.0
// Instructions of steps on what lies in the SRAM.
#pragma once

#include "isa/npu/builder.h"
#include "workloads/network/npu/step.h"
#include "workloads/network/npu/target.h"

namespace lockstep::network::npu_code {

/// Where rows of a part lie in the SRAM.
struct Region {
    std::uint64_t address = 0;  ///< of the first channel of the first pixel of `rows.begin`
    Rows rows;
    std::uint64_t row = 0, pixel = 0;  ///< bytes from one to the next
    std::uint64_t at(std::int64_t r) const {
        return address + static_cast<std::uint64_t>(r - rows.begin) * row;
    }
};

/// Weights and parameters of some output channels, all of one group of a convolution.
struct WeightPart {
    std::int64_t first = 0, count = 0;                           ///< output channels
    std::uint64_t stream = 0, stream_bytes = 0, parameters = 0;  ///< offsets, bytes
    isa::WeightFormat format = isa::WeightFormat::kRaw;
};

/// What one command works on.
struct Work {
    Rows rows;  ///< of the output
    std::int64_t first_channel = 0, channels = 0;
    /// Input channels that it takes, where `input` is they alone; 0: all. Sums begin with those
    /// that the core keeps, or stay there.
    std::int64_t inputs = 0;
    bool goes_on = false, keeps = false;
    std::uint32_t core = 0;
    Region input, operand, output;
    std::uint64_t constants = 0;  ///< SRAM address of the table, then a mean's parameters
    std::uint64_t weights = 0;    ///< SRAM address of what WeightPart's offsets count from
    const WeightPart* part = nullptr;
};

isa::Instruction command_of(const Step& step, const Work& work, const NpuTarget& target);

/// Rows of a part between the SRAM and a value that lies in memory from `address` on.
enum class Direction : std::uint8_t { kLoad, kStore };
isa::Instruction transfer_of(const Part& part, std::int64_t image, const Region& region,
                             Direction direction, bool host, std::uint64_t address);

/// The region of an image of a part whose value lies in the SRAM from `address` on.
Region region_of(const Part& part, std::int64_t image, std::uint64_t address);

/// Some channels of a part.
Part channels_of(Part part, std::int64_t first, std::int64_t count);

}  // namespace lockstep::network::npu_code
