// SPDX-License-Identifier: Apache-2.0
// A Tensor Core step as a SystemC netlist of dot-product units, one a result, for looking at wires
// and bits: it gives the bits of isa/sass/tensor_core, some thousand times slower. README.md.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "isa/sass/tensor_core/rule.h"

namespace lockstep::gpu {

/// D = A * B + C with 4 x 4 results.
struct TensorStep {
    sass::DotProductRule rule{};
    sass::TensorType type = sass::TensorType::kFp16;  ///< fp16, bf16 or tf32
    int depth = 4;                                    ///< 4, 8 or 16
    std::vector<std::uint32_t> a;                     ///< 4 x depth numbers, row-major
    std::vector<std::uint32_t> b;                     ///< depth x 4
    std::vector<std::uint32_t> c;  ///< 4 x 4 of fp32, or of fp16 in the lower half

    static constexpr int kSide = 4;
};

/// significand * 2^exponent, and what is left of it once it is aligned and truncated, in units of
/// the group's last bit.
struct TensorTerm {
    std::int64_t significand = 0;
    int exponent = 0;
    std::int64_t aligned = 0;
};

/// One group of a dot product: what was on a unit's wires when its result was there.
struct TensorGroup {
    std::vector<TensorTerm> products;
    TensorTerm addend;
    int largest = 0;  ///< exponent that all are aligned to; the last bit is 2^(largest - F)
    std::int64_t sum = 0;
    std::uint32_t result = 0;
};

struct TensorStepRun {
    std::vector<std::uint32_t> d;                  ///< 4 x 4
    std::vector<std::vector<TensorGroup>> groups;  ///< [row * 4 + column][group]
    std::int64_t cycles = 0;                       ///< of the netlist's clock, no GPU's
};

/// Runs the netlist. `vcd`: also writes its wires there; a cycle is 1 ns. All numbers are finite.
/// Throws InputError where one is not, or `vcd` cannot be written.
TensorStepRun run_tensor_step(const TensorStep& step, const std::string& vcd = "");

}  // namespace lockstep::gpu
