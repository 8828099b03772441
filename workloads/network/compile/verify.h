// SPDX-License-Identifier: Apache-2.0
// What a machine computed, against the reference executor.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "workloads/network/compile/prepare.h"
#include "workloads/network/reference/quantised.h"

namespace lockstep::network::compile {

/// Of one output.
struct Check {
    std::string output;
    bool passed = false;
    std::string message;  ///< what was compared, or where it is wrong
    /// Root mean square of the error over that of the exact values (FP64; of integers, FP32 before
    /// they were quantised), where those are known.
    std::optional<double> error = std::nullopt;
};

/// Of an integer machine: `results`, as the graph's outputs, must equal the reference, which
/// computes integers exactly and floats in FP32, as a host does.
std::vector<Check> verify_equal(const Prepared& network, const std::vector<Tensor>& results,
                                Requantisation requantisation);

/// Of a floating machine whose array rounds its operands to bf16: compared with FP64 on the same
/// weights and inputs. Errors, root mean square and largest, may be at most twice and four times
/// those of the reference executor that rounds where the machine does (the operands of products;
/// tensors of bf16 each), plus a step of their type. Integers must be equal.
std::vector<Check> verify_near(const Prepared& network, const std::vector<Tensor>& results);

/// Of a machine that computes in FP32: compared with FP64. Errors may be at most twice and four
/// times those of the reference executor in FP32, plus a step.
std::vector<Check> verify_fp32(const Prepared& network, const std::vector<Tensor>& results);

/// The same of a machine that rounds as `rounded` says: the network's graph with casts or other
/// types, which the reference executor runs. `rounding`: what it rounds, for messages.
std::vector<Check> verify_rounded(const Prepared& network, const std::vector<Tensor>& results,
                                  const Graph& rounded, std::string_view rounding);

}  // namespace lockstep::network::compile
