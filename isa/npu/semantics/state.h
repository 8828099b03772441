// SPDX-License-Identifier: Apache-2.0
// What an NPU holds, and what instructions do to it.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "isa/npu/footprint.h"
#include "isa/npu/program.h"
#include "isa/npu/semantics/weight_matrix.h"

namespace lockstep::npu {

/// The sizes of an NPU that a program can run into, and how its arrays multiply.
struct CoreLimits {
    std::uint64_t sram = 0;          ///< bytes
    std::uint64_t accumulators = 0;  ///< bytes of sums that a core can keep
    std::uint32_t cores = 1;
    std::uint32_t outputs = 1;    ///< output channels that the array takes at once
    bool winograd = false;        ///< 3 x 3 convolutions by F(2x2, 3x3)
    bool local_response = false;  ///< there is a unit for it
    bool zero_skipping = false;   ///< inputs whose weights are all zero are not multiplied
    bool operator==(const CoreLimits&) const = default;
};

/// Whether the array computes it by F(2x2, 3x3).
bool uses_winograd(const Instruction& instruction, const CoreLimits& limits);
/// Whether it leaves out what is multiplied by zeros.
bool skips_zeros(const Instruction& instruction, const CoreLimits& limits);

/// Sums [pixel][channel] that a core keeps for its next command.
struct KeptSums {
    std::uint64_t pixels = 0, channels = 0;
    std::vector<std::int32_t> values;
};

class State {
  public:
    State(const CoreLimits& limits, command::Storage& storage);

    const CoreLimits& limits() const { return limits_; }
    std::uint8_t* sram(std::uint64_t address) { return sram_.get() + address; }
    command::Storage& storage() { return storage_; }

    /// The weights of a command as a matrix, decoded anew where the stream has changed since.
    /// ProgramFault where the stream is none.
    const WeightMatrix& weights(const Instruction& instruction);

    /// Does the host task of this number, in host memory; null where nobody does.
    std::function<void(std::uint32_t)> host;

    KeptSums kept[kMaxCores];

  private:
    const CoreLimits limits_;
    command::Storage& storage_;
    command::Zeros<std::uint8_t> sram_;
    WeightMatrix weights_[kMaxCores];
};

/// Why the instruction cannot run on an NPU with these limits and buffers (an address out of range,
/// no such core, more sums than it can keep); empty where it can.
std::string check_bounds(const Instruction& instruction, const CoreLimits& limits,
                         const command::Storage& storage);

/// Does what the instruction does, at once. check_operands() and check_bounds() must have passed.
/// Throws ProgramFault where the state is wrong for it: weights that are no stream, no sums to go
/// on with, a shift out of range among the parameters. An interrupt_host calls state.host with its
/// number, where there is one.
void execute(const Instruction& instruction, State& state);

}  // namespace lockstep::npu
