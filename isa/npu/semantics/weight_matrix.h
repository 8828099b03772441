// SPDX-License-Identifier: Apache-2.0
// A command's weights as the array multiplies by them.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "isa/npu/instruction.h"
#include "isa/product/product.h"

namespace lockstep::npu {

/// Weights [lane][output], without their zero point; a lane is (ky, kx, input channel).
class WeightMatrix {
  public:
    /// Whether it was made of just this command's weights, which lie in `stream`.
    bool is_of(const Instruction& instruction, std::span<const std::uint8_t> stream) const;
    /// Decodes the stream. Throws ProgramFault.
    void decode(const Instruction& instruction, std::span<const std::uint8_t> stream);

    std::uint64_t lanes() const { return lanes_; }
    std::uint64_t outputs() const { return outputs_; }
    const std::int16_t* values() const { return values_.data(); }
    /// All lanes, as the host multiplies fastest; made when first asked for.
    const product::IntegerWeights& packed() const;

    /// Lanes of a group of outputs that have a weight other than zero.
    struct Group {
        std::uint32_t first_output, outputs;
        std::vector<std::uint32_t> lanes;
        product::IntegerWeights packed;
    };
    /// By group of outputs; made when first asked for.
    const std::vector<Group>& groups() const;
    /// Of group and tap (ky, kx): how many input channels have a weight other than zero.
    std::vector<std::uint32_t> used_inputs() const;
    /// Weights that are not zero.
    std::uint64_t nonzero() const { return nonzero_; }

    /// The transform of F(2x2, 3x3) times 4 of 3 x 3 weights: for each kWinogradInputs of the
    /// inputs 16 positions of [input][output]; made when first asked for.
    const std::vector<product::IntegerWeights>& winograd() const;

  private:
    std::vector<std::uint8_t> stream_;
    std::vector<std::uint64_t> key_;
    std::uint64_t lanes_ = 0, outputs_ = 0, inputs_ = 1, group_ = 1, nonzero_ = 0;
    std::vector<std::int16_t> values_;
    mutable product::IntegerWeights packed_;
    mutable std::vector<Group> groups_;
    mutable std::vector<product::IntegerWeights> winograd_;
};

}  // namespace lockstep::npu
